import HTTPMessage
import ProxyPolicy
import TextCoding

/// The verdict of a policy on one request with its reasons, as `larder policy eval` prints it.
package struct PolicyEvaluation: Sendable {
    package let request: PolicyRequest
    package let decision: PolicyDecision
    /// The verdicts on the readings of the path; empty if the path has one reading.
    package let readings: [ReadingVerdict]
    /// A rule that would allow the request, as JSON; `nil` if there is no such rule, or if it is not to be shown.
    package let suggestion: String?
    /// The verdict on the tunnel that carries the request; `nil` unless its URL is https.
    package let tunnel: PolicyDecision?
    /// Why Larder refuses a PURGE that the rules allow; `nil` for other requests.
    package let purgeRefusal: PurgeRefusal?

    /// Whether the rules and `clients.purge` allow the request.
    package var isAllowed: Bool { decision.isAllowed && purgeRefusal == nil }

    /// - Parameter purgers: the clients that may send PURGE (the setting `clients.purge`).
    package init(_ request: PolicyRequest, under policy: PolicyRuleSet, purgers: [AddressRange] = []) {
        self.request = request
        decision = PolicyDecision(request, under: policy)
        readings = policy.readings(of: request.head, request.facts, needsRule: !request.isPurge)
        purgeRefusal = request.isPurge && decision.isAllowed ? PurgeRefusal(of: request.facts.client, purgers) : nil
        let text = decision.word == .egressDenied && policy.egress.suggests ? SuggestedRule.text(allowing: request.head) : ""
        suggestion = text.isEmpty ? nil : text
        tunnel = Self.tunnelRequest(for: request).map { PolicyDecision($0, under: policy) }
    }

    private static func tunnelRequest(for request: PolicyRequest) -> PolicyRequest? {
        let target = request.head.target
        guard request.head.method != .connect, target.scheme == .https else { return nil }
        let host = request.head.fields.text(of: target.host)
        let written = target.hostKind == .ipv6 && !host.hasPrefix("[") ? "[\(host)]" : host
        // The CONNECT request is always valid, because its parts are from a valid request.
        return try? PolicyRequest("CONNECT", "\(written):\(target.port)", from: request.facts.client)
    }

    /// The maximum number of readings that are shown.
    private static let shownReadings = 8

    /// The code of the refusal; `nil` if the request is allowed.
    private var code: String? { purgeRefusal?.rawValue ?? (decision.mayBeAllowed ? nil : decision.word.rawValue) }

    package var lines: [String] {
        var lines = ["\(request.method) \(request.target)", "verdict: \(purgeRefusal?.text ?? decision.text)"]
        if let reason = decision.reason { lines.append("reason: \(reason)") }
        if let code { lines.append("code: \(code)") }
        if let reported = decision.reported { lines.append("would deny: \(reported.rawValue)") }
        lines.append(
            "rules: "
                + (decision.matched.isEmpty ? "no rule matches" : decision.matched.map { "`\($0)`" }.joined(separator: ", ")))
        lines += readings.prefix(Self.shownReadings).map { reading in
            "reading: \(String(decoding: reading.path, as: UTF8.self)) (\(reading.outcome.rawValue))"
        }
        if readings.count > Self.shownReadings {
            lines.append("and \(readings.count - Self.shownReadings) more interpretations of the path")
        }
        if let tunnel { lines.append("tunnel: \(tunnel.text)") }
        if let suggestion { lines.append("suggestion: \(suggestion)") }
        return lines
    }

    package var json: JSONText {
        var members: [(String, JSONText)] = [
            ("request", .object([("method", .string(request.method)), ("url", .string(request.target))])),
            ("allowed", .bool(isAllowed)), ("verdict", .string(purgeRefusal?.rawValue ?? decision.word.rawValue)),
            ("rule", decision.rule.map(JSONText.string) ?? .null), ("reason", decision.reason.map(JSONText.string) ?? .null),
            ("matched", .array(decision.matched.map(JSONText.string))),
            (
                "readings",
                .array(
                    readings.map { reading in
                        .object([
                            ("path", .string(String(decoding: reading.path, as: UTF8.self))),
                            ("allowed", .bool(reading.outcome != .denied)),
                        ])
                    })
            ),
        ]
        if let reported = decision.reported { members.append(("reported", .string(reported.rawValue))) }
        if let tunnel { members.append(("tunnel", .string(tunnel.word.rawValue))) }
        if let suggestion { members.append(("suggestion", .string(suggestion))) }
        return .object(members)
    }
}

/// Why Larder refuses a PURGE. The raw values are the codes in responses.
package enum PurgeRefusal: String, Sendable {
    case off = "purge_off"
    case notAllowed = "purge_not_allowed"

    /// - Parameter purgers: the clients that may send PURGE (the setting `clients.purge`).
    /// - Returns: `nil` if the client may purge, or if the client's address is not known.
    init?(of client: ClientFacts, _ purgers: [AddressRange]) {
        if purgers.isEmpty {
            self = .off
        } else if let address = client.address, !purgers.contains(where: { $0.contains(address) }) {
            self = .notAllowed
        } else {
            return nil
        }
    }

    var text: String {
        switch self {
        case .off: "refused: clients.purge lists no client"
        case .notAllowed: "refused: clients.purge does not list this client"
        }
    }
}
