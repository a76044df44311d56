import EventLoop
import HTTPMessage
import ProxyServer
import TextCoding

/// `GET /v1/requests`: the finished requests that Larder remembers, newest first. `GET /v1/requests/ID`: one of them with its decisions.
/// `GET /v1/events`: new finished requests, as server-sent events.
package enum RequestRoutes {
    package static func routes(server: ProxyServer) -> [AdminRoute] {
        let streams = StreamCount()
        return [
            AdminRoute(
                .get, "/v1/requests", .read,
                parameters: RequestFilter.parameters + [AdminParameter("before"), AdminParameter("limit", .count)]
            ) { request, exchange in
                list(request, exchange, server)
            },
            AdminRoute(.get, "/v1/requests/*", .read) { request, exchange in
                guard let id = id(request.path.split(separator: "/").last.map(String.init) ?? "", exchange) else { return }
                let reply = exchange.loop.reply { (traced: TracedRequest?) in
                    guard let traced else {
                        return exchange.refuse(
                            Status(404), code: "no_such_request",
                            detail: "Larder has no record of a request with this id; the request may be too old.")
                    }
                    exchange.answer(json: RequestRow(traced: traced).detail)
                }
                server.trace(of: id, reply)
            },
            AdminRoute(.get, "/v1/events", .read, parameters: RequestFilter.parameters) { request, exchange in
                guard let query = RequestFilter.query(request, exchange) else { return }
                guard streams.begin() else {
                    return exchange.refuse(
                        Status(503), code: "too_many_streams", detail: "Too many pages receive events. Close one of them.")
                }
                EventStream(query, exchange, server) { streams.end() }.start()
            },
        ]
    }

    /// The maximum number of requests in a list.
    static let limit = 500
    private static let usualLimit = 100

    private static func list(_ request: AdminRequest, _ exchange: AdminExchange, _ server: ProxyServer) {
        guard let query = RequestFilter.query(request, exchange) else { return }
        let limit = request["limit"].flatMap { Int($0) } ?? usualLimit
        guard 1...Self.limit ~= limit else {
            return exchange.refuse(
                Status(400), code: "bad_limit", detail: "The limit must be a number from 1 to \(Self.limit).")
        }
        var before: UInt64?
        if let text = request["before"] {
            guard let id = id(text, exchange) else { return }
            before = id
        }
        let reply = exchange.loop.reply { (listing: TraceListing) in
            exchange.answer(
                contentType: "application/json",
                body: Array(
                    (JSONText.object([
                        ("requests", .array(listing.requests.map { RequestRow(traced: $0).json })),
                        ("more", .bool(listing.hasMore)), ("kept", .number(listing.keptCount)),
                        ("dropped", .number(listing.droppedCount)),
                    ]).writtenInLine() + "\n").utf8))
        }
        server.requests(query, before: before, limit: limit, reply)
    }

    static func id(_ text: String, _ exchange: AdminExchange) -> UInt64? {
        guard text.utf8.count <= 16, text.allSatisfy(\.isHexDigit), let id = UInt64(text, radix: 16) else {
            exchange.refuse(
                Status(400), code: "bad_id", detail: "The id must be hexadecimal digits, as in the access log.")
            return nil
        }
        return id
    }
}

/// Counts the open streams of events, over all servers of the admin API.
private final class StreamCount: Sendable {
    private static let limit = 16
    private let count = Guarded(0)

    /// - Returns: whether a further stream may begin.
    func begin() -> Bool {
        count.withLock { count in
            if count >= Self.limit { return false }
            count += 1
            return true
        }
    }

    func end() { count.withLock { $0 -= 1 } }
}
