import HTTPMessage

/// Reads and writes big-endian numbers. Rows contain big-endian numbers, so that sorting rows by their bytes sorts them by their
/// numbers.
extension Array<UInt8> {
    mutating func append(bigEndian number: some FixedWidthInteger) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}

extension Span<UInt8> {
    /// The big-endian number at this offset. The span must be long enough.
    func bigEndian<Number: FixedWidthInteger>(at place: Int) -> Number {
        var number: Number = 0
        for index in 0..<Number.bitWidth / 8 { number = number << 8 | Number(truncatingIfNeeded: self[place + index]) }
        return number
    }

    /// A copy of these bytes.
    func octets(_ range: Range<Int>) -> [UInt8] {
        var octets: [UInt8] = []
        octets.append(extracting(range))
        return octets
    }
}
