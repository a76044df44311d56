import HTTPMessage

/// The encoding of the facts in a row of the store: 64 bytes, numbers in little endian, the first byte is the version.
extension ReuseFacts {
    package static let encodedCount = 64
    private static let encodingVersion: UInt8 = 1

    package func encode(into output: inout [UInt8]) {
        let start = output.count
        output.append(Self.encodingVersion)
        output.append(lifetimeSource.rawValue)
        output.append(littleEndian: status.code)
        output.append(littleEndian: flags.rawValue)
        output.append(littleEndian: freshnessLifetime.seconds)
        output.append(littleEndian: staleWhileRevalidate.seconds)
        output.append(littleEndian: staleIfError.seconds)
        // The value 0 means no signature: earlier versions always wrote 0 here.
        output.append(littleEndian: signatureLifetime == .greatest ? 0 : signatureLifetime.seconds + 1)
        output.append(littleEndian: responseTime.milliseconds)
        output.append(littleEndian: dateValue.milliseconds)
        output.append(littleEndian: lastModified.milliseconds)
        output.append(littleEndian: initialAgeInMilliseconds)
        output.append(littleEndian: trust)
        while output.count < start + Self.encodedCount { output.append(0) }
    }

    /// Decodes the facts. `nil` for another version or impossible numbers: a time outside its valid range (for responseTime, 1970 to
    /// 9999), or an age above the maximum of DeltaSeconds. After this check no arithmetic on the facts can overflow.
    package init?(decoding bytes: Span<UInt8>) {
        guard bytes.count == Self.encodedCount, bytes[0] == Self.encodingVersion,
            let source = LifetimeSource(rawValue: bytes[1]), source != .rule
        else { return nil }
        self.init(
            status: Status(bytes.littleEndian(at: 2)), responseTime: Timestamp(milliseconds: bytes.littleEndian(at: 24)))
        lifetimeSource = source
        flags = Flags(rawValue: bytes.littleEndian(at: 4))
        freshnessLifetime = DeltaSeconds(Int64(bytes.littleEndian(at: 8) as UInt32))
        staleWhileRevalidate = DeltaSeconds(Int64(bytes.littleEndian(at: 12) as UInt32))
        staleIfError = DeltaSeconds(Int64(bytes.littleEndian(at: 16) as UInt32))
        let signature: UInt32 = bytes.littleEndian(at: 20)
        if signature > 0 { signatureLifetime = DeltaSeconds(Int64(signature) - 1) }
        dateValue = Timestamp(milliseconds: bytes.littleEndian(at: 32))
        lastModified = Timestamp(milliseconds: bytes.littleEndian(at: 40))
        initialAgeInMilliseconds = bytes.littleEndian(at: 48)
        trust = bytes.littleEndian(at: 56)
        let times = Self.earliestTime...Self.latestTime
        guard (200...599).contains(status.code), (0...Self.latestTime).contains(responseTime.milliseconds),
            times.contains(dateValue.milliseconds), times.contains(lastModified.milliseconds),
            (0...Self.greatestAge).contains(initialAgeInMilliseconds)
        else { return nil }
    }

    /// From 0000-01-01 to the end of 9999: the range of an HTTP-date.
    private static let earliestTime: Int64 = -62_167_219_200_000
    private static let latestTime: Int64 = 253_402_300_799_999
    static let greatestAge: Int64 = (1 << 31) * 1000
}

extension Array<UInt8> {
    mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
        for shift in stride(from: 0, to: Number.bitWidth, by: 8) { append(UInt8(truncatingIfNeeded: number >> Number(shift))) }
    }
}

extension Span<UInt8> {
    /// The number at `start`. The span must be long enough.
    func littleEndian<Number: FixedWidthInteger>(at start: Int) -> Number {
        var number: Number = 0
        for index in 0..<Number.bitWidth / 8 {
            number |= Number(truncatingIfNeeded: self[start + index]) << Number(index * 8)
        }
        return number
    }
}
