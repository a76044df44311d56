/// The amounts that one request counts under the limit of one matching rule.
package struct LimitDemand: Sendable {
    /// The name of the rule, under which its counts are kept.
    package let rule: String
    package let limit: RuleLimit
    /// The client, user or host that is counted; empty if all requests share one count.
    package let subject: [UInt8]

    package init(rule: String, limit: RuleLimit, subject: [UInt8] = []) {
        self.rule = rule
        self.limit = limit
        self.subject = subject
    }
}

/// Why a rule's limit ends a request.
package final class LimitRefusal: Equatable, Sendable {
    package let rule: String
    package let word: RuleLimit.Word
    /// The limit, formatted as in the settings.
    package let limit: String
    /// The seconds until the same request can succeed; `nil` if no time is known.
    package let retryAfter: UInt64?

    package init(rule: String, word: RuleLimit.Word, limit: RuleLimit, retryAfter: UInt64? = nil) {
        self.rule = rule
        self.word = word
        self.limit = limit.description(of: word)
        self.retryAfter = retryAfter
    }

    package static func == (left: LimitRefusal, right: LimitRefusal) -> Bool {
        left.rule == right.rule && left.word == right.word && left.limit == right.limit && left.retryAfter == right.retryAfter
    }
}
