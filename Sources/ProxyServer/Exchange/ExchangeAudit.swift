import AuditLog
import HTTPMessage
import ProxyCore
import ServerTrust
import TextCoding

/// Reports the decisions of policy and trust on a request to the audit log.
struct ExchangeAudit {
    private let driver: ExchangeDriver
    private let log: AuditLog

    /// The maximum lengths of texts from peers, in bytes.
    private enum Limit {
        static let url = 2048, name = 1024
    }

    init(_ driver: ExchangeDriver, in log: AuditLog) {
        self.driver = driver
        self.log = log
    }

    func note() {
        if !driver.logged.judgedChain.isEmpty { noteAcceptedServer() }
        if let refusal = driver.exchange.upstream.trustRefusal { noteRefusedServer(refusal) }
        if let denial {
            log.note(.denied, at: driver.now, requestMembers() + denial)
        } else if log.requests == .all, driver.exchange.trace.fault == nil {
            log.note(
                .allowed, at: driver.now,
                requestMembers() + ruleMember() + [
                    ("cache", .string("\(driver.exchange.trace.outcome.word)")),
                    ("status", .number(Int(driver.exchange.trace.status))),
                ])
        }
    }

    /// Why the request was denied, or would be denied outside of report mode.
    private var denial: [(String, JSONText)]? {
        if let reported = driver.exchange.trace.reported {
            return [("enforce", .string("report")), ("code", .string("\(reported.word.text)"))]
                + (reported.word == .deniedByRule ? ruleMember() : [])
        }
        guard let fault = driver.exchange.trace.fault, fault.isDenial else { return nil }
        let row = GatewayError(fault)
        var members: [(String, JSONText)] = [("enforce", .string("deny")), ("code", .string("\(row.code.text)"))]
        if let detail = row.detail { members.append(("detail", .string("\(detail.text)"))) }
        return members + (fault.isByRule ? ruleMember() : [])
    }

    private func ruleMember() -> [(String, JSONText)] {
        let rule = driver.exchange.decidingRuleName
        return rule.isEmpty ? [] : [("rule", .string(rule))]
    }

    private func requestMembers() -> [(String, JSONText)] {
        var method = ""
        var url = ""
        driver.exchange.withHeads { request, _ in
            method = PolicyReports.text(request.span(of: request.methodName), limit: PolicyReports.methodLimit)
            url = PolicyReports.text(request.span(of: request.rawTargetBeforeQuery), limit: Limit.url)
        }
        var members: [(String, JSONText)] = [
            ("id", .string(Hexadecimal.encode(padded: driver.exchange.id))), ("client", .string("\(driver.peer.address)")),
            ("method", .string(method)),
            ("url", .string(url)),
        ]
        if let user = driver.exchange.incoming.sender?.user, !user.isEmpty {
            members.append(("user", .string(String(decoding: user.prefix(Limit.name), as: UTF8.self))))
        }
        return members
    }

    private func noteAcceptedServer() {
        let chain = driver.logged.judgedChain
        let host = driver.logged.judgedName ?? String(decoding: driver.exchange.originHost.prefix(Limit.name), as: UTF8.self)
        log.note(
            .trust, at: driver.now,
            [
                ("id", .string(Hexadecimal.encode(padded: driver.exchange.id))), ("verdict", .string("accepted")),
                ("host", .string(host)),
                ("port", .number(Int(driver.exchange.originPort))), ("server_key", .string("\(chain[0].publicKeyDigest)")),
                ("until", .string(chain[0].notAfter?.rfc3339 ?? "")),
            ])
    }

    private func noteRefusedServer(_ refusal: TrustRefusal) {
        log.note(
            .trust, at: driver.now,
            [
                ("id", .string(Hexadecimal.encode(padded: driver.exchange.id))), ("verdict", .string("rejected")),
                ("host", .string(refusal.host)),
                ("port", .number(Int(driver.exchange.originPort))), ("reason", .string("\(refusal.reason.text)")),
                ("server_key", .string(refusal.serverKey)), ("policy", .string(refusal.place)),
            ])
    }
}
