import HTTPMessage

/// The ways in which a server may decode one name or value of a query: not at all, once, or twice. Each time, it may read `+` as a
/// space or as a plus sign. The storage is reused.
struct TextReadings: Sendable {
    private var bytes: [UInt8] = []
    /// The text itself, followed by its decoded readings. If nothing is encoded, only the text.
    private var extents: [Extent] = []

    /// If the storage is larger than this many bytes, it is freed after the request that needed it.
    private static let keptCapacity = 4096

    mutating func removeAll() {
        if bytes.isEmpty { return }
        bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
        extents.removeAll(keepingCapacity: true)
    }

    static func isEncoded(_ text: Span<UInt8>) -> Bool {
        for index in 0..<text.count where text[index] == UInt8(ascii: "%") || text[index] == plus { return true }
        return false
    }

    /// Replaces the readings by those of `text`.
    mutating func read(_ text: Span<UInt8>) {
        bytes.removeAll(keepingCapacity: true)
        extents.removeAll(keepingCapacity: true)
        extents.append(Extent(0..<text.count))
        bytes.append(text)
        guard Self.isEncoded(text) else { return }
        for number in [0, 1, 2] {
            appendDecoded(number, isForm: true)
            appendDecoded(number, isForm: false)
        }
    }

    /// Changes all readings to lower case.
    mutating func fold() {
        for index in 0..<bytes.count { bytes[index] = ASCII.lowercased(bytes[index]) }
    }

    /// The number of readings. Number 0 is the text itself.
    var count: Int { extents.count }

    /// The number of the first reading that servers compare; the readings `decoded..<count` are compared. It is 1 if the text has
    /// encoded bytes, and 0 otherwise.
    var decoded: Int { extents.count > 1 ? 1 : 0 }

    @_lifetime(borrow self)
    subscript(number: Int) -> Span<UInt8> { bytes.span.extracting(extents[number].range) }

    private mutating func appendDecoded(_ number: Int, isForm: Bool) {
        let source = extents[number].range
        let start = bytes.count
        var index = source.lowerBound
        while index < source.upperBound {
            if let byte = PercentEncoding.byte(in: bytes.span.extracting(source), at: index - source.lowerBound) {
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(isForm && bytes[index] == Self.plus ? ASCII.space : bytes[index])
                index += 1
            }
        }
        extents.append(Extent(start..<bytes.count))
    }

    private static let plus = UInt8(ascii: "+")
}
