import HTTPCaching
import HTTPMessage
import ProxyCore
import ProxyServer
import TextCoding

/// Explains how a request would be handled, from a completed dry run.
extension Explanation {
    /// - Parameters:
    ///   - terms: what the explanation may show, and the facts that the dry run does not contain.
    ///   - judgesSaved: whether a saved response is being explained, so that the store was not searched.
    ///   - origin: the step about the saved response, which is treated as the origin's response.
    ///   - again: the step about the same request after the saved response is stored.
    package init(
        _ dryRun: borrowing DryRun, at now: Timestamp, _ terms: Explainer.Terms, judgesSaved: Bool = false, origin: Step? = nil,
        again: Step? = nil
    ) {
        let tellsQuery = terms.tellsQuery
        let trace = dryRun.exchange.trace
        let request = dryRun.exchange.request
        let matched = dryRun.exchange.matched
        let rules = (0..<matched.count).map { matched[$0].name }
        let overrides = dryRun.exchange.ruleOverrides.map { RuleOverride(rule: $0.rule, word: "\($0.word)") }
        let decision = DecisionSteps(
            trace: trace, rules: rules, overrides: overrides, candidates: dryRun.candidates,
            requestFields: request.fields, secondaryKey: dryRun.exchange.secondaryKey,
            limits: matched.limits.flatMap { rule, limit in limit.words.map { (rule, limit.description(of: $0)) } },
            question: dryRun.asksApprover ? (dryRun.exchange.askingRuleName, dryRun.exchange.question.description) : nil,
            isOnlyIfCached: dryRun.exchange.directives.contains(.onlyIfCached))
        tense = .would
        method = request.fields.text(of: request.methodName)
        url = Self.shown(request.fields.text(of: request.rawTarget), tellsQuery: tellsQuery)
        at = now
        id = nil
        action = Action(dryRun.conclusion, trace)
        // For a saved response the store was not searched, so it is only assumed that nothing is stored.
        let isSupposed = judgesSaved && trace.fault == nil
        reason = isSupposed ? trace.storage.map { "\($0.word)" } ?? "" : DecisionSteps.reason(of: trace)
        status = trace.status
        key = judgesSaved ? [] : dryRun.exchange.key
        steps =
            [
                decision.ruleStep, Self.denialStep(dryRun), DecisionSteps.conditionStep(RequestConditions(in: request.fields)),
                DecisionSteps.keyStep(
                    Self.shown(String(decoding: dryRun.exchange.key, as: UTF8.self), tellsQuery: tellsQuery)),
                Self.tunnelStep(dryRun), Self.trustStep(dryRun, terms.trustProblem, at: now),
                judgesSaved ? Self.savedInstead : decision.lookUpStep,
                decision.freshnessStep,
                isSupposed ? nil : decision.decisionStep, RouteStep.make(dryRun, at: now), Self.forwarding(dryRun, decision),
                origin, decision.storageStep,
                decision.transformStep, Self.faultStep(dryRun, decision), Self.answer(dryRun, at: now, tellsQuery: tellsQuery),
                again,
            ].compactMap { $0 }
    }

    /// The step for a request that the rules deny, but that still gets a recorded or stored response.
    private static func denialStep(_ dryRun: borrowing DryRun) -> Step? {
        guard let denial = dryRun.exchange.incoming.denial, dryRun.exchange.trace.fault == nil else { return nil }
        let code = "\(GatewayError(denial.fault).code.text)"
        return Step(
            "denial",
            "the rules deny the request (\(code)), but the settings allow Larder to serve a recorded or stored response",
            values: [("code", .string(code))])
    }

    /// The step for a failed request. If a rule denies the request, the step has the rule's own reason.
    private static func faultStep(_ dryRun: borrowing DryRun, _ decision: DecisionSteps) -> Step? {
        guard let step = decision.faultStep, dryRun.exchange.trace.fault == .deniedByRule,
            let reason = dryRun.exchange.matched.denyingRule?.reason
        else { return decision.faultStep }
        return Step(
            step.name, "\(step.says) The reason in the rule: \(reason)", step.section,
            values: step.values + [("reason", .string(reason))])
    }

    /// The step for an https URL with a port to which Larder permits no tunnel: a client asks for a tunnel first.
    private static func tunnelStep(_ dryRun: borrowing DryRun) -> Step? {
        let target = dryRun.exchange.request.target
        guard target.form == .absolute, target.scheme == .https, !dryRun.exchange.context.tunnelPorts.allows(target.port) else {
            return nil
        }
        let code = "\(GatewayError(Fault.portNotAllowed).code.text)"
        return Step(
            "tunnel",
            "a client that sends CONNECT gets 403 (\(code)), because tunnel.ports does not contain \(target.port); "
                + "the other steps are for a client that sends the https URL to Larder",
            values: [("code", .string(code))])
    }

    /// The trust policy that would verify an https server.
    private static func trustStep(_ dryRun: borrowing DryRun, _ problem: String?, at now: Timestamp) -> Step? {
        let request = dryRun.exchange.request
        guard request.target.form == .absolute, request.target.scheme == .https else { return nil }
        if let problem { return Step("trust", "not examined: \(problem)", values: [("policy", .null)]) }
        let host = String(decoding: dryRun.exchange.originHost, as: UTF8.self)
        guard let policy = dryRun.exchange.context.trustSummary(host, request.target.port, now) else {
            return Step("trust", "no trust policy allows the host \(host)", values: [("policy", .null)])
        }
        var says = policy.place.isEmpty ? "the default policy" : "the policy at \(policy.place)"
        says += policy.anchorCount.map { ": " + counted($0, "anchor") } ?? ": the pins are the trust anchors"
        let pins = counted(policy.pins.count, "pin")
        switch policy.pinState {
        case nil: says += ", no pins"
        case .enforced: says += ", \(pins), enforced"
        case .reportedOnly: says += ", \(pins), report only"
        case .expired: says += ", \(pins), expired"
        }
        if policy.isWeakened { says += ", weakened" }
        var values: [(name: String, value: JSONText)] = [
            ("policy", .string(policy.place)), ("pins", .array(policy.pins.prefix(Self.pinsLimit).map(JSONText.string))),
            ("weakened", .bool(policy.isWeakened)),
        ]
        if let count = policy.anchorCount { values.append(("anchors", .number(count))) }
        if let state = policy.pinState { values.append(("pin_state", .string(state.rawValue))) }
        return Step("trust", says, values: values)
    }

    private static let pinsLimit = 100

    private static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    private static let savedInstead = Step(
        "look-up", "skipped: the saved response is used instead of the store", values: [("asked", .string("nothing"))])

    /// The step about the request that would be sent to the origin.
    private static func forwarding(_ dryRun: borrowing DryRun, _ decision: DecisionSteps) -> Step? {
        let collapsing: Bool
        switch dryRun.conclusion {
        case .asksOrigin(let mayCollapse): collapsing = mayCollapse
        case .opensTunnel:
            let request = dryRun.exchange.request
            let target = request.fields.text(of: request.rawTarget)
            // A dry run does not know whether the host is intercepted.
            let says =
                dryRun.exchange.tunnelFault == .egressDenied
                ? "Larder opens no tunnel to \(target): the rules that allow requests to this host use path or method, so Larder must intercept it"
                : "Larder opens a tunnel to \(target), unless the settings in tls deny or intercept this host"
            return Step("request", says, "RFC 9110 §9.3.6")
        default: return nil
        }
        let steps =
            collapsing
            ? [
                Step(
                    "collapsing",
                    "if an identical request is in flight, Larder waits for its response, and shares the response if allowed",
                    "RFC 9111 §4")
            ]
            : []
        return Step(
            "request",
            "sent to \(String(decoding: dryRun.exchange.originHost, as: UTF8.self)):\(dryRun.exchange.originPort), \(decision.sentConditions)",
            decision.trace.sentConditions.isEmpty ? "" : "RFC 9111 §4.3.1",
            values: [("conditions", decision.sentConditionValues), ("collapses", .bool(collapsing))], steps: steps)
    }

    private static func answer(_ dryRun: borrowing DryRun, at now: Timestamp, tellsQuery: Bool) -> Step? {
        let trace = dryRun.exchange.trace
        guard trace.status > 0 else { return nil }
        var values: [(name: String, value: JSONText)] = [("outcome", .string("\(trace.outcome.word)"))]
        var says = "\(trace.status), \(trace.outcome.word)"
        if let line = cacheStatus(dryRun, at: now, tellsQuery: tellsQuery) {
            says += ", Cache-Status: \(line)"
            values.append(("cache_status", .string(line)))
        }
        return Step("answer", says, values: values)
    }

    /// The Cache-Status field of the response's head, without the key if the log omits queries.
    private static func cacheStatus(_ dryRun: borrowing DryRun, at now: Timestamp, tellsQuery: Bool) -> String? {
        guard case .servesStored = dryRun.conclusion else { return nil }
        var head: [UInt8] = []
        dryRun.exchange.writeStoredHead(at: now, into: &head)
        let name = "Cache-Status: "
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        guard let line = lines.last(where: { $0.hasPrefix(name) })?.dropFirst(name.count) else { return nil }
        let keyStart = tellsQuery ? nil : line.firstRange(of: "; key=")?.lowerBound
        return String(line[..<(keyStart ?? line.endIndex)])
    }
}

extension Explanation.Action {
    init(_ conclusion: DryRun.Conclusion, _ trace: DecisionTrace) {
        self =
            switch conclusion {
            case .undecided: .none
            case .servesStored:
                trace.outcome == .staleHit ? .serveStale : trace.outcome == .revalidated ? .validate : .serveStored
            case .asksOrigin, .relays: if case .validate = trace.reuse { .validate } else { .forward }
            case .opensTunnel: .tunnel
            case .refuses: .refuse
            case .answersItself: .answer
            }
    }
}
