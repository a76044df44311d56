import AuditLog
import HTTPMessage
import ProxyCore
import ServerTrust
import TextCoding

/// Reports the decisions of policy and trust on a request to the audit log.
extension ExchangeDriver {
    /// The maximum lengths of texts from peers, in bytes.
    private enum Limit {
        static let url = 2048, name = 1024
    }

    func noteAudit() {
        guard let log = worker.auditLog else { return }
        if !logged.judgedChain.isEmpty { noteAcceptedServer(in: log) }
        if let refusal = exchange.upstream.trustRefusal { noteRefusedServer(refusal, in: log) }
        if let denial {
            log.note(.denied, at: now, requestMembers() + denial)
        } else if log.requests == .all, exchange.trace.fault == nil {
            log.note(
                .allowed, at: now,
                requestMembers() + ruleMember() + [
                    ("cache", .string("\(exchange.trace.outcome.word)")), ("status", .number(Int(exchange.trace.status))),
                ])
        }
    }

    /// Why the request was denied, or would be denied outside of report mode.
    private var denial: [(String, JSONText)]? {
        if let reported = exchange.trace.reported {
            return [("enforce", .string("report")), ("code", .string("\(reported.word.text)"))]
                + (reported.word == .deniedByRule ? ruleMember() : [])
        }
        guard let fault = exchange.trace.fault, fault.isDenial else { return nil }
        let row = GatewayError(fault)
        var members: [(String, JSONText)] = [("enforce", .string("deny")), ("code", .string("\(row.code.text)"))]
        if let detail = row.detail { members.append(("detail", .string("\(detail.text)"))) }
        return members + ruleMember()
    }

    private func ruleMember() -> [(String, JSONText)] {
        let rule = exchange.decidingRuleName
        return rule.isEmpty ? [] : [("rule", .string(rule))]
    }

    private func requestMembers() -> [(String, JSONText)] {
        var method = ""
        var url = ""
        exchange.withHeads { request, _ in
            method = PolicyReports.text(request.span(of: request.methodName), limit: PolicyReports.methodLimit)
            url = PolicyReports.text(request.span(of: request.rawTargetBeforeQuery), limit: Limit.url)
        }
        var members: [(String, JSONText)] = [
            ("id", .string(Hexadecimal.encode(padded: exchange.id))), ("client", .string("\(peer.address)")),
            ("method", .string(method)),
            ("url", .string(url)),
        ]
        if let user = exchange.incoming.sender?.user, !user.isEmpty {
            members.append(("user", .string(String(decoding: user.prefix(Limit.name), as: UTF8.self))))
        }
        return members
    }

    private func noteAcceptedServer(in log: AuditLog) {
        let chain = logged.judgedChain
        let host = logged.judgedName ?? String(decoding: exchange.originHost.prefix(Limit.name), as: UTF8.self)
        log.note(
            .trust, at: now,
            [
                ("id", .string(Hexadecimal.encode(padded: exchange.id))), ("verdict", .string("accepted")),
                ("host", .string(host)),
                ("port", .number(Int(exchange.originPort))), ("server_key", .string("\(chain[0].publicKeyDigest)")),
                ("until", .string(chain[0].notAfter?.rfc3339 ?? "")),
            ])
    }

    private func noteRefusedServer(_ refusal: TrustRefusal, in log: AuditLog) {
        log.note(
            .trust, at: now,
            [
                ("id", .string(Hexadecimal.encode(padded: exchange.id))), ("verdict", .string("rejected")),
                ("host", .string(refusal.host)),
                ("port", .number(Int(exchange.originPort))), ("reason", .string("\(refusal.reason.text)")),
                ("server_key", .string(refusal.serverKey)), ("policy", .string(refusal.place)),
            ])
    }
}
