/// What a running server is served by: its settings as they were read last, and the mode that was put in the place of theirs since.
struct ServedSettings: Sendable {
    private(set) var read: LarderSettings
    private(set) var switchedTo: LarderSettings.Mode?

    init(_ read: LarderSettings) { self.read = read }

    /// What holds of both.
    var settings: LarderSettings {
        var settings = read
        if let switchedTo { settings.mode = switchedTo }
        return settings
    }

    func switched(to mode: LarderSettings.Mode) -> ServedSettings {
        var served = self
        served.switchedTo = mode
        return served
    }

    /// On the mode the newest word holds: settings that say of it what they said before take nothing back.
    func reading(_ settings: LarderSettings) -> ServedSettings {
        var served = self
        if settings.mode != read.mode { served.switchedTo = nil }
        served.read = settings
        return served
    }
}
