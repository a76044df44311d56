import HTTPMessage
import TextCoding

/// `GET /v1/mode` and `POST /v1/mode`: the active mode, and another one put in its place.
package enum ModeRoutes {
    /// What is to become of the mode.
    package struct Change: Sendable {
        /// `nil`: the active one stays.
        package let mode: String?
        /// The sequences of what is replayed begin anew.
        package let rewinds: Bool
    }

    /// What there is to say of the active mode.
    package struct Report: Sendable {
        package struct Recording: Sendable {
            let file: String
            let recorded: Int
            let unrecorded: Int
            /// From where on it lacks exchanges.
            let failure: String?

            package init(file: String, recorded: Int, unrecorded: Int, failure: String?) {
                self.file = file
                self.recorded = recorded
                self.unrecorded = unrecorded
                self.failure = failure
            }
        }

        let mode: String
        /// How often the gate has let something out since it stands as it does.
        let departures: Int
        /// What is recorded into.
        package var recording: Recording?

        package init(mode: String, departures: Int) {
            self.mode = mode
            self.departures = departures
        }
    }

    /// What came of it.
    package enum Outcome: Sendable {
        /// This is active.
        case done(Report)
        /// The active one stays.
        case refused(reason: String)
    }

    /// - Parameters:
    ///   - modes: the words that may be given.
    ///   - tell: of the active mode.
    ///   - change: may take seconds, where a recording ends: it returns at once, and says later what came of it.
    package static func routes(
        _ modes: [String], tell: @escaping @Sendable () -> Report,
        change: @escaping @Sendable (Change, _ ended: @escaping @Sendable (Outcome) -> Void) -> Void
    ) -> [AdminRoute] {
        [
            AdminRoute(.get, "/v1/mode") { answer(tell(), to: $0, $1) },
            AdminRoute(
                .post, "/v1/mode", parameters: [AdminParameter("mode", .words(modes)), AdminParameter("reset", .words(["true"]))]
            ) { request, exchange in
                let reply = exchange.loop.reply { (outcome: Outcome) in
                    switch outcome {
                    case .done(let told): answer(told, to: request, exchange)
                    case .refused(let reason): exchange.refuse(Status(422), code: "mode_refused", detail: reason)
                    }
                }
                change(Change(mode: request["mode"], rewinds: request["reset"] != nil)) { reply.send($0) }
            },
        ]
    }

    private static func answer(_ told: Report, to request: AdminRequest, _ exchange: AdminExchange) {
        request.wantsText ? exchange.answer(text: told.text) : exchange.answer(json: told.json)
    }
}

extension ModeRoutes.Report {
    fileprivate var text: String {
        var text = mode + "\n"
        if let recording, let failure = recording.failure {
            text += "\(printable(recording.file, limit: 4096)) is incomplete: \(printable(failure, limit: 4096))\n"
        }
        return text
    }

    fileprivate var json: JSONText {
        var members: [(String, JSONText)] = [("mode", .string(mode)), ("departures", .number(departures))]
        if let recording {
            members.append(
                (
                    "recording",
                    .object([
                        ("file", .string(recording.file)), ("recorded", .number(recording.recorded)),
                        ("unrecorded", .number(recording.unrecorded)),
                        ("failure", recording.failure.map(JSONText.string) ?? .null),
                    ])
                ))
        }
        return .object(members)
    }
}
