import EventLoop
import HTTPMessage
import TextCoding

/// `POST /v1/page`: opens the page's listener if it is not open, and makes a link to the page.
package enum PageRoute {
    /// The path of the route.
    package static let path = "/v1/page"

    package enum Outcome: Sendable {
        case link(url: String, lifetimeMilliseconds: Int)
        case refused(reason: String)
    }

    /// - Parameter open: returns at once and calls `ended` with the outcome later.
    package static func route(_ open: @escaping @Sendable (_ ended: @escaping @Sendable (Outcome) -> Void) -> Void) -> AdminRoute
    {
        AdminRoute(.post, path, .socket) { request, exchange in
            let wantsText = request.wantsText
            let reply = exchange.loop.reply { (outcome: Outcome) in
                switch outcome {
                case .link(let url, let lifetime):
                    if wantsText { return exchange.answer(text: url + "\n") }
                    exchange.answer(json: .object([("url", .string(url)), ("usable_ms", .number(lifetime))]))
                case .refused(let reason): exchange.refuse(Status(503), code: "no_page", detail: reason)
                }
            }
            open { reply.send($0) }
        }
    }
}
