import ProxyPolicy

/// Checks that concern several settings together.
package enum SettingsConsistency {
    static func problems(in settings: LarderSettings, origins: [String: SettingsReader.Origin]) -> [LocatedProblem] {
        var problems: [LocatedProblem] = []
        func report(_ name: String, _ message: String) {
            let origin = origins[name] ?? SettingsReader.Origin(layer: "settings", place: .none)
            problems.append(
                LocatedProblem(source: origin.layer, problem: SettingsProblem(message, path: name, at: origin.place)))
        }

        for (name, marks) in [("store.memory", settings.store.memory.marks), ("store.disk", settings.store.disk)]
        where marks.low > marks.high {
            let wrong = origins["\(name).low"] == nil ? "high" : "low"
            report("\(name).\(wrong)", "the value of `low` is above the value of `high`")
        }
        if settings.listen.isEmpty { report("listen", "at least one address is needed") }
        if settings.recordings.layers.dropLast().contains(LarderSettings.Recordings.storeLayer) {
            report("replay.layers", "`cache` must be the last entry: it matches every stored response")
        }
        if settings.recordings.files.count > LarderSettings.Recordings.fileLimit {
            report("replay.layers", "the list has more than \(LarderSettings.Recordings.fileLimit) files")
        }
        if let problem = modeProblem(in: settings) { report("mode", problem) }
        // Leaving out a setting must never make an open proxy (T01 in docs/threats.md).
        if let open = settings.listen.first(where: { !$0.isLoopback && $0.tls?.clients == nil }), settings.clients.allow.isEmpty,
            settings.clients.passwords == nil
        {
            report(
                "listen",
                "other machines can reach \(open): set clients.allow, clients.passwords or tls.clients, or listen on 127.0.0.1 or "
                    + "[::1]")
        }
        // The page shows every request, and browsers on other machines would send its cookie without TLS.
        if let page = settings.admin.listen, !page.isLoopback {
            report("admin.listen", "other machines can reach \(page): use an address of this machine alone, 127.0.0.1 or [::1]")
        }
        if let page = settings.admin.listen, page.isLoopback, page.address.family == .ipv6, page.address.embeddedIPv4 != nil {
            report("admin.listen", "\(page) is an IPv4 address inside an IPv6 address: write 127.0.0.1:\(page.port)")
        }
        return problems
    }

    /// A problem if the mode needs another setting and that setting is not set.
    package static func modeProblem(in settings: LarderSettings) -> String? {
        let recordings = settings.recordings
        let modes = settings.rules.compiled.modes
        if settings.mode == .replay || modes.contains(.replay), recordings.layers.isEmpty {
            return "this mode replays recordings, but replay.layers lists no snapshot"
        }
        if settings.mode == .diff, recordings.files.isEmpty {
            return "this mode compares responses with recordings, but replay.layers lists no snapshot"
        }
        if let purpose = settings.recordingPurpose, purpose != .compare, recordings.file == nil {
            return "this mode records, but record.file names no file"
        }
        if settings.mode == .refresh || settings.mode == .diff, modes.contains(where: \.records) {
            return "a rule sets a recording mode; in mode \(settings.mode.rawValue) rules cannot record"
        }
        return nil
    }
}
