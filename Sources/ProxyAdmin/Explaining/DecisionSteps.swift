import HTTPCaching
import HTTPMessage
import ProxyCore
import ProxyServer
import TextCoding

/// The steps of a trace's decision, for requests that were served and for dry runs.
struct DecisionSteps {
    let trace: DecisionTrace
    let rules: [String]
    let overrides: [RuleOverride]
    /// The stored responses that the request could have reused, if available. They add details to the trace.
    var candidates: [StoredResponse] = []
    var requestFields: Fields?
    var secondaryKey = SecondaryKey.none
    /// Each limit that applies, with its rule; only for dry runs, which do not count requests.
    var limits: [(rule: String, limit: String)] = []
    /// The rule that would ask an approver, with its words; only for dry runs, which ask nobody.
    var question: (rule: String, words: String)?
    /// Whether the request has only-if-cached, if that is known.
    var isOnlyIfCached: Bool?

    /// The reason's word, as in the log and in Cache-Status; the error's code if an error ended the request, empty if there is no reason.
    static func reason(of trace: DecisionTrace) -> String {
        trace.fault.map { "\(GatewayError($0).code.text)" } ?? trace.reuse.map { "\($0.word)" } ?? ""
    }

    // MARK: Rules

    var ruleStep: Explanation.Step {
        let names = rules.map { "`\($0)`" }.joined(separator: ", ")
        return Explanation.Step(
            "rules", rules.isEmpty ? "no rule matches" : "\(names) match\(rules.count == 1 ? "es" : "")",
            values: [("matched", .array(rules.map(JSONText.string)))], steps: overrideSteps + upgradeSteps + policySteps)
    }

    /// The steps about limits, report mode and the shadow policy.
    private var policySteps: [Explanation.Step] {
        var steps = limits.map { rule, limit in
            Explanation.Step(
                "limit", "rule `\(rule)` sets \(limit)", values: [("rule", .string(rule)), ("limit", .string(limit))])
        }
        if let question { steps.append(askStep("rule `\(question.rule)` asks an approver (\(question.words))", question.rule)) }
        if let index = trace.decidingRule, index < rules.count, isAsked {
            let rule = rules[Int(index)]
            let says =
                switch trace.fault {
                case .approvalDenied(let reason): "rule `\(rule)` asked an approver, and no approver allowed it (\(reason.text))"
                default: "rule `\(rule)` asked an approver, and the request was allowed"
                }
            steps.append(askStep(says, rule))
        } else if let index = trace.decidingRule, index < rules.count {
            steps.append(
                Explanation.Step(
                    "limit", "the limit of rule `\(rules[Int(index)])` is reached",
                    values: [("rule", .string(rules[Int(index)]))]))
        }
        if let reported = trace.reported {
            steps.append(
                Explanation.Step(
                    "report", "the rules would deny the request (\(reported.word.text)), but report mode forwards it",
                    values: [("would_deny", .string("\(reported.word.text)"))]))
        }
        if let shadow = trace.shadow {
            steps.append(
                Explanation.Step(
                    "shadow", "\(shadow.active.text) under the active rules, and \(shadow.shadow.text) under policy.shadow",
                    values: [("shadow", .string("\(shadow.shadow.text)"))]))
        }
        return steps
    }

    /// Whether `decidingRule` is a rule that asked an approver.
    private var isAsked: Bool {
        switch trace.fault {
        case .limitReached, .contentHidden: false
        default: question == nil
        }
    }

    private func askStep(_ says: String, _ rule: String) -> Explanation.Step {
        Explanation.Step("ask", says, values: [("rule", .string(rule))])
    }

    private var upgradeSteps: [Explanation.Step] {
        guard trace.isUpgraded else { return [] }
        return [
            Explanation.Step(
                "upgrade", "the request is upgraded from http to https, and its response is stored under the https URL",
                values: [("scheme", .string("https"))])
        ]
    }

    private var overrideSteps: [Explanation.Step] {
        overrides.map { override in
            Explanation.Step(
                "override", "rule \(override.rule) overrode \(override.word)",
                values: [("rule", .string(override.rule)), ("word", .string(override.word))])
        }
    }

    // MARK: The request

    /// The conditions in the client's request. Either the origin server evaluates them, or Larder evaluates them with the stored
    /// response.
    static func conditionStep(_ conditions: RequestConditions) -> Explanation.Step? {
        let names = conditions.names
        if names.isEmpty { return nil }
        return Explanation.Step(
            "conditions", "the request has \(names.joined(separator: " and "))", "RFC 9110 §13.2",
            values: [("fields", .array(names.map(JSONText.string)))])
    }

    /// - Parameter text: the cache key as it is displayed.
    static func keyStep(_ text: String) -> Explanation.Step? {
        if text.isEmpty { return nil }
        return Explanation.Step("key", text, "RFC 9111 §2", values: [("key", .string(text))])
    }

    /// Text such as `with If-None-Match of the stored response`.
    var sentConditions: String {
        let names = trace.sentConditions.names
        return names.isEmpty
            ? "without conditional fields" : "with " + names.joined(separator: " and ") + " of the stored response"
    }

    var sentConditionValues: JSONText { .array(trace.sentConditions.names.map(JSONText.string)) }

    // MARK: The store

    var lookUpStep: Explanation.Step? {
        let found = trace.candidates
        guard found.wasAsked else { return nil }
        let place = found.askedDisk ? "memory and disk" : "memory or the set of stored keys"
        let says =
            found.isPartial
            ? "a part of the response is stored"
            : found.count == 0
                ? "nothing is stored under the key" : "\(found.count) response\(found.count == 1 ? "" : "s") stored under the key"
        return Explanation.Step(
            "look-up", says, "RFC 9111 §4", values: [("found", .number(Int(found.count))), ("asked", .string(place))],
            steps: candidateSteps)
    }

    /// The steps about the candidate responses: newest first, the order in which they are considered.
    private var candidateSteps: [Explanation.Step] {
        (0..<Int(trace.candidates.count)).prefix(32).map { place in
            let selected = trace.candidates.selected ?? Int.max
            let candidate = place < candidates.count ? candidates[place] : nil
            let received = candidate.map { ", received \($0.responseTime.rfc3339)" } ?? ""
            var values: [(name: String, value: JSONText)] = [("selected", .bool(place == selected))]
            if let candidate {
                values.append(("status", .number(Int(candidate.facts.status.code))))
                values.append(("received", .string(candidate.responseTime.rfc3339)))
            }
            if place == selected {
                return Explanation.Step(
                    "candidate \(place + 1)", "selected: the response matches\(received)", "RFC 9111 §4.1", values: values)
            }
            if place > selected {
                return Explanation.Step(
                    "candidate \(place + 1)", "not examined: a newer stored response matches\(received)", "RFC 9111 §4",
                    values: values)
            }
            let names = mismatches(of: candidate)
            values.append(("differs_in", .array(names.map(JSONText.string))))
            let fields = names.isEmpty ? "the fields that Vary names" : names.joined(separator: ", ")
            return Explanation.Step(
                "candidate \(place + 1)", "not selected: the request differs in \(fields)\(received)", "RFC 9111 §4.1",
                values: values)
        }
    }

    private func mismatches(of candidate: StoredResponse?) -> [String] {
        guard let candidate, let requestFields else { return [] }
        return Vary.mismatches(of: candidate.nominatedFields, with: requestFields, secondaryKey)
    }

    // MARK: Freshness

    var freshnessStep: Explanation.Step? {
        guard let freshness = trace.candidates.freshness else { return nil }
        let age = freshness.age
        let lifetime = freshness.lifetime
        let isFresh = Int64(lifetime.seconds) > Int64(age.seconds)
        let source = ReasonText(freshness.lifetimeSource)
        return Explanation.Step(
            "freshness",
            "\(isFresh ? "fresh" : "stale"): lifetime \(lifetime.seconds) s \(isFresh ? ">" : "≤") age \(age.seconds) s",
            "RFC 9111 §4.2", values: [("fresh", .bool(isFresh))],
            steps: [
                Explanation.Step(
                    "lifetime", "\(lifetime.seconds) s: \(source.says)", source.section,
                    values: [("seconds", .number(Int(lifetime.seconds))), ("source", .string(freshness.lifetimeSource.word))]),
                Explanation.Step(
                    "age",
                    "\(age.seconds) s: \(freshness.initialAge.seconds) s when the response was received, "
                        + "plus \(freshness.residentTime.seconds) s since then",
                    "RFC 9111 §4.2.3",
                    values: [
                        ("seconds", .number(Int(age.seconds))), ("initial", .number(Int(freshness.initialAge.seconds))),
                        ("resident", .number(Int(freshness.residentTime.seconds))),
                    ]),
            ])
    }

    // MARK: The decision

    var decisionStep: Explanation.Step? {
        guard let reuse = trace.reuse else { return nil }
        switch reuse {
        case .fresh(let terms) where terms.isByRecordedChain, .staleAllowed(let terms, _) where terms.isByRecordedChain:
            let freshness = terms.remaining < 0 ? "stale by \(-terms.remaining) s" : "fresh for another \(terms.remaining) s"
            return step(
                "the stored response is used: \(freshness), and the trust policy accepts the certificates that were recorded with it",
                "", "\(ReuseTerms.recordedChainWord)")
        case .fresh(let terms):
            let objection =
                terms.isPastObjection
                ? "; validation is required, but Larder is offline" : ""
            return step(
                "the stored response is used: fresh for another \(terms.remaining) s\(objection)", "RFC 9111 §4", "\(reuse.word)")
        case .staleAllowed(_, let reason):
            let text = ReasonText(reason)
            return step("the stored response is used: \(text.says)", text.section, "\(reason.word)")
        case .validate(let reason):
            let text = ReasonText(reason)
            return step(
                "the stored response is validated with the origin: \(text.says)", text.section, "\(reason.word)")
        case .forward(let reason):
            let text = ReasonText(reason)
            return step("the request is forwarded: \(text.says)", text.section, "\(reason.word)")
        case .offlineMiss(let reason): return offlineStep(reason)
        case .notSatisfiable(let reason):
            let text = ReasonText(reason)
            // If the directive is not in the request, a rule has set it.
            let isByRequest = isOnlyIfCached ?? rules.isEmpty
            let section = isByRequest ? "RFC 9111 §5.2.1.7" : ""
            let cause =
                isByRequest ? "the request has only-if-cached" : isOnlyIfCached == nil ? "" : "a rule's policy is stored_only"
            return Explanation.Step(
                "decision",
                "the request may not be forwarded\(cause.isEmpty ? "" : " (\(cause))"), and no stored response can be used: \(text.says)",
                section, values: [("reason", .string("\(reuse.word)")), ("because", .string("\(reason.word)"))])
        }
    }

    /// The step for a request that cannot be answered offline: no response is stored, or the stored response cannot be used.
    private func offlineStep(_ reason: ForwardReason) -> Explanation.Step {
        let text = ReasonText(reason)
        return Explanation.Step(
            "decision", "Larder is offline, and no stored response can be used: \(text.says)",
            text.section.isEmpty ? "RFC 9111 §4.2.4" : text.section,
            values: [("reason", .string("\(ReuseDecision.offlineMissWord)")), ("because", .string("\(reason.word)"))])
    }

    private func step(_ says: String, _ section: String, _ word: String) -> Explanation.Step {
        Explanation.Step("decision", says, section, values: [("reason", .string(word))])
    }

    var storageStep: Explanation.Step? {
        switch trace.storage {
        case nil: nil
        case .stored(let lifetime, let source, let usedUnsafe):
            Explanation.Step(
                "storage", "stored: \(lifetimeText(lifetime, source))", "RFC 9111 §3",
                values: [
                    ("stored", .bool(true)), ("unsafe", .bool(usedUnsafe)),
                    ("lifetime", .number(Int(lifetime.seconds))),
                    ("source", .string(source.word)),
                ])
        case .refused(let refusal):
            Explanation.Step(
                "storage", "not stored: \(ReasonText(refusal).says)", ReasonText(refusal).section,
                values: [("stored", .bool(false)), ("reason", .string("\(refusal.word)"))])
        }
    }

    private func lifetimeText(_ lifetime: DeltaSeconds, _ source: LifetimeSource) -> String {
        source == .none
            ? "without an explicit lifetime" : "lifetime \(lifetime.seconds) s (\(ReasonText(source).says))"
    }

    /// The result of a rule's transformation of the content.
    var transformStep: Explanation.Step? {
        guard let transform = trace.transform else { return nil }
        var values: [(name: String, value: JSONText)] = [("transform", .string("\(transform.word)"))]
        if let reason = transform.reason { values.append(("reason", .string("\(reason)"))) }
        let text = ReasonText(transform)
        return Explanation.Step("transform", text.says, text.section, values: values)
    }

    var faultStep: Explanation.Step? { trace.fault.map(Explanation.faultStep) }
}

extension LifetimeSource {
    /// The name of the lifetime's source in JSON.
    var word: String {
        switch self {
        case .none: "none"
        case .heuristic: "heuristic"
        case .expires: "expires"
        case .maxAge: "max-age"
        case .sMaxAge: "s-maxage"
        case .rule: "rule"
        case .signature: "signature"
        }
    }
}
