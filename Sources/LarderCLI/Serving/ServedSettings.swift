import LarderSettings

/// The settings of a running server: the settings that were read last, the mode that was selected since then, and the expired recording.
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

    /// The later change of the mode applies. If a reload reads the same mode as the previous one, a mode that was selected in between
    /// stays active.
    func reading(_ settings: LarderSettings) -> ServedSettings {
        var served = self
        if settings.mode != read.mode { served.switchedTo = nil }
        served.read = settings
        served.refreshed = nil
        return served
    }
}
