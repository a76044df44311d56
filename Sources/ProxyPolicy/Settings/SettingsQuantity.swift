import HTTPMessage

/// Numbers with a unit, as written in settings. Decimals must give a whole number: `1.5GiB` is a whole number of bytes, `0.3B` is
/// refused.
package enum SettingsQuantity {
    /// - Returns: `nil` unless the text is a number with a known unit that gives whole milliseconds.
    package static func milliseconds(_ text: String) -> UInt64? {
        amount(text, units: durations)
    }

    /// - Returns: `nil` unless the text is a number with a known unit that gives whole bytes.
    package static func byteCount(_ text: String) -> UInt64? {
        amount(text, units: sizes)
    }

    /// The duration in the largest unit that divides it.
    package static func text(ofMilliseconds milliseconds: Int64) -> String {
        let magnitude = UInt64(max(0, milliseconds))
        for (unit, scale) in durations.reversed() where magnitude > 0 && !unit.isEmpty && magnitude % scale == 0 {
            return "\(magnitude / scale)\(unit)"
        }
        return "\(magnitude)" + (magnitude == 0 ? "s" : "ms")
    }

    /// The size in the largest binary unit that divides it.
    package static func text(ofBytes count: UInt64) -> String {
        for (unit, scale) in sizes.reversed() where unit.hasSuffix("iB") && count > 0 && count % scale == 0 {
            return "\(count / scale)\(unit)"
        }
        return "\(count)"
    }

    private static let durations: KeyValuePairs<String, UInt64> = [
        "": 1_000, "ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
    ]

    private static let sizes: KeyValuePairs<String, UInt64> = [
        "": 1, "B": 1, "kB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000,
        "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
    ]

    private static func amount(_ text: String, units: KeyValuePairs<String, UInt64>) -> UInt64? {
        let number = text.utf8.prefix { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }
        let rest = text.utf8.dropFirst(number.count)
        let unit = rest.first == ASCII.space ? rest.dropFirst() : rest
        let hasIdleSpace = unit.isEmpty && !rest.isEmpty
        guard !hasIdleSpace, let scale = units.first(where: { $0.key.utf8.elementsEqual(unit) })?.value else { return nil }
        return product(of: number, times: scale)
    }

    private static func product(of decimal: Substring.UTF8View, times scale: UInt64) -> UInt64? {
        let parts = decimal.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count <= 2, let whole = parts.first, !whole.isEmpty, let units = UInt64(Substring(whole)) else { return nil }
        let (product, overflows) = units.multipliedReportingOverflow(by: scale)
        guard !overflows else { return nil }
        guard parts.count == 2 else { return product }
        guard (1...9).contains(parts[1].count), let fraction = UInt64(Substring(parts[1])) else { return nil }
        var divisor: UInt64 = 1
        for _ in 0..<parts[1].count { divisor *= 10 }
        // The fraction is below the divisor, so the quotient is below the scale and cannot overflow.
        let wide = fraction.multipliedFullWidth(by: scale)
        let (quotient, remainder) = divisor.dividingFullWidth((wide.high, wide.low))
        guard remainder == 0 else { return nil }
        let (sum, carries) = product.addingReportingOverflow(quotient)
        return carries ? nil : sum
    }
}
