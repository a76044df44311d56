import LarderSettings
import ProxyAdmin
import TextCoding

/// `GET /v1/recordings`: the mode, the recording that Larder writes, and the recordings that it replays.
enum RecordingsRoute {
    /// - Parameter settings: returns the active settings.
    static func route(
        _ recordings: RunningRecordings, settings: @escaping @Sendable () -> LarderSettings
    ) -> AdminRoute {
        AdminRoute(.get, "/v1/recordings", .read) { _, exchange in
            let settings = settings()
            let recording = recordings.file.map { file -> JSONText in
                let summary = file.summary
                return .object([
                    ("file", .string(file.path)), ("recorded", .number(summary.counts.recorded)),
                    ("unrecorded", .number(summary.unrecordedCount)),
                    ("failure", summary.failure.map(JSONText.string) ?? .null),
                ])
            }
            let comparison = recordings.comparison.map { file -> JSONText in
                let counts = file.summary.counts
                return .object([
                    ("compared", .number(counts.unchanged + counts.differing)), ("differing", .number(counts.differing)),
                ])
            }
            exchange.answer(
                json: .object([
                    ("mode", .string(settings.mode.rawValue)),
                    ("modes", .array(LarderSettings.Mode.allCases.map { .string($0.rawValue) })),
                    ("recording", recording ?? .null), ("record_file", settings.recordings.file.map(JSONText.string) ?? .null),
                    ("replay_sources", .array(settings.recordings.layers.map(JSONText.string))),
                    ("comparison", comparison ?? .null),
                ]))
        }
    }
}
