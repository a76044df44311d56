import AccessLog
import PolicyTools
import ProxyAdmin
import ProxyServer
import SecretScanning

/// `GET /v1/policy/report`: the requests that report mode has forwarded since the settings were read, in groups.
enum PolicyReportRoute {
    static func route(_ server: ProxyServer) -> AdminRoute {
        AdminRoute(.get, "/v1/policy/report", .read) { request, exchange in
            let found = server.policyReport.groups
            let mask = SecretMask()
            let groups = found.groups.map { group in
                DenialReport.Group(
                    code: "\(group.key.word.text)", rule: group.key.rule.isEmpty ? nil : group.key.rule, method: group.key.method,
                    host: group.key.host, count: group.count, first: group.first.rfc3339, last: group.last.rfc3339,
                    url: mask.masked(url: group.example))
            }
            let report = DenialReport(groups, omitted: found.omitted)
            if request.wantsText {
                exchange.answer(text: report.text + (server.reportsDenials ? "" : Self.notReporting))
            } else {
                exchange.answer(json: report.json(enforcement: server.reportsDenials ? "report" : "deny"))
            }
        }
    }

    private static let notReporting = "report mode is off: neither egress.enforce nor the enforce of a rule is report\n"
}
