import HTTPMessage
import ProxyCore
import ProxyPolicy
import ProxyServer
import TextCoding

/// One finished request in a list.
struct RequestRow {
    let traced: TracedRequest

    /// The maximum length of a URL, in characters. It is the length of which Larder remembers a URL.
    private static let urlLimit = 1024

    var json: JSONText {
        let trace = traced.trace
        return .object([
            ("id", .string(Explanation.hexadecimal(traced.id))), ("at", .string(trace.receivedAt.rfc3339)),
            ("method", .string(traced.method)), ("url", .string(printable(url, limit: Self.urlLimit))),
            ("status", .number(Int(trace.status))), ("outcome", .string("\(trace.outcome.word)")),
            ("reason", .string(DecisionSteps.reason(of: trace))), ("mode", .string(traced.mode.word)),
            ("duration_us", .count(traced.durationMicroseconds)), ("bytes", .count(traced.bytesSent)),
            ("denied", .bool(trace.isDenial)), ("rules", .array(traced.rules.map(JSONText.string))),
        ])
    }

    private var url: String { traced.url.isEmpty ? traced.key : traced.url }

    /// The request with all that its trace has: the parts of its time, and the steps of its decisions.
    var detail: JSONText {
        guard case .object(let members) = json else { return json }
        return .object(
            members + [
                ("key", .string(traced.key)), ("query_omitted", .bool(traced.isKeyCut)),
                ("url_cut", .bool(traced.isURLCut)),
                (
                    "timing",
                    .object([
                        ("total_us", .count(traced.durationMicroseconds)), ("connect_us", .count(traced.connectMicroseconds)),
                        ("first_byte_us", .count(traced.firstByteMicroseconds)),
                        ("connection_reused", .bool(traced.reusedConnection)),
                        ("upstream", .bool(traced.trace.upstreamStatus > 0)),
                    ])
                ), ("suggestion", SuggestedRule.json(for: traced)), ("explanation", Explanation(traced).json),
            ])
    }
}
