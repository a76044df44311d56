/// Whether a host is written as an address (RFC 3986 §3.2.2); what the address means is another's question.
package enum IPLiteral {
    /// Four decimal numbers up to 255, none with a leading zero.
    package static func isIPv4(_ text: Span<UInt8>) -> Bool {
        var parts = 0
        var index = 0
        while true {
            let start = index
            var number = 0
            while index < text.count, ASCII.isDigit(text[index]), index - start < 3 {
                number = number * 10 + Int(text[index] - 0x30)
                index += 1
            }
            let digits = index - start
            guard digits > 0, number <= 255, digits == 1 || text[start] != 0x30 else { return false }
            parts += 1
            if index == text.count { return parts == 4 }
            guard text[index] == UInt8(ascii: "."), parts < 4 else { return false }
            index += 1
        }
    }

    /// Eight groups of up to four hexadecimal digits, one run of zeros as `::`, the last two perhaps as IPv4. No zone.
    package static func isIPv6(_ text: Span<UInt8>) -> Bool {
        var groups = 0
        var isCompressed = false
        var index = 0
        if text.count >= 2, text[0] == ASCII.colon, text[1] == ASCII.colon {
            isCompressed = true
            index = 2
        }
        while index < text.count {
            let start = index
            while index < text.count, ASCII.hexValue(text[index]) != nil { index += 1 }
            if index < text.count, text[index] == UInt8(ascii: ".") {
                guard isIPv4(text.extracting(start..<text.count)) else { return false }
                groups += 2
                break
            }
            guard index > start, index - start <= 4 else { return false }
            groups += 1
            if index == text.count { break }
            guard text[index] == ASCII.colon, index + 1 < text.count else { return false }
            index += 1
            if text[index] == ASCII.colon {
                guard !isCompressed else { return false }
                isCompressed = true
                index += 1
            }
        }
        return isCompressed ? groups <= 7 : groups == 8
    }
}
