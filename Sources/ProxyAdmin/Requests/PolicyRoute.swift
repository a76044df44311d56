import EventLoop
import HTTPMessage
import HTTPWire
import ProxyCore
import ProxyPolicy
import ProxyServer
import TextCoding

/// `GET /v1/policy`: the active rules, how many of the remembered requests each rule matched, and the denials, grouped by rule and host.
package enum PolicyRoute {
    package static func route(server: ProxyServer) -> AdminRoute {
        AdminRoute(.get, "/v1/policy", .read) { _, exchange in
            let reply = exchange.loop.reply { (traffic: PolicyTraffic) in
                exchange.answer(json: json(traffic, server))
            }
            server.policyTraffic(reply)
        }
    }

    private static func json(_ traffic: PolicyTraffic, _ server: ProxyServer) -> JSONText {
        let rules = server.context.rules
        let denials = traffic.denials.sorted {
            ($0.value.count, $1.key.host, $1.key.rules) > ($1.value.count, $0.key.host, $0.key.rules)
        }
        return .object([
            ("default", .string(rules.egress.default == .deny ? "deny" : "allow")),
            ("enforce", .string(server.reportsDenials ? "report" : "deny")), ("requests", .number(traffic.requestCount)),
            (
                "rules",
                .array(
                    rules.rules.map { rule in
                        .object([("name", .string(rule.name)), ("hits", .number(traffic.hits[rule.name] ?? 0))])
                    })
            ),
            ("denials", .array(denials.map { json($0.key, $0.value) })), ("omitted_denials", .number(traffic.omittedDenials)),
            ("report", PolicyStatus(of: server).json),
        ])
    }

    private static func json(_ group: PolicyTraffic.DenialGroup, _ denials: PolicyTraffic.Denials) -> JSONText {
        let rule = group.fault == "denied_by_rule" ? group.rules.split(separator: "\n").last.map(String.init) : nil
        return .object([
            ("host", .string(group.host)), ("rule", rule.map(JSONText.string) ?? .null), ("code", .string(group.fault)),
            ("count", .number(denials.count)), ("latest", RequestRow(traced: denials.latest).json),
            ("suggestion", SuggestedRule.json(for: denials.latest)),
        ])
    }
}

extension SuggestedRule {
    /// The narrowest rule that would allow the request, if no rule allowed it. A denial by a rule has no suggestion: that rule would have to
    /// change.
    static func json(for traced: TracedRequest) -> JSONText {
        guard traced.trace.fault == .egressDenied else { return .null }
        let line = "\(traced.method) \(traced.url) HTTP/1.1\r\nHost: larder.invalid\r\n\r\n"
        var head = RequestHead()
        do throws(RequestParseError) {
            var parser = RequestParser()
            guard try parser.parse(Array(line.utf8).span.bytes, into: &head) != nil else { return .null }
        } catch {
            return .null
        }
        let text = text(allowing: head)
        return text.isEmpty ? .null : .string(text)
    }
}
