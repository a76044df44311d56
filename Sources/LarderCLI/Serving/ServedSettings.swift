import LarderSettings

/// What a running server is served by: its settings as they were read last, the mode that was put in the place of theirs since, and whether what it
/// replays has expired.
struct ServedSettings: Sendable {
    private(set) var read: LarderSettings
    private(set) var switchedTo: LarderSettings.Mode?
    /// Is recorded anew in place of being replayed.
    var refreshed: ExpiredRecording?

    init(_ read: LarderSettings) { self.read = read }

    /// What a person should know of what is replayed.
    var replayWarnings: [String] { refreshed.map { [$0.refreshing] } ?? settings.replayWarnings }

    /// What holds of all.
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

    /// On the mode the newest word holds: settings that say of it what they said before take nothing back.
    func reading(_ settings: LarderSettings) -> ServedSettings {
        var served = self
        if settings.mode != read.mode { served.switchedTo = nil }
        served.read = settings
        served.refreshed = nil
        return served
    }
}
