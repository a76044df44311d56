/// An IPv4 or IPv6 address as a value, without port or zone.
package struct IPAddress: Hashable, Sendable {
    package enum Family: UInt8, Sendable { case ipv4, ipv6 }

    package let family: Family
    /// The address's upper and lower 64 bits in host order. IPv4 uses the lower 32 bits of `low`.
    package let high: UInt64
    package let low: UInt64

    package init(ipv4 bits: UInt32) {
        family = .ipv4
        high = 0
        low = UInt64(bits)
    }

    package init(ipv6High high: UInt64, low: UInt64) {
        family = .ipv6
        self.high = high
        self.low = low
    }

    /// The IPv4 address that this IPv6 address embeds, so that an IPv4 range matches every spelling of the address. These forms are
    /// recognized: IPv4-mapped and IPv4-compatible (RFC 4291 §2.5.5), IPv4-translated (RFC 2765 §2.1), NAT64 (RFC 6052 §2.1; in the
    /// local-use range of RFC 8215, the last 32 bits) and 6to4 (RFC 3056 §2).
    package var embeddedIPv4: IPAddress? {
        guard family == .ipv6 else { return nil }
        let tail = UInt32(truncatingIfNeeded: low)
        if high == 0 {
            if low >> 32 == 0xFFFF || low >> 32 == 0xFFFF_0000 { return IPAddress(ipv4: tail) }
            // `::` and `::1` are the unspecified and the loopback address, so they are not read as IPv4-compatible addresses.
            if low >> 32 == 0, tail > 1 { return IPAddress(ipv4: tail) }
            return nil
        }
        let isTranslated = high == 0x0064_FF9B_0000_0000 && low >> 32 == 0
        if isTranslated || high >> 16 == 0x0064_FF9B_0001 { return IPAddress(ipv4: tail) }
        if high >> 48 == 0x2002 { return IPAddress(ipv4: UInt32(truncatingIfNeeded: high >> 16)) }
        return nil
    }

    /// Whether this is `0.0.0.0` or `::`. A connection to such an address reaches this machine.
    package var isUnspecified: Bool { high == 0 && low == 0 }

    /// Whether this is a loopback address: an address in `127.0.0.0/8`, `::1`, or an IPv6 address that embeds such an IPv4 address.
    package var isLoopback: Bool {
        if family == .ipv4 { return low >> 24 == 127 }
        return (high == 0 && low == 1) || embeddedIPv4?.isLoopback == true
    }

    package static let loopbackIPv4 = IPAddress(ipv4: 0x7F00_0001)
    package static let loopbackIPv6 = IPAddress(ipv6High: 0, low: 1)
}

// MARK: - Reading

extension IPAddress {
    /// Parses dotted decimal, or IPv6 in the form of RFC 4291 §2.2, without brackets or a zone.
    package init?(_ text: Span<UInt8>) {
        var hasColon = false
        for index in 0..<text.count where text[index] == ASCII.colon { hasColon = true }
        if hasColon {
            guard let address = Self.readIPv6(text) else { return nil }
            self = address
        } else {
            self.init(dottedDecimal: text)
        }
    }

    /// Parses four decimal numbers without leading zeros.
    init?(dottedDecimal text: Span<UInt8>) {
        guard let bits = Self.readDottedDecimal(text) else { return nil }
        self.init(ipv4: bits)
    }

    package init?(_ text: String) {
        self.init(Array(text.utf8).span)
    }

    /// Parses a host as a name lookup would. The host may be an IPv4 address of one to four parts in decimal, octal (`0177`) or
    /// hexadecimal (`0x7f`). The last part stands for all remaining bytes, and a final dot is allowed. Any other host is parsed as
    /// `init(_:)` does.
    package init?(asLookedUp host: Span<UInt8>) {
        var end = host.count
        if end > 1, host[end - 1] == 0x2E { end -= 1 }
        let text = host.extracting(0..<end)
        if let address = IPAddress(text) {
            self = address
            return
        }
        var parts: InlineArray<4, UInt64> = .init(repeating: 0)
        var count = 0
        var start = 0
        for index in 0...text.count where index == text.count || text[index] == 0x2E {
            guard count < 4, let part = Self.readNumber(text.extracting(start..<index)) else { return nil }
            parts[count] = part
            count += 1
            start = index + 1
        }
        var bits: UInt64 = 0
        for index in 0..<count - 1 {
            guard parts[index] < 256 else { return nil }
            bits |= parts[index] << UInt64(24 - 8 * index)
        }
        guard parts[count - 1] < 1 << UInt64(8 * (5 - count)) else { return nil }
        self.init(ipv4: UInt32(bits | parts[count - 1]))
    }

    private static func readDottedDecimal(_ text: Span<UInt8>) -> UInt32? {
        var bits: UInt32 = 0
        var index = 0
        for place in 0..<4 {
            if place > 0 {
                guard index < text.count, text[index] == 0x2E else { return nil }
                index += 1
            }
            let start = index
            var part: UInt32 = 0
            while index < text.count, index &- start < 3, ASCII.isDigit(text[index]) {
                part = part &* 10 &+ UInt32(text[index] &- 0x30)
                index += 1
            }
            // Some parsers read a part with a leading zero as octal and others as decimal, so it is rejected.
            let hasLeadingZero = index &- start > 1 && text[start] == 0x30
            guard index > start, part <= 255, !hasLeadingZero else { return nil }
            bits = bits << 8 | part
        }
        return index == text.count ? bits : nil
    }

    private static func readIPv6(_ text: Span<UInt8>) -> IPAddress? {
        var groups: InlineArray<8, UInt16> = .init(repeating: 0)
        var count = 0
        var gap = -1
        var index = 0
        if text.count >= 2, text[0] == ASCII.colon {
            guard text[1] == ASCII.colon else { return nil }
            gap = 0
            index = 2
        }
        while index < text.count {
            guard count < 8 else { return nil }
            var end = index
            while end < text.count, text[end] != ASCII.colon, text[end] != 0x2E { end += 1 }
            if end < text.count, text[end] == 0x2E {
                guard count <= 6, let bits = readDottedDecimal(text.extracting(index..<text.count)) else { return nil }
                groups[count] = UInt16(bits >> 16)
                groups[count + 1] = UInt16(bits & 0xFFFF)
                count += 2
                break
            }
            guard end > index, end - index <= 4 else { return nil }
            var group: UInt16 = 0
            for place in index..<end {
                guard let digit = ASCII.hexValue(text[place]) else { return nil }
                group = group << 4 | UInt16(digit)
            }
            groups[count] = group
            count += 1
            if end == text.count { break }
            index = end + 1
            if index == text.count { return nil }
            if text[index] == ASCII.colon {
                guard gap < 0 else { return nil }
                gap = count
                index += 1
            }
        }
        guard gap < 0 ? count == 8 : count < 8 else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for place in 0..<8 {
            let head = gap < 0 ? count : gap
            let tailStart = 8 - (count - head)
            let group: UInt64 =
                place < head ? UInt64(groups[place]) : place >= tailStart ? UInt64(groups[place - tailStart + head]) : 0
            if place < 4 { high = high << 16 | group } else { low = low << 16 | group }
        }
        return IPAddress(ipv6High: high, low: low)
    }

    /// Parses a number in decimal, in octal with a leading zero, or in hexadecimal with `0x`.
    private static func readNumber(_ text: Span<UInt8>) -> UInt64? {
        guard !text.isEmpty else { return nil }
        var base: UInt64 = 10
        var index = 0
        if text[0] == 0x30, text.count > 1 {
            base = text[1] | 0x20 == 0x78 ? 16 : 8
            index = base == 16 ? 2 : 1
        }
        var number: UInt64 = 0
        while index < text.count {
            guard let digit = ASCII.hexValue(text[index]), UInt64(digit) < base else { return nil }
            number = number * base + UInt64(digit)
            if number > UInt64(UInt32.max) { return nil }
            index += 1
        }
        return number
    }
}

// MARK: - Writing

extension IPAddress: CustomStringConvertible {
    /// Writes dotted decimal, or IPv6 in the form of RFC 5952, without brackets.
    package func write(into output: inout [UInt8]) {
        output.append(addingCapacity: Self.textLimit) { write(into: &$0) }
    }

    package func write(into output: inout OutputSpan<UInt8>) {
        switch family {
        case .ipv4:
            for place in 0..<4 {
                if place > 0 { output.append(0x2E) }
                output.append(decimal: low &>> UInt64(24 &- 8 &* place) & 0xFF)
            }
        case .ipv6: writeGroups(into: &output)
        }
    }

    private func writeGroups(into output: inout OutputSpan<UInt8>) {
        let gap = longestZeroRun
        var place = 0
        while place < 8 {
            if place == gap.lowerBound, gap.count > 1 {
                output.append("::")
                place = gap.upperBound
                continue
            }
            if place > 0, place != gap.upperBound || gap.count < 2 { output.append(ASCII.colon) }
            for octet in String(group(place), radix: 16).utf8 { output.append(octet) }
            place += 1
        }
    }

    /// The length of the longest address as text, in bytes.
    private static let textLimit = 39

    package var description: String {
        var bytes: [UInt8] = []
        write(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func group(_ place: Int) -> UInt16 {
        let half = place < 4 ? high : low
        return UInt16(truncatingIfNeeded: half >> UInt64(48 - 16 * (place & 3)))
    }

    private var longestZeroRun: Range<Int> {
        var longest = 0..<0
        var start = 0
        for place in 0...8 where place == 8 || group(place) != 0 {
            if place - start > longest.count { longest = start..<place }
            start = place + 1
        }
        return longest
    }
}
