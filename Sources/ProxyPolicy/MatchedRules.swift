import HTTPCaching
import HTTPMessage

/// The rules that matched one request. The owner of the exchange owns this value, and reuses its storage for the next request.
///
/// The value keeps the rule set against which the request was matched, so that a reload during an exchange does not affect that
/// exchange.
@usableFromInline
package struct MatchedRules: Sendable {
    private var ruleSet: PolicyRuleSet?
    @usableFromInline var numbers: [Int] = []
    var candidates = RuleCandidates()
    var readings = RequestReadings()
    /// Whether rules were compared with a request since the last `removeAll`.
    var isUsed = false
    private var plan = ValidationPlan()
    private(set) var validates = false
    /// How to transform the content of responses; `nil` if no rule transforms it.
    package private(set) var transform: TransformPlan?
    private var key = KeyRewriting()
    private(set) var rewritesKey = false
    /// Whether these rules deny the https URL to which a rule upgrades the request, and no rule denies the URL that the client sent.
    package internal(set) var isOfUpgradedURL = false

    package init() {}

    @inlinable package var isEmpty: Bool { numbers.isEmpty }
    package var count: Int { numbers.count }

    /// The matching rules, in the order of the settings. If the verdict was `deny`, the last rule is the one that denies.
    package subscript(index: Int) -> PolicyRule {
        guard let ruleSet else { preconditionFailure("no rule matched") }
        return ruleSet.rules[numbers[index]]
    }

    /// The index of a matching rule in the settings.
    package func number(at index: Int) -> Int { numbers[index] }

    /// The rule that denied the request; `nil` if no rule did.
    package var denyingRule: PolicyRule? {
        guard let ruleSet, let last = numbers.last, ruleSet.rules[last].denies else { return nil }
        return ruleSet.rules[last]
    }

    /// The first matching rule that asks an approver; `nil` if no rule asks.
    package var askingRule: PolicyRule? {
        guard let ruleSet else { return nil }
        return numbers.lazy.map { ruleSet.rules[$0] }.first { $0.asks }
    }

    /// The index of `askingRule` among the matching rules.
    package var askingIndex: Int? { ruleSet.flatMap { rules in numbers.firstIndex { rules.rules[$0].asks } } }

    /// The checks of the response; `nil` if there are none.
    package var validation: ValidationPlan? { validates ? plan : nil }

    /// How rules change the cache key; `nil` if they do not change it.
    package var keyRewriting: KeyRewriting? { rewritesKey ? key : nil }

    /// The matching rules that have limits. All of these limits apply.
    package var limits: [(rule: String, limit: RuleLimit)] {
        guard let ruleSet else { return [] }
        return numbers.compactMap { number in
            let rule = ruleSet.rules[number]
            return rule.limit.map { (rule.name, $0) }
        }
    }

    /// The way on which the request is sent: the last matching rule that names a way decides. `nil` if no rule names one.
    package var upstream: UpstreamChoice? {
        guard let ruleSet, let number = numbers.last(where: { ruleSet.rules[$0].upstream != nil }) else { return nil }
        return ruleSet.rules[number].upstream
    }

    /// The tags of all matching rules, each once.
    package var tags: [String] {
        var tags: [String] = []
        for number in numbers {
            for tag in ruleSet?.rules[number].cache?.tags ?? [] where !tags.contains(tag) { tags.append(tag) }
        }
        return tags
    }

    /// The rule whose value for the key `word` applies: the last matching rule that sets this key.
    package func rule(saying word: CacheWord) -> PolicyRule? {
        guard let ruleSet, let number = numbers.last(where: { ruleSet.rules[$0].cache?.says(word) ?? false }) else { return nil }
        return ruleSet.rules[number]
    }

    /// Edits the request's fields. Call this before the cache key is made and the request's directives are read: Larder treats
    /// fields that a rule writes as the client's own.
    package func editRequest(_ fields: inout Fields) {
        guard let ruleSet else { return }
        for number in numbers { ruleSet.rules[number].request.apply(to: &fields) }
    }

    /// Edits the fields of the response that is delivered. The stored response stays as the origin server sent it.
    package func editResponse(_ fields: inout Fields) {
        guard let ruleSet else { return }
        for number in numbers { ruleSet.rules[number].response.apply(to: &fields) }
    }

    @inline(__always)
    package mutating func removeAll() {
        if isUsed { clear() }
    }

    private mutating func clear() {
        isUsed = false
        isOfUpgradedURL = false
        readings.removeAll()
        guard !numbers.isEmpty else { return }
        numbers.removeAll(keepingCapacity: true)
        ruleSet = nil
        if validates { plan.removeAll() }
        validates = false
        if transform != nil { transform = nil }
        if rewritesKey { key = KeyRewriting() }
        rewritesKey = false
    }

    mutating func insert(_ number: Int, of ruleSet: PolicyRuleSet) {
        if self.ruleSet == nil { self.ruleSet = ruleSet }
        numbers.append(number)
    }

    mutating func merge(_ validation: ValidationRule) {
        validates = true
        plan.merge(validation)
    }

    mutating func merge(_ later: TransformPlan) { transform = transform.map { $0.merged(with: later) } ?? later }

    mutating func merge(_ rewriting: KeyRewriting) {
        rewritesKey = true
        key.merge(rewriting)
    }

    var checksBody: Bool { validates && !plan.wellformed.isEmpty }
}
