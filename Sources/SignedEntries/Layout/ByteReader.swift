/// Reads parts of fixed and given lengths from bytes, and never beyond their end. Numbers are big-endian.
struct ByteReader {
    private let bytes: [UInt8]
    private var place: Int
    private let end: Int

    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        place = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { place == end }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type) throws(EntryRejection) -> Number {
        var number: Number = 0
        for index in try range(Number.bitWidth / 8) { number = number << 8 | Number(truncatingIfNeeded: bytes[index]) }
        return number
    }

    /// The range of the next bytes.
    mutating func range(_ count: Int) throws(EntryRejection) -> Range<Int> {
        guard count >= 0, end - place >= count else { throw .malformed }
        defer { place += count }
        return place..<place + count
    }

    /// The next bytes, copied.
    mutating func array(_ count: Int) throws(EntryRejection) -> [UInt8] { Array(bytes[try range(count)]) }

    /// Bytes after their number.
    mutating func counted<Count: FixedWidthInteger>(_: Count.Type, limit: Int) throws(EntryRejection) -> [UInt8] {
        Array(bytes[try countedRange(Count.self, limit: limit)])
    }

    /// The range of bytes after their number.
    mutating func countedRange<Count: FixedWidthInteger>(_: Count.Type, limit: Int) throws(EntryRejection) -> Range<Int> {
        let count = Int(clamping: try number(Count.self))
        guard count <= limit else { throw .tooLarge }
        return try range(count)
    }
}

extension Array<UInt8> {
    mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
        for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
    }
}
