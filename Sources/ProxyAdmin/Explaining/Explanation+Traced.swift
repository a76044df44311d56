import HTTPCaching
import HTTPMessage
import ProxyCore
import ProxyServer

/// Explains how a request was handled, from its trace in memory.
extension Explanation {
    package init(_ traced: TracedRequest) {
        let trace = traced.trace
        let decision = DecisionSteps(trace: trace, rules: traced.rules, overrides: traced.overrides)
        tense = .did
        method = traced.method.isEmpty ? "?" : traced.method
        url = traced.url.isEmpty ? "?" : traced.url
        at = trace.receivedAt
        id = traced.id
        action = Action(trace)
        reason = DecisionSteps.reason(of: trace)
        status = trace.status
        steps =
            [
                decision.ruleStep, DecisionSteps.conditionStep(traced.conditions),
                DecisionSteps.keyStep(traced.isKeyCut ? traced.key + Self.leftOutQuery : traced.key),
                decision.lookUpStep, decision.freshnessStep, decision.decisionStep, Self.request(decision), Self.upstream(traced),
                decision.storageStep ?? Self.freshening(trace), decision.transformStep, decision.faultStep,
                Self.answer(traced),
            ].compactMap { $0 }
    }

    /// The step about the request to the origin, if one was sent, and what became known about its response.
    private static func request(_ decision: DecisionSteps) -> Step? {
        let trace = decision.trace
        let isSent: Bool =
            switch trace.reuse {
            case .validate, .forward: trace.outcome != .collapsed
            case .fresh, .staleAllowed, .notSatisfiable, .offlineMiss, nil: trace.upstreamStatus > 0
            }
        guard isSent else { return nil }
        return Step(
            "request", "sent, \(decision.sentConditions)", trace.sentConditions.isEmpty ? "" : "RFC 9111 §4.3.1",
            values: [("conditions", decision.sentConditionValues)])
    }

    private static func freshening(_ trace: DecisionTrace) -> Step? {
        guard trace.upstreamStatus == 304, trace.outcome == .revalidated else { return nil }
        return Step(
            "storage", "the stored response is still valid, and the fields of the 304 update it", "RFC 9111 §4.3.4",
            values: [("freshened", .bool(true))])
    }

    private static func upstream(_ traced: TracedRequest) -> Step? {
        guard traced.trace.upstreamStatus > 0 else { return nil }
        let connection =
            traced.reusedConnection ? "on a reused connection" : "connected in \(milliseconds(traced.connectMicroseconds))"
        return Step(
            "origin",
            "responded \(traced.trace.upstreamStatus), \(connection), first byte after \(milliseconds(traced.firstByteMicroseconds))",
            values: [
                ("status", .number(Int(traced.trace.upstreamStatus))), ("connection_reused", .bool(traced.reusedConnection)),
                ("connect_us", .count(traced.connectMicroseconds)), ("first_byte_us", .count(traced.firstByteMicroseconds)),
            ])
    }

    private static func answer(_ traced: TracedRequest) -> Step {
        let status = traced.trace.status == 0 ? "nothing" : "\(traced.trace.status)"
        return Step(
            "answer",
            "\(status), \(traced.trace.outcome.word), \(traced.bytesSent) bytes in \(milliseconds(traced.durationMicroseconds))",
            values: [
                ("outcome", .string("\(traced.trace.outcome.word)")), ("bytes", .count(traced.bytesSent)),
                ("duration_us", .count(traced.durationMicroseconds)),
            ])
    }

    private static func milliseconds(_ microseconds: UInt64) -> String {
        let thousandths = String(microseconds % 1000)
        return "\(microseconds / 1000).\(String(repeating: "0", count: 3 - thousandths.count))\(thousandths) ms"
    }
}

extension Explanation.Action {
    /// The action that a trace records.
    init(_ trace: DecisionTrace) {
        self =
            switch trace.outcome {
            case .hit, .collapsed, .replayed: .serveStored
            case .staleHit: .serveStale
            case .revalidated, .refreshed: .validate
            case .miss, .bypass, .recorded: .forward
            case .denied, .failed: .refuse
            case .tunnel: .tunnel
            case .local: .answer
            default: .none
            }
    }
}
