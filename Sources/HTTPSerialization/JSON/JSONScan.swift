import HTTPMessage

/// Searches JSON strings 8 bytes at a time for the next byte that needs special handling.
enum JSONScan {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let tops: UInt64 = 0x8080_8080_8080_8080

    /// The position of the next quote, backslash, control character or byte above 127, or the end.
    @inline(__always)
    static func endOfPlainText(in octets: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        guard let base = UnsafeRawPointer(octets.baseAddress) else { return start }
        var index = start
        while index + 8 <= octets.count {
            let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            // The lowest set bit gives the first position correctly; borrows reach only positions above it.
            let found = (word | special(word)) & tops
            if found != 0 { return index + found.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < octets.count {
            let octet = octets[index]
            if octet < 0x20 || octet >= 0x80 || octet == ASCII.quote || octet == ASCII.backslash { break }
            index += 1
        }
        return index
    }

    /// The position of the next quote, backslash or control character, or the end.
    static func endOfText(in octets: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var index = endOfPlainText(in: octets, from: start)
        while index < octets.count, octets[index] >= 0x80 { index = endOfPlainText(in: octets, from: index + 1) }
        return index
    }

    /// The position of the next byte below 128, or the end.
    static func endOfHighOctets(in octets: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var index = start
        while index < octets.count, octets[index] >= 0x80 { index += 1 }
        return index
    }

    /// Sets the top bit of each byte that is a quote, a backslash or a control character. Above the first such byte, the top bits of
    /// other bytes may be set too.
    @inline(__always)
    private static func special(_ word: UInt64) -> UInt64 {
        let quote = word ^ (ones &* UInt64(ASCII.quote))
        let backslash = word ^ (ones &* UInt64(ASCII.backslash))
        let controls = (word &- ones &* 0x20) & ~word
        return ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | controls
    }
}

/// Finds invalid UTF-8 (RFC 3629 §4).
enum UTF8Fault {
    /// The position of the first invalid byte; the number of bytes if the last character is truncated.
    /// - Returns: `nil` if all bytes are valid UTF-8.
    static func place(in octets: UnsafeBufferPointer<UInt8>) -> Int? {
        var index = 0
        while index < octets.count {
            if octets[index] < 0x80 {
                index += 1
                continue
            }
            guard let (length, second) = shape(octets[index]) else { return index }
            for step in 1..<length {
                guard index + step < octets.count else { return index + step }
                let isGood = step == 1 ? second.contains(octets[index + 1]) : octets[index + step] & 0xC0 == 0x80
                guard isGood else { return index + step }
            }
            index += length
        }
        return nil
    }

    private static func shape(_ octet: UInt8) -> (length: Int, second: ClosedRange<UInt8>)? {
        switch octet {
        case 0xC2...0xDF: (2, 0x80...0xBF)
        case 0xE0: (3, 0xA0...0xBF)
        case 0xED: (3, 0x80...0x9F)
        case 0xE1...0xEF: (3, 0x80...0xBF)
        case 0xF0: (4, 0x90...0xBF)
        case 0xF4: (4, 0x80...0x8F)
        case 0xF1...0xF3: (4, 0x80...0xBF)
        default: nil
        }
    }
}
