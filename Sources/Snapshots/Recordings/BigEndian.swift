import HTTPMessage

/// Numbers as rows hold them: the greatest byte first, so that rows sort as their numbers do.
extension Array<UInt8> {
    mutating func append(bigEndian number: some FixedWidthInteger) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}

extension Span<UInt8> {
    /// The number at this place. The span must reach so far.
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
