import HTTPMessage
import TextCoding

/// `GET /v1/mode` and `POST /v1/mode`: shows and changes the active mode.
package enum ModeRoutes {
    /// A requested change of the mode.
    package struct Change: Sendable {
        /// The requested mode; `nil` if the active mode stays.
        package let mode: String?
        /// Whether replayed sequences start again.
        package let rewinds: Bool
    }

    /// The status of the active mode.
    package struct Report: Sendable {
        package struct Recording: Sendable {
            let file: String
            let recorded: Int
            let unrecorded: Int
            /// The write error after which exchanges are missing in the recording; `nil` if there was none.
            let failure: String?

            package init(file: String, recorded: Int, unrecorded: Int, failure: String?) {
                self.file = file
                self.recorded = recorded
                self.unrecorded = unrecorded
                self.failure = failure
            }
        }

        let mode: String
        /// How many checks of the network gate have passed since the mode became active.
        let departures: Int
        /// The recording that exchanges are written to.
        package var recording: Recording?

        package init(mode: String, departures: Int) {
            self.mode = mode
            self.departures = departures
        }
    }

    /// The outcome of a change.
    package enum Outcome: Sendable {
        /// The mode that is now active.
        case done(Report)
        /// The active mode stays.
        case refused(reason: String)
    }

    /// - Parameters:
    ///   - modes: the modes that may be requested.
    ///   - tell: reports the active mode.
    ///   - change: returns at once and calls `ended` with the outcome later; it may take seconds if a recording ends.
    package static func routes(
        _ modes: [String], tell: @escaping @Sendable () -> Report,
        change: @escaping @Sendable (Change, _ ended: @escaping @Sendable (Outcome) -> Void) -> Void
    ) -> [AdminRoute] {
        [
            AdminRoute(.get, "/v1/mode", .read) { answer(tell(), to: $0, $1) },
            AdminRoute(
                .post, "/v1/mode", .change,
                parameters: [AdminParameter("mode", .words(modes)), AdminParameter("reset", .words(["true"]))]
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
