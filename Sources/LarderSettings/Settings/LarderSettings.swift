import ClientPasswords
import HTTPMessage
import ProxyPolicy

/// Everything that can be set, with its default. `SettingsSchema` says how each is called, read and shown.
///
/// Sizes are in bytes, times are `Duration`s, and `nil` means "no limit" or "by the machine", as each says.
package struct LarderSettings: Equatable, Sendable {
    package var listen = ListenAddress.defaults
    /// What the files of their `tls:` hold, in the same order; `nil` where plain HTTP is spoken, and none where nobody asked for it.
    package var loadedListeners = LoadedListeners()
    package var mode = Mode.live
    package var store = Store()
    /// `nil`: one for each core, four at most.
    package var loops: Int?
    package var log = Log()
    package var limits = Limits()
    package var timeouts = Timeouts()
    package var upstream = Upstream()
    /// Names that are not looked up, with the addresses that stand for each.
    package var resolve: [String: [IPAddress]] = [:]
    package var tunnel = Tunnel()
    package var egress = Egress()
    package var clients = Clients()
    package var cache = Cache()
    package var tls = TrustSettings()
    package var hostMismatch = HostMismatch.ignore
    package var recordings = Recordings()
    package var admin = Admin()
    package var traces = Traces()
    package var rules = Rules()

    package init() {}
}

extension LarderSettings {
    /// Whether anything may leave, by word, or as there is a network; and what recordings have to do with it.
    package enum Mode: String, CaseIterable, Sendable {
        case live, offline, auto, replay, record
        case recordMissing = "record_missing"
        case refresh, diff
    }

    /// The rules, and what happens to requests that no rule allows.
    package var policy: PolicyRuleSet { rules.compiled.under(EgressTerms(egress.default, suggests: egress.suggests)) }

    /// What was recorded is asked for, by the mode or by a rule's.
    package var replays: Bool { mode == .replay || mode == .recordMissing || rules.compiled.modes.contains(where: \.replays) }

    /// What becomes of exchanges that go out; `nil` where nothing does.
    package var recordingPurpose: RecordingPurpose? {
        switch mode {
        case .refresh: .refresh
        case .diff: .compare
        case .record, .recordMissing: .record
        case .live, .offline, .auto, .replay: rules.compiled.modes.contains(where: \.records) ? .record : nil
        }
    }

    /// They are recorded, recorded where they have changed, or compared.
    package enum RecordingPurpose: Sendable { case record, refresh, compare }

    package struct Store: Equatable, Sendable {
        /// `:memory:`, or a file. `nil`: `store.sqlite` in the user's cache folder.
        package var path: String?
        package var memory = MemoryTier()
        package var disk = Marks(high: 2 << 30, low: 3 << 29)
    }

    /// Above the high mark the least recently used goes, until the low mark is reached.
    package struct Marks: Equatable, Sendable {
        package var high: UInt64
        package var low: UInt64
    }

    package struct MemoryTier: Equatable, Sendable {
        package var marks = Marks(high: 100 << 20, low: 60 << 20)
        /// The longest body that is kept in memory.
        package var bodyLengthLimit: UInt64 = 4 << 20
    }

    package struct Log: Equatable, Sendable {
        package var level = LogLevel.info
        package var access = AccessLog()
    }

    package enum LogLevel: String, CaseIterable, Sendable { case trace, debug, info, notice, warning, error, critical }

    package struct AccessLog: Equatable, Sendable {
        /// `-` is standard output.
        package var path = "-"
        package var format = AccessLogFormat.ndjson
        package var includesQuery = false
    }

    package enum AccessLogFormat: String, CaseIterable, Sendable { case ndjson, squid, combined, off }

    package struct Limits: Equatable, Sendable {
        package var requestLineLength: UInt64 = 16 << 10
        package var headLength: UInt64 = 64 << 10
        package var fieldCount = 100
        /// `nil`: as long as the origin takes it.
        package var requestBodyLength: UInt64?
        /// Of all bodies under a check together.
        package var checkedBytes: UInt64 = 64 << 20
    }

    package struct Timeouts: Equatable, Sendable {
        package var connect = Duration.seconds(10)
        package var firstByte = Duration.seconds(60)
        package var idle = Duration.seconds(60)
        /// `nil`: an exchange may take as long as bytes keep coming.
        package var total: Duration?
        package var clientHandshake = Duration.seconds(10)
        package var clientHead = Duration.seconds(30)
        package var clientBody = Duration.seconds(60)
        package var clientIdle = Duration.seconds(75)
        /// How long SIGTERM waits for exchanges under way.
        package var drain = Duration.seconds(30)
    }

    package struct Upstream: Equatable, Sendable {
        /// An HTTP proxy behind us, `http://[user:password@]host:port`. `nil`: straight to the origins.
        package var proxy: String?
        package var connectionsPerOrigin = 64
        package var connections = 1024
        package var queueWait = Duration.seconds(10)
    }

    package struct Tunnel: Equatable, Sendable {
        package var ports = TunnelPorts.only([443, 80])
    }

    package enum TunnelPorts: Equatable, Sendable {
        case only([UInt16])
        case any
    }

    package struct Egress: Equatable, Sendable {
        /// What happens to requests that no rule allows.
        package var `default` = EgressDefault.allow
        /// The denied client gets the rule that would allow its request.
        package var suggests = true
        /// Link-local and metadata addresses (T03).
        package var deny = AddressRange.metadataServices
    }

    package struct Clients: Equatable, Sendable {
        /// Empty, and without passwords: clients on this machine only (T01, T02).
        package var allow: [AddressRange] = []
        /// The file of names and passwords.
        package var passwords: String?
        package var authenticate = Authenticate.unlisted
        package var purge: [AddressRange] = []
        /// `nil` where there is no file, or nobody asked for it to be read.
        package var loadedPasswords: PasswordFile?

        package static func == (left: Clients, right: Clients) -> Bool {
            left.allow == right.allow && left.passwords == right.passwords && left.authenticate == right.authenticate
                && left.purge == right.purge
        }
    }

    /// Who has to send a name and a password: who is not in `allow`, whoever is not on this machine, or everybody.
    package enum Authenticate: String, CaseIterable, Sendable { case unlisted, remote, all }

    package struct Cache: Equatable, Sendable {
        package var setCookie = SetCookie.explicit
        package var targetedCacheControl: [String] = []
        package var statusKey = false
        /// How long past its lifetime a response is served where `mode: auto` finds no network; `nil`: however long.
        package var maxStaleOffline: Duration? = .seconds(7 * 86_400)
    }

    package struct Admin: Equatable, Sendable {
        package var socket = AdminSocketPlace.auto
    }

    package struct Traces: Equatable, Sendable {
        /// Kept on each loop; 0 keeps none.
        package var count = 10_000
    }

    /// Where the admin socket stands.
    package enum AdminSocketPlace: Equatable, Sendable {
        /// In the user's folder for such, see `AdminSocketPath`.
        case auto
        case path(String)
        case off
    }

    /// Whether a response with `Set-Cookie` may be stored: on explicit freshness (RFC 9111 §7.3), or never (T23).
    package enum SetCookie: String, CaseIterable, Sendable { case explicit, never }

    /// What a `Host` field that differs from an absolute target does (T17; RFC 9112 §3.2.2 ignores it).
    package enum HostMismatch: String, CaseIterable, Sendable { case ignore, deny }

    /// The rules as they were written, and compiled.
    package struct Rules: Equatable, Sendable {
        package var node: SettingsNode?
        package var compiled = PolicyRuleSet.empty

        package static func == (left: Rules, right: Rules) -> Bool { left.node == right.node }
    }
}

extension LarderSettings.Clients {
    package var asksEverybody: Bool { passwords != nil && authenticate == .all }
}
