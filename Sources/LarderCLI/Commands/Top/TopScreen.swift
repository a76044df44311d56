import CommandSupport
import TextCoding

/// The screen of `larder top`: a report as lines of plain text.
struct TopScreen {
    let report: TopReport

    /// - Parameters:
    ///   - width: columns; longer lines are cut.
    ///   - height: rows; the least important lines are left out.
    func lines(width: Int, height: Int) -> [String] {
        var lines = head
        lines.append("")
        lines += table(
            ["outcome", "requests/s", "requests", "p50", "p99"],
            report.outcomes.map {
                [$0.word, Self.rate($0.perSecond), Self.count($0.total), Self.time($0.median), Self.time($0.p99)]
            })
        lines += list(
            "denied by rule", report.denials.map { ($0.name.isEmpty ? "(no rule allows the request)" : $0.name, $0.count) })
        lines += list("errors", report.errors)
        return lines.prefix(max(1, height)).map { String($0.prefix(max(1, width))) }
    }

    private var head: [String] {
        let value = report.value
        let disk = ["tier": "disk"]
        let memory = ["tier": "memory"]
        return [
            "Larder \(report.version), mode \(report.mode), up \(Quantity.wholeTime(Int64(report.upSeconds)))",
            "",
            row(
                "requests", Self.rate(report.requestsPerSecond) + "/s", "hits \(Self.percent(report.hitRatio))",
                "errors \(Self.rate(report.errorsPerSecond))/s"),
            row(
                "content", "sent \(Quantity.rate(report.sentPerSecond))", "saved \(Quantity.rate(report.savedPerSecond))",
                "received \(Quantity.rate(report.receivedPerSecond))"),
            row(
                "clients", "\(Self.count(value("larder_client_connections", [:]))) open",
                "\(Self.count(value("larder_tunnels", [:]))) tunnels", ""),
            row(
                "origins", "\(Self.count(value("larder_upstream_connections", ["state": "active"]))) active",
                "\(Self.count(value("larder_upstream_connections", ["state": "idle"]))) idle",
                "\(Self.count(value("larder_upstream_waiting_requests", [:]))) waiting"),
            row(
                "store", "\(Self.count(value("larder_cache_entries", disk))) responses",
                Self.bytes(value("larder_cache_bytes", disk), of: value("larder_cache_limit_bytes", disk)),
                "memory " + Self.bytes(value("larder_cache_bytes", memory), of: value("larder_cache_limit_bytes", memory))),
            row(
                "process", "\(Self.percent(report.cpuShare)) CPU",
                Self.bytes(value("process_resident_memory_bytes", [:])) + " resident", ""),
        ]
    }

    private func row(_ name: String, _ values: String...) -> String {
        var line = Self.padded(name, 10)
        for value in values { line += Self.padded(value, 24) }
        return Self.trimmed(line)
    }

    private func table(_ titles: [String], _ rows: [[String]]) -> [String] {
        ([titles] + rows).map { cells in
            Self.trimmed(Self.padded(cells[0], 18) + cells.dropFirst().map { Self.padded($0, 14) }.joined())
        }
    }

    private func list(_ title: String, _ counts: [(name: String, count: Double)]) -> [String] {
        if counts.isEmpty { return [] }
        return ["", title]
            + counts.prefix(5).map { "  " + Self.padded(Self.count($0.count), 12) + printable($0.name, limit: 200) }
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    private static func trimmed(_ line: String) -> String {
        String(line[..<(line.lastIndex { $0 != " " }.map { line.index(after: $0) } ?? line.startIndex)])
    }

    /// A rate as text, such as `0`, `0.4`, `12` or `1,234`.
    static func rate(_ perSecond: Double) -> String {
        if perSecond > 0, perSecond < 10 { return "\((perSecond * 10).rounded() / 10)" }
        return count(perSecond)
    }

    /// A whole number as text, with commas between thousands.
    static func count(_ value: Double) -> String {
        let digits = Array("\(UInt64(max(0, min(value.rounded(), 1e18))))")
        return digits.indices.reduce(into: "") { text, index in
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digits[index])
        }
    }

    static func percent(_ share: Double?) -> String { share.map { "\(Int(($0 * 100).rounded())) %" } ?? "-" }

    static func time(_ seconds: Double?) -> String {
        guard let seconds else { return "-" }
        if seconds < 0.01 { return "\((seconds * 100_000).rounded() / 100) ms" }
        if seconds < 1 { return "\(Int((seconds * 1000).rounded())) ms" }
        return "\((seconds * 10).rounded() / 10) s"
    }

    private static func bytes(_ value: Double) -> String { Quantity.text(UInt64(max(0, min(value, 1e18)))) }

    private static func bytes(_ value: Double, of limit: Double) -> String {
        Quantity.text(UInt64(max(0, min(value, 1e18))), of: UInt64(max(0, min(limit, 1e18))))
    }
}
