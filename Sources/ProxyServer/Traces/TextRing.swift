/// A ring of texts in a block of bytes. A text is found by its number: the number of bytes written before it.
///
/// Only the block is allocated, and the system provides its memory when it is first written. Each round of writing begins at the start of
/// the block. A round ends early if it is four times as long as all bytes still needed. So short texts use no more memory, and no more of
/// the processor's caches, than necessary. If texts suddenly become four times as long, some of the oldest texts are lost.
struct TextRing: ~Copyable {
    private let octets: UnsafeMutableRawBufferPointer
    /// The total number of bytes written: the number of the next text.
    private(set) var count: UInt64 = 0
    /// The offset of the next text, which is the length of the current round.
    private var place = 0
    private var lastRound = 0

    private static let slack: UInt64 = 4

    init(byteCount: Int) { octets = .allocate(byteCount: byteCount, alignment: 16) }

    deinit { octets.deallocate() }

    /// The address of the next byte to write.
    var next: UnsafeRawPointer? { octets.baseAddress.map { UnsafeRawPointer($0) + place } }

    /// Makes space for this many consecutive bytes.
    /// - Parameter oldest: the number of the oldest text still wanted; `nil` if all are wanted.
    mutating func makeRoom(_ count: Int, keepingFrom oldest: UInt64?) {
        var isRoundOver = count > octets.count - place
        if let oldest, UInt64(place) >= Self.slack &* (self.count &- oldest) { isRoundOver = isRoundOver || place > count }
        guard isRoundOver else { return }
        lastRound = place
        place = 0
    }

    /// Writes the part of the text for which space was made.
    @inline(__always)
    mutating func write(_ text: Span<UInt8>, _ count: Int) {
        // Most records have no more than two texts, so most calls write nothing.
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

    /// Whether the text with this number has not been overwritten.
    func holds(_ number: UInt64) -> Bool { count - number <= UInt64(max(lastRound, place)) }

    /// The bytes in the ring from this number up to the end of their round.
    func text(_ number: UInt64) -> UnsafeRawBufferPointer {
        let roundStart = count - UInt64(place)
        let start = number >= roundStart ? Int(number - roundStart) : lastRound - Int(roundStart - number)
        return UnsafeRawBufferPointer(rebasing: octets[start...])
    }
}
