import HTTPMessage

extension LarderSettings {
    /// The settings for recording and replaying. Paths stay as they are written until the settings are read to run a proxy.
    package struct Recordings: Equatable, Sendable {
        /// The snapshots to search, in this order; the word `cache` means the store.
        package var layers: [String] = []
        package var asOf = Moment.newest
        package var sequenceEnd = SequenceEnd.loop
        package var sequenceScope = SequenceScope.server
        package var failures = FailureReplay.same
        package var dates = Dates.recorded
        package var expiresAfter: Duration?
        package var onExpired = OnExpired.warn
        /// The paths of files with public keys.
        package var signedBy: [String] = []
        package var file: String?
        package var existing = Existing.refuse
        /// The path of the file with the match rules, which say which requests are equal.
        package var match: String?
        package var noStore = NoStore.keep
        package var unscanned = Unscanned.auto
        /// The path of the file with the project's key.
        package var key: String?

        /// The entry of `layers` that means the store.
        package static let storeLayer = "cache"

        /// The maximum number of snapshot files.
        package static let fileLimit = 255

        package var files: [String] { layers.filter { $0 != Self.storeLayer } }
        package var replaysStore: Bool { layers.last == Self.storeLayer }
    }

    /// The newest generation of recordings that replay uses.
    package enum Moment: Equatable, Sendable {
        case newest
        case generation(UInt32)
        case time(Timestamp)
    }

    package enum SequenceEnd: String, CaseIterable, Sendable { case loop, last, error }
    package enum SequenceScope: String, CaseIterable, Sendable { case server, user, address }
    package enum FailureReplay: String, CaseIterable, Sendable { case same, miss }
    package enum Dates: String, CaseIterable, Sendable { case recorded, shift }
    package enum OnExpired: String, CaseIterable, Sendable { case warn, fail, refresh }
    package enum Existing: String, CaseIterable, Sendable { case refuse, append, overwrite, resume }
    package enum NoStore: String, CaseIterable, Sendable { case keep, skip }
    package enum Unscanned: String, CaseIterable, Sendable { case auto, refuse, keep }
}

extension LarderSettings.Recordings {
    /// Makes each relative path relative to the folder of the settings file that names it.
    mutating func resolvePaths(_ origins: [String: SettingsReader.Origin]) {
        func resolved(_ path: String, of setting: String) -> String { origins[setting]?.path(of: path) ?? path }
        layers = layers.map { $0 == Self.storeLayer ? $0 : resolved($0, of: "replay.layers") }
        signedBy = signedBy.map { resolved($0, of: "replay.signed_by") }
        file = file.map { resolved($0, of: "record.file") }
        match = match.map { resolved($0, of: "record.match") }
        key = key.map { resolved($0, of: "recordings.key") }
    }
}
