import HTTPMessage
import LarderSettings
import ProxyAdmin
import ServerTrust
import TextCoding
import UpstreamTransport

/// `GET /v1/pins/audit`: the keys of servers whose pins are only reported, not enforced.
enum PinAuditRoute {
    /// - Parameter trust: returns the active settings.
    static func route(_ audit: PinAudit, trust: @escaping @Sendable () -> TrustSettings) -> AdminRoute {
        AdminRoute(.get, "/v1/pins/audit", .read) { request, exchange in
            let report = PinAuditReport(audit, trust().loaded)
            if request.wantsText { exchange.answer(text: report.text) } else { exchange.answer(json: report.json) }
        }
    }
}

/// The audit as text and as JSON.
struct PinAuditReport {
    private let findings: [PinAudit.Finding]
    private let unlistedCount: UInt64
    /// Hosts with report-only pins that no connection was made to.
    private let unseen: [String]

    init(_ audit: PinAudit, _ trust: LoadedTrust?) {
        (findings, unlistedCount) = audit.findings
        var scopes = HostTable<HostScope>()
        for site in trust?.sites ?? [] {
            if let scope = site.entry?.scope { _ = scopes.insert(scope, for: scope) }
        }
        let met = Set(findings.compactMap { scopes.value(host: $0.host, port: $0.port) })
        unseen = (trust?.pinned ?? []).filter { host in
            host.isReportOnly && host.scope.map { !met.contains($0) } ?? true
        }.map(\.title)
    }

    var json: JSONText {
        .object([
            ("hosts", .array(findings.map(Self.json))), ("unseen", .array(unseen.map(JSONText.string))),
            ("unlisted", .count(unlistedCount)),
        ])
    }

    var text: String {
        var lines = findings.flatMap(Self.lines) + unseen.map { "\($0): Larder has not connected to this host yet" }
        if unlistedCount > 0 { lines.append(unlisted) }
        if lines.isEmpty { lines = ["the settings contain no report-only pins"] }
        return lines.map { printable($0, limit: 4096) + "\n" }.joined()
    }

    private var unlisted: String {
        let are = unlistedCount == 1 ? "handshake with another host is" : "handshakes with other hosts are"
        return "\(unlistedCount) \(are) not listed: the list is full"
    }

    private static func lines(_ finding: PinAudit.Finding) -> [String] {
        let total = finding.matchedCount + finding.mismatchedCount
        var lines = [
            "\(title(finding)): handshakes \(total), first \(finding.since.rfc3339), last \(finding.last.rfc3339)",
            finding.mismatchedCount == 0
                ? "  enforced pins would have rejected none of these handshakes"
                : "  enforced pins would have rejected \(finding.mismatchedCount) of these handshakes",
        ]
        if !finding.expected.isEmpty { lines.append("  pinned \(finding.expected.map { "\($0)" }.joined(separator: ", "))") }
        for seen in finding.seen {
            lines.append(
                "  seen   \(seen.digests.map { "\($0)" }.joined(separator: ", ")): count \(seen.count), last \(seen.last.rfc3339)"
            )
        }
        if finding.unlistedCount > 0 { lines.append("  other chains, not listed: handshakes \(finding.unlistedCount)") }
        return lines
    }

    private static func json(_ finding: PinAudit.Finding) -> JSONText {
        .object([
            ("host", .string(title(finding))), ("since", .string(finding.since.rfc3339)), ("last", .string(finding.last.rfc3339)),
            ("with_pin", .count(finding.matchedCount)), ("without_pin", .count(finding.mismatchedCount)),
            ("pinned", .array(finding.expected.map { .string("\($0)") })),
            (
                "seen",
                .array(
                    finding.seen.map { seen in
                        .object([
                            ("chain", .array(seen.digests.map { .string("\($0)") })), ("times", .count(seen.count)),
                            ("last", .string(seen.last.rfc3339)),
                        ])
                    })
            ), ("unlisted", .count(finding.unlistedCount)),
        ])
    }

    private static func title(_ finding: PinAudit.Finding) -> String {
        PinnedHost(name: finding.host, port: finding.port, live: []).title
    }
}
