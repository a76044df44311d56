/// Formats bytes, rates and times for people, with about three digits.
package enum Quantity {
    /// A number of bytes as text, such as `17 B`, `4.2 MiB` or `1.00 GiB`.
    package static func text(_ bytes: UInt64) -> String {
        let (value, unit) = scaled(bytes)
        return "\(digits(value, isWhole: unit == "B")) \(unit)"
    }

    /// Two numbers in the unit of the second, the total, such as `440 of 1024 MiB`.
    package static func text(_ done: UInt64, of total: UInt64) -> String {
        let (_, unit) = scaled(total)
        let scale = Double(units.first { $0.name == unit }?.bytes ?? 1)
        let isWhole = unit == "B"
        return "\(digits(Double(done) / scale, isWhole: isWhole)) of \(digits(Double(total) / scale, isWhole: isWhole)) \(unit)"
    }

    /// A rate as text, such as `112 MiB/s`.
    package static func rate(_ bytesPerSecond: Double) -> String { text(UInt64(max(0, min(bytesPerSecond, 1e18)))) + "/s" }

    /// A duration as text, with a decimal below ten seconds, such as `9.2 s`, `1 min 05 s` or `3 h 20 min`.
    package static func time(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        if seconds < 10 { return "\(seconds).\(attoseconds / 100_000_000_000_000_000) s" }
        return wholeTime(seconds)
    }

    /// A duration in whole seconds as text, such as `5 s`, `1 min 05 s` or `3 h 20 min`.
    package static func wholeTime(_ seconds: Int64) -> String {
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 3600 { return "\(seconds / 60) min \(twoDigits(seconds % 60)) s" }
        return "\(seconds / 3600) h \(twoDigits(seconds % 3600 / 60)) min"
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static let units: [(name: String, bytes: UInt64)] = [
        ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10),
    ]

    private static func scaled(_ bytes: UInt64) -> (Double, String) {
        for unit in units where bytes >= unit.bytes { return (Double(bytes) / Double(unit.bytes), unit.name) }
        return (Double(bytes), "B")
    }

    /// The number with three digits: 1.00, 10.0, 100, 1000.
    private static func digits(_ value: Double, isWhole: Bool) -> String {
        if isWhole || value >= 99.95 { return "\(Int(value.rounded()))" }
        let places: Double = value >= 9.995 ? 10 : 100
        let whole = Int((value * places).rounded())
        let fraction = whole % Int(places)
        let shown = places == 10 ? "\(fraction)" : fraction < 10 ? "0\(fraction)" : "\(fraction)"
        return "\(whole / Int(places)).\(shown)"
    }
}
