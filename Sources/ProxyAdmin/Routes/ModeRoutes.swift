import HTTPMessage

/// `GET /v1/mode` and `POST /v1/mode`: the mode in force, and another one put in its place.
package enum ModeRoutes {
    /// What is to become of the mode.
    package struct Change: Sendable {
        /// `nil`: the one in force stays.
        package let mode: String?
        /// The sequences of what is replayed begin anew.
        package let rewinds: Bool
    }

    /// What came of it.
    package enum Outcome: Sendable {
        /// This mode is in force.
        case done(mode: String)
        /// The one in force stays.
        case refused(reason: String)
    }

    /// - Parameters:
    ///   - modes: the words that may be given.
    ///   - tell: the mode in force.
    package static func routes(
        _ modes: [String], tell: @escaping @Sendable () -> String, change: @escaping @Sendable (Change) -> Outcome
    ) -> [AdminRoute] {
        [
            AdminRoute(.get, "/v1/mode") { answer(tell(), to: $0, $1) },
            AdminRoute(
                .post, "/v1/mode", parameters: [AdminParameter("mode", .words(modes)), AdminParameter("reset", .words(["true"]))]
            ) { request, exchange in
                switch change(Change(mode: request["mode"], rewinds: request["reset"] != nil)) {
                case .done(let mode): answer(mode, to: request, exchange)
                case .refused(let reason): exchange.refuse(Status(422), code: "mode_refused", detail: reason)
                }
            },
        ]
    }

    private static func answer(_ mode: String, to request: AdminRequest, _ exchange: AdminExchange) {
        if request.wantsText { return exchange.answer(text: mode + "\n") }
        exchange.answer(json: .object([("mode", .string(mode))]))
    }
}
