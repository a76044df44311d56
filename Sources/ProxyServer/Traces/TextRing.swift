/// Texts that stand one behind the other in a block of bytes, which is written round and round. A text is found by its number: how
/// many bytes were written before it.
///
/// Nothing is allocated but the block, of which the system gives memory only as it is first written. A round that holds four times what
/// is still wanted ends before the block does, so that short texts take no more memory, and no more of the processor's caches, than
/// they need. Texts that become four times as long all at once cost some of the oldest.
struct TextRing: ~Copyable {
    private let octets: UnsafeMutableRawBufferPointer
    /// Bytes ever written: the number of the next text.
    private(set) var count: UInt64 = 0
    /// Where the next text is written: how long this round is so far.
    private var place = 0
    private var lastRound = 0

    private static let slack: UInt64 = 4

    init(byteCount: Int) { octets = .allocate(byteCount: byteCount, alignment: 16) }

    deinit { octets.deallocate() }

    /// Where the next byte goes.
    var next: UnsafeRawPointer? { octets.baseAddress.map { UnsafeRawPointer($0) + place } }

    /// Makes room for that many bytes in one piece.
    /// - Parameter oldest: the number of the oldest text that is still wanted, where older ones are not.
    mutating func makeRoom(_ count: Int, keepingFrom oldest: UInt64?) {
        var isRoundOver = count > octets.count - place
        if let oldest, UInt64(place) >= Self.slack &* (self.count &- oldest) { isRoundOver = isRoundOver || place > count }
        guard isRoundOver else { return }
        lastRound = place
        place = 0
    }

    /// For as much of the text as there was room made for.
    @inline(__always)
    mutating func write(_ text: Span<UInt8>, _ count: Int) {
        // Most have no more than two texts.
        if count > 0 { copy(text, count) }
    }

    private mutating func copy(_ text: Span<UInt8>, _ count: Int) {
        text.withUnsafeBytes { source in
            UnsafeMutableRawBufferPointer(rebasing: octets[place..<place + count]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: source[..<count]))
        }
        place &+= count
        self.count &+= UInt64(truncatingIfNeeded: count)
    }

    /// Whether nothing was written over the text of this number.
    func holds(_ number: UInt64) -> Bool { count - number <= UInt64(max(lastRound, place)) }

    /// The bytes from this number on, which the ring holds, up to the end of their round.
    func text(_ number: UInt64) -> UnsafeRawBufferPointer {
        let roundStart = count - UInt64(place)
        let start = number >= roundStart ? Int(number - roundStart) : lastRound - Int(roundStart - number)
        return UnsafeRawBufferPointer(rebasing: octets[start...])
    }
}
