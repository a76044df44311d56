import HTTPMessage
import TextCoding

/// `POST /v1/reload` and `POST /v1/stop`: like SIGHUP and SIGTERM, but with a response.
package enum ControlRoutes {
    /// The outcome of a reload.
    package enum Reload: Sendable {
        /// `waiting`: settings that changed and take effect at the next start. `changes`: what the new rules newly allow and deny, one line
        /// each.
        case done(waiting: [String], changes: [String])
        /// The active settings stay.
        case refused(problems: [String])

        package var isDone: Bool {
            switch self {
            case .done: true
            case .refused: false
            }
        }
    }

    /// - Parameter reload: returns at once and calls `ended` with the outcome later; it may take seconds if a recording ends.
    ///   `allow_empty=true` in the query accepts an empty file.
    package static func reload(
        _ reload: @escaping @Sendable (_ allowsEmpty: Bool, _ ended: @escaping @Sendable (Reload) -> Void) -> Void
    ) -> AdminRoute {
        AdminRoute(.post, "/v1/reload", .change, parameters: [AdminParameter("allow_empty", .words(["true"]))]) {
            request, exchange in
            let reply = exchange.loop.reply { (outcome: Reload) in answer(outcome, to: request, exchange) }
            reload(request["allow_empty"] != nil) { reply.send($0) }
        }
    }

    private static func answer(_ outcome: Reload, to request: AdminRequest, _ exchange: AdminExchange) {
        switch outcome {
        case .done(let waiting, let changes):
            if request.wantsText { return exchange.answer(text: text(waiting: waiting, changes: changes)) }
            exchange.answer(
                json: .object([
                    ("reloaded", .bool(true)), ("waiting", .array(waiting.map(JSONText.string))),
                    ("changes", .array(changes.map(JSONText.string))),
                ]))
        case .refused(let problems):
            if request.wantsText {
                return exchange.answer(
                    Status(422), text: problems.map { $0 + "\n" }.joined() + "the active settings are unchanged\n")
            }
            exchange.answer(
                Status(422), json: .object([("reloaded", .bool(false)), ("problems", .array(problems.map(JSONText.string)))]))
        }
    }

    /// - Parameter stop: begins the shutdown and returns at once. It is called after the response is sent.
    package static func stop(_ stop: @escaping @Sendable () -> Void) -> AdminRoute {
        AdminRoute(.post, "/v1/stop", .socket) { request, exchange in
            if request.wantsText {
                exchange.answer(Status(202), text: "stopping\n")
            } else {
                exchange.answer(Status(202), json: .object([("stopping", .bool(true))]))
            }
            stop()
        }
    }

    private static func text(waiting: [String], changes: [String]) -> String {
        "the settings were reloaded\n" + changes.map { $0 + "\n" }.joined()
            + waiting.map { "\($0) has changed; the change takes effect at the next start\n" }.joined()
    }
}
