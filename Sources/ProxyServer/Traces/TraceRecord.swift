import EventLoop
import HTTPCaching
import HTTPMessage
import ProxyCore

/// One request's trace in the ring: only numbers, and the positions of its texts. A trivial, small type, because it is written to memory
/// that is in none of the processor's caches.
struct TraceRecord {
    var id: UInt64 = 0
    var trace = DecisionTrace()
    var durationMicroseconds: UInt64 = 0
    var bytesSent: UInt64 = 0
    /// When the exchange ended. A later record of the same loop never has an earlier time.
    var finishedAt = MonotonicTime(nanoseconds: 0)
    // The following times are limited to 4,294,967,295 microseconds, which is more than an hour.
    var connectMicroseconds: UInt32 = 0
    var firstByteMicroseconds: UInt32 = 0
    /// The number of this record's first text: the number of bytes of all earlier texts.
    var textStart: UInt64 = 0
    var urlCount: UInt16 = 0
    var rulesCount: UInt16 = 0
    var overridesCount: UInt16 = 0
    var keyCount: UInt16 = 0
    var methodCount: UInt8 = 0
    var reusedConnection = false
    /// The mode in which the request was handled.
    var mode = ExchangeContext.Mode.live
    /// The client's conditions.
    var conditions = RequestConditions()
    /// Whether the key equals the URL, so that the ring has no separate text for the key.
    var isKeyURL = false
    /// Whether the key's query was left out.
    var isKeyCut = false

    var textCount: Int { Int(methodCount) + Int(urlCount) + Int(rulesCount) + Int(overridesCount) + Int(keyCount) }
}

/// A trace found in a ring.
package struct TracedRequest: Sendable {
    package let id: UInt64
    package let trace: DecisionTrace
    package let durationMicroseconds: UInt64
    package let connectMicroseconds: UInt64
    package let firstByteMicroseconds: UInt64
    package let bytesSent: UInt64
    package let reusedConnection: Bool
    package let mode: ExchangeContext.Mode
    package let method: String
    /// The target as in the log: without its query if the settings say so, and truncated if it is very long.
    package let url: String
    /// Whether the URL has the greatest length that Larder remembers, so that it may be truncated.
    package var isURLCut: Bool { url.utf8.count >= TraceRing.urlLimit }
    /// The key of the look-up, in the same form as the URL; empty if there was none.
    package let key: String
    /// Whether the key's query was left out.
    package let isKeyCut: Bool
    /// The client's fields that made the request conditional or a range request.
    package let conditions: RequestConditions
    package let rules: [String]
    /// The origin server's directives that rules overrode, each with the rule.
    package let overrides: [RuleOverride]
    /// The place among all traces.
    package let place: TracePlace
}

/// The place of a trace in the order in which requests finished.
package struct TracePlace: Comparable, Sendable {
    let finishedAt: MonotonicTime
    let loop: Int
    /// The number of records that the loop had written before.
    let number: Int

    package static func < (left: TracePlace, right: TracePlace) -> Bool {
        (left.finishedAt, left.loop, left.number) < (right.finishedAt, right.loop, right.number)
    }
}

/// An origin server's directive that a rule overrode.
package struct RuleOverride: Sendable {
    package let rule: String
    package let word: String

    package init(rule: String, word: String) {
        self.rule = rule
        self.word = word
    }
}
