import LarderSettings

/// The settings of a running server: those that were read last, the mode that replaced theirs since, and the recording that expired.
struct ServedSettings: Sendable {
    private(set) var read: LarderSettings
    private(set) var switchedTo: LarderSettings.Mode?
    /// The recording that is re-recorded instead of replayed.
    var refreshed: ExpiredRecording?

    init(_ read: LarderSettings) { self.read = read }

    /// Warnings about replayed recordings.
    var replayWarnings: [String] { refreshed.map { [$0.refreshing] } ?? settings.replayWarnings }

    /// The effective settings.
    var settings: LarderSettings {
        var settings = read
        if let switchedTo { settings.mode = switchedTo }
        if let refreshed {
            settings.mode = .refresh
            settings.recordings.file = refreshed.path
            settings.recordings.existing = .append
        }
        return settings
    }

    func switched(to mode: LarderSettings.Mode) -> ServedSettings {
        var served = self
        served.switchedTo = mode
        served.refreshed = nil
        return served
    }

    /// The latest change of the mode applies: a reload whose settings have the same mode as before does not undo a switch.
    func reading(_ settings: LarderSettings) -> ServedSettings {
        var served = self
        if settings.mode != read.mode { served.switchedTo = nil }
        served.read = settings
        served.refreshed = nil
        return served
    }
}
