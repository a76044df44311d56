import HTTPMessage
import ProxyCore
import ProxyServer
import TextCoding

/// The conditions of `GET /v1/requests` and `GET /v1/events`, as parameters of a query.
enum RequestFilter {
    static let parameters = [
        AdminParameter("text"), AdminParameter("host"), AdminParameter("method"), AdminParameter("status"),
        AdminParameter("outcome", .words(DecisionTrace.Outcome.allCases.map { "\($0.word)" })),
        AdminParameter("only", .words(TraceQuery.Kind.allCases.map(\.rawValue))),
        AdminParameter("mode", .words(ExchangeContext.Mode.all.map(\.word))),
    ]

    /// - Returns: `nil` after sending the client an error response.
    static func query(_ request: AdminRequest, _ exchange: AdminExchange) -> TraceQuery? {
        var query = TraceQuery()
        for (name, value) in request.parameters {
            switch name {
            case "text": query.setText(value)
            case "host": query.setHost(value)
            case "method": query.setMethod(value)
            case "status":
                guard let statuses = statuses(value) else {
                    exchange.refuse(
                        Status(400), code: "bad_filter",
                        detail: "The status must be a number such as 404, or a class such as 4xx, and is `\(printable(value))`.")
                    return nil
                }
                query.statuses = statuses
            case "outcome": query.outcome = DecisionTrace.Outcome.allCases.first { "\($0.word)" == value }
            case "only": query.kind = TraceQuery.Kind(rawValue: value)
            case "mode": query.mode = ExchangeContext.Mode.all.first { $0.word == value }
            default: break
            }
        }
        return query
    }

    /// `404`, `4xx`, or `0` for requests without a response.
    private static func statuses(_ text: String) -> ClosedRange<UInt16>? {
        if text.utf8.count == 3, text.lowercased().hasSuffix("xx"), AdminParameter.isDecimal(text.prefix(1)),
            let first = UInt16(text.prefix(1)), 1...9 ~= first
        {
            return first * 100...first * 100 + 99
        }
        guard AdminParameter.isDecimal(text), let status = UInt16(text), status <= 999 else { return nil }
        return status...status
    }
}

extension ExchangeContext.Mode {
    static let all: [Self] = [.live, .offline, .replay, .record, .recordMissing, .refresh, .diff]
}
