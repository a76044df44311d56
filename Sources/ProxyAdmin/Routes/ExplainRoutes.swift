import EventLoop
import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyCore
import ProxyServer
import ResponseStore

/// `GET /v1/traces?id=ID`: how a request was handled. `POST /v1/explain`: how a request would be handled, without sending anything. The
/// content of `POST /v1/explain` (application/http) is the request's head, the request's content, and optionally a saved response's head.
/// `?content=LENGTH` gives the length of the request's content. `client=ADDRESS` and `user=NAME` describe the client.
package enum ExplainRoutes {
    /// - Parameter tellsQuery: whether the query of a URL may be shown, as in the log.
    package static func routes(server: ProxyServer, store: ResponseStore, tellsQuery: Bool) -> [AdminRoute] {
        [
            AdminRoute(.get, "/v1/traces", .read, parameters: [AdminParameter("id")]) { request, exchange in
                trace(request, exchange, server)
            },
            AdminRoute(
                .post, "/v1/explain", .read,
                parameters: [AdminParameter("content", .count), AdminParameter("client"), AdminParameter("user")]
            ) { request, exchange in
                explain(request, exchange, server, store, tellsQuery)
            },
        ]
    }

    private static func trace(_ request: AdminRequest, _ exchange: AdminExchange, _ server: ProxyServer) {
        guard let text = request["id"], text.utf8.count <= 16, let id = UInt64(text, radix: 16) else {
            return exchange.refuse(
                Status(400), code: "bad_id", detail: "The id must be hexadecimal digits, as in the access log.")
        }
        let wantsText = request.wantsText
        let reply = exchange.loop.reply { (traced: TracedRequest?) in
            guard let traced else {
                return exchange.refuse(
                    Status(404), code: "no_such_trace",
                    detail: "Larder has no record of a request with this id; the request may be too old.")
            }
            answer(Explanation(traced), exchange, wantsText: wantsText)
        }
        server.trace(of: id, reply)
    }

    private static func explain(
        _ request: AdminRequest, _ exchange: AdminExchange, _ server: ProxyServer, _ store: ResponseStore, _ tellsQuery: Bool
    ) {
        let context = server.context
        var question: ExplainedHeads
        do throws(ExplainedHeads.Fault) {
            question = try ExplainedHeads(
                request.body, contentLength: request["content"].flatMap { Int($0) }, limits: server.parseLimits)
        } catch {
            return exchange.refuse(Status(400), code: "bad_head", detail: error.sentence)
        }
        if let client = request["client"] {
            guard let address = IPAddress(client) else {
                return exchange.refuse(Status(400), code: "bad_client", detail: "The client must be an IP address.")
            }
            question.client.address = address
        }
        if let user = request["user"] { question.client.user = Array(user.utf8) }
        let heads = question
        let now = Timestamp(milliseconds: exchange.loop.wallClockMilliseconds)
        let wantsText = request.wantsText
        let terms = Explainer.Terms(tellsQuery: tellsQuery)
        if heads.response != nil {
            let explanation = Explainer.judge(heads, context: context, terms, at: now)
            return answer(explanation, exchange, wantsText: wantsText)
        }
        // The disk is read only if memory is not enough.
        let explained = Explainer.explain(heads, context: context, terms, at: now) { key, onDisk in
            if onDisk { return .later }
            return switch store.inMemory(key.span) {
            case .found(let variants):
                .found(variants.responses, partials: store.partials(of: key), isComplete: variants.isComplete)
            case .absent: .found([], partials: store.partials(of: key), isComplete: true)
            case .unknown: .later
            }
        }
        func answerNoting(_ explanation: Explanation) {
            guard explanation.action == .forward, !explanation.key.isEmpty else {
                return answer(explanation, exchange, wantsText: wantsText)
            }
            guard tellsQuery || !explanation.key.contains(UInt8(ascii: "?")) else {
                return answer(explanation.notingForgottenQuery(), exchange, wantsText: wantsText)
            }
            let reply = exchange.loop.reply { (latest: TracedRequest?) in
                answer(latest.map(explanation.noting) ?? explanation, exchange, wantsText: wantsText)
            }
            server.latestStorage(method: Array(explanation.method.utf8), key: explanation.key, reply)
        }
        switch explained {
        case .explanation(let explanation): answerNoting(explanation)
        case .waiting(let key):
            let reply = exchange.loop.reply { (result: LookUpResult) in
                let found = result.responses
                let explained = Explainer.explain(heads, context: context, terms, at: now) { key, _ in
                    .found(found, partials: store.partials(of: key), isComplete: true)
                }
                if case .explanation(let explanation) = explained { answerNoting(explanation) }
            }
            store.lookUp(key, reply: reply)
        }
    }

    private static func answer(_ explanation: Explanation, _ exchange: AdminExchange, wantsText: Bool) {
        if wantsText { exchange.answer(text: explanation.text) } else { exchange.answer(json: explanation.json) }
    }
}

extension LookUpResult {
    fileprivate var responses: [StoredResponse] {
        switch self {
        case .found(let variants): variants.responses
        case .absent, .unavailable: []
        }
    }
}
