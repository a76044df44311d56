import HTTPCaching
import HTTPMessage
import ProxyCore

/// One request's trace as the ring keeps it: numbers only, and where its texts stand. Trivial, and small: it is written to memory
/// that no cache of the processor holds.
struct TraceRecord {
    var id: UInt64 = 0
    var trace = DecisionTrace()
    var durationMicroseconds: UInt64 = 0
    var bytesSent: UInt64 = 0
    // An hour and more is told as the greatest that can be.
    var connectMicroseconds: UInt32 = 0
    var firstByteMicroseconds: UInt32 = 0
    /// Counts the bytes of all texts before these.
    var textStart: UInt64 = 0
    var urlCount: UInt16 = 0
    var rulesCount: UInt16 = 0
    var overridesCount: UInt16 = 0
    var keyCount: UInt16 = 0
    var methodCount: UInt8 = 0
    var reusedConnection = false
    /// The client's own.
    var conditions = RequestConditions()
    /// The key is the URL: it has no text of its own.
    var isKeyURL = false
    /// Its query is left out.
    var isKeyCut = false

    var textCount: Int { Int(methodCount) + Int(urlCount) + Int(rulesCount) + Int(overridesCount) + Int(keyCount) }
}

/// A trace as it was found in a ring, for whoever asks.
package struct TracedRequest: Sendable {
    package let id: UInt64
    package let trace: DecisionTrace
    package let durationMicroseconds: UInt64
    package let connectMicroseconds: UInt64
    package let firstByteMicroseconds: UInt64
    package let bytesSent: UInt64
    package let reusedConnection: Bool
    package let method: String
    /// The target as the log has it: without its query where the settings say so, and cut where it is very long.
    package let url: String
    /// Under which it was looked up, shown as the URL is; empty where nothing was.
    package let key: String
    /// The key's query is left out of it.
    package let isKeyCut: Bool
    /// The fields of the client's request that made it conditional, or one for a part.
    package let conditions: RequestConditions
    package let rules: [String]
    /// What rules went past: a word of the origin server's, and the rule.
    package let overrides: [RuleOverride]
}

/// A word of the origin server's that a rule went past.
package struct RuleOverride: Sendable {
    package let rule: String
    package let word: String

    package init(rule: String, word: String) {
        self.rule = rule
        self.word = word
    }
}
