import ClientPasswords
import HTTPMessage
import PolicyTools
import ProxyPolicy
import RESPWire

/// All settings, with their defaults. `SettingsSchema` defines how each setting is named, read and shown.
///
/// Sizes are in bytes, times are `Duration`s. `nil` means "no limit", or that Larder determines the value from the machine, as
/// documented at each setting.
package struct LarderSettings: Equatable, Sendable {
    package var listen = ListenAddress.defaults
    /// The content of the files that `tls:` of the listeners names, in the order of `listen`. An element is `nil` for plain HTTP. The
    /// array is empty if the files were not read.
    package var loadedListeners = LoadedListeners()
    package var mode = Mode.live
    package var store = Store()
    /// The number of event loops; `nil` for one per core, at most four.
    package var loops: Int?
    package var log = Log()
    package var limits = Limits()
    package var timeouts = Timeouts()
    package var upstream = Upstream()
    /// Names that Larder does not look up, each with the addresses to use.
    package var resolve: [String: [IPAddress]] = [:]
    package var tunnel = Tunnel()
    package var egress = Egress()
    package var shadow = ShadowPolicy()
    package var clients = Clients()
    package var cache = Cache()
    package var tls = TrustSettings()
    package var hostMismatch = HostMismatch.ignore
    package var recordings = Recordings()
    package var admin = Admin()
    package var metrics = Metrics()
    package var otlp = OTLP()
    package var approvals = Approvals()
    package var traces = Traces()
    package var rules = Rules()
    package var tests = Tests()

    package init() {}
}

extension LarderSettings {
    /// Whether requests may be forwarded (always, never, or if a network is available), and how recordings are used.
    package enum Mode: String, CaseIterable, Sendable {
        case live, offline, auto, replay, record
        case recordMissing = "record_missing"
        case refresh, diff
    }

    /// The rules, and what happens to requests that no rule allows.
    package var policy: PolicyRuleSet {
        rules.compiled.under(
            EgressTerms(
                egress.default, suggests: egress.suggests, servesStored: egress.stored == .serve, enforcement: egress.enforcement)
        )
    }

    /// Whether Larder looks for recorded responses, because of the mode in the settings or of a rule's mode.
    package var replays: Bool { mode == .replay || mode == .recordMissing || rules.compiled.modes.contains(where: \.replays) }

    /// How Larder uses forwarded exchanges for recordings; `nil` if it does not use them.
    package var recordingPurpose: RecordingPurpose? {
        switch mode {
        case .refresh: .refresh
        case .diff: .compare
        case .record, .recordMissing: .record
        case .live, .offline, .auto, .replay: rules.compiled.modes.contains(where: \.records) ? .record : nil
        }
    }

    /// How forwarded exchanges are used: `record` records all of them, `refresh` records those that changed, and `compare` only
    /// compares them with recordings.
    package enum RecordingPurpose: Sendable { case record, refresh, compare }

    package struct Store: Equatable, Sendable {
        /// The store's file, or `:memory:`. `nil` means `store.sqlite` in the user's cache folder.
        package var path: String?
        package var memory = MemoryTier()
        package var disk = Marks(high: 2 << 30, low: 3 << 29)
        package var shared = SharedStore()
    }

    /// The shared tier of a farm.
    package struct SharedStore: Equatable, Sendable {
        package enum Write: String, CaseIterable, Sendable {
            case all
            case secondRequest = "second_request"
            case off
        }

        /// `nil` for no shared tier.
        package var url: EngineURL?
        package var user: String?
        package var passwordFile: String?
        /// The folder of the farm's keys; `nil` means `farm` in the user's data folder.
        package var keys: String?
        package var encrypts = true
        package var write = Write.all
        package var maximumBody: UInt64 = 1 << 20
        package var timeout = Duration.milliseconds(50)
        /// How long a request waits for the fetch of another node.
        package var wait = Duration.seconds(2)
        /// The name of this node; `nil` means the machine's name.
        package var node: String?
    }

    /// If the size of the store exceeds the high mark, Larder evicts the least recently used responses until the size is at the low
    /// mark.
    package struct Marks: Equatable, Sendable {
        package var high: UInt64
        package var low: UInt64
    }

    package struct MemoryTier: Equatable, Sendable {
        package var marks = Marks(high: 100 << 20, low: 60 << 20)
        /// The maximum length of a body that is kept in memory, in bytes.
        package var bodyLengthLimit: UInt64 = 4 << 20
    }

    package struct Log: Equatable, Sendable {
        package var level = LogLevel.info
        package var access = AccessLog()
        /// The path of the audit log; `nil` for none.
        package var audit: String?
        package var auditRequests = AuditedRequests.denied
        package var auditFiles = AuditFiles()
    }

    package struct OTLP: Equatable, Sendable {
        /// The URL of the collector, without the path `/v1/traces`; `nil` for none.
        package var endpoint: String?
        /// The share of requests that are traced, from 0 to 1.
        package var sample = 1.0
        /// The name of the service in traces.
        package var service = "larder"
    }

    package enum AuditedRequests: String, CaseIterable, Sendable { case denied, all }

    package struct AuditFiles: Equatable, Sendable {
        /// At this size in bytes, and at this age, a new file begins.
        package var size: UInt64 = 64 << 20
        package var age = Duration.seconds(86_400)
        package var count = 30
    }

    package enum LogLevel: String, CaseIterable, Sendable { case trace, debug, info, notice, warning, error, critical }

    package struct AccessLog: Equatable, Sendable {
        /// The path of the log; `-` means standard output.
        package var path = "-"
        package var format = AccessLogFormat.ndjson
        package var includesQuery = false
    }

    package enum AccessLogFormat: String, CaseIterable, Sendable { case ndjson, squid, combined, off }

    package struct Limits: Equatable, Sendable {
        package var requestLineLength: UInt64 = 16 << 10
        package var headLength: UInt64 = 64 << 10
        package var fieldCount = 100
        /// The maximum length of a request body, in bytes; `nil` for no limit, so that only the origin limits it.
        package var requestBodyLength: UInt64?
        /// The maximum memory for all bodies together that are being checked, in bytes.
        package var checkedBytes: UInt64 = 64 << 20
        package var http2 = HTTP2()
    }

    package struct HTTP2: Equatable, Sendable {
        package var streams = 100
        package var resets = 200
        package var resetsPerClient = 2000
        package var streamWindow: UInt64 = 64 << 10
        package var connectionWindow: UInt64 = 1 << 20
    }

    package struct Timeouts: Equatable, Sendable {
        package var connect = Duration.seconds(10)
        package var firstByte = Duration.seconds(60)
        package var idle = Duration.seconds(60)
        /// The time limit for a whole exchange. With `nil`, an exchange may last as long as bytes keep arriving.
        package var total: Duration?
        package var clientHandshake = Duration.seconds(10)
        package var clientHead = Duration.seconds(30)
        package var clientBody = Duration.seconds(60)
        package var clientIdle = Duration.seconds(75)
        /// How long Larder waits for exchanges in flight after SIGTERM.
        package var drain = Duration.seconds(30)
    }

    package struct Upstream: Equatable, Sendable {
        /// The address of a proxy, `http://[user:password@]host:port`. `nil` means direct connections to the origins.
        package var proxy: String?
        package var ways: [UpstreamWayTerms] = []
        /// The name of the way for requests for which no rule names a way; `nil` for the proxy, or for direct connections.
        package var way: String?
        /// Whether Larder offers HTTP/2 to origins.
        package var http2 = TrustSettings.HTTP2Offer.auto
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
        /// Whether the error response to a denied request contains a rule that would allow the request.
        package var suggests = true
        /// Whether denials are applied, or only reported.
        package var enforcement = Enforcement.deny
        package var addresses = Addresses()
        /// Whether a denied request may get a recorded or stored response.
        package var stored = DeniedUse.deny

        /// Whether addresses that are not public are denied. If `egress.addresses.private` is not set, `egress.default` decides.
        package var deniesPrivateAddresses: Bool { (addresses.private ?? (`default` == .deny ? .deny : .allow)) == .deny }
    }

    /// The addresses to which Larder may connect: `allow` takes precedence over `deny`, and `deny` over `private`.
    package struct Addresses: Equatable, Sendable {
        /// The denied addresses: by default link-local addresses and those of metadata services (T03 in docs/threats.md).
        package var deny = AddressRange.metadataServices
        /// Whether addresses that are not public are allowed; with `nil`, `egress.default` decides.
        package var `private`: EgressDefault?
        package var allow: [AllowedAddress] = []
    }

    package struct Clients: Equatable, Sendable {
        /// The remote clients that Larder serves. If this is empty and there are no passwords, Larder serves only clients on this
        /// machine (T01 and T02 in docs/threats.md).
        package var allow: [AddressRange] = []
        /// The path of the file with names and passwords.
        package var passwords: String?
        package var authenticate = Authenticate.unlisted
        package var purge: [AddressRange] = []
        /// The name of the run to which all clients belong, by which rules know them; `nil` for none.
        package var run: String?
        /// The content of the password file; `nil` if no file is set, or if the file was not read.
        package var loadedPasswords: PasswordFile?

        package static func == (left: Clients, right: Clients) -> Bool {
            left.allow == right.allow && left.passwords == right.passwords && left.authenticate == right.authenticate
                && left.purge == right.purge && left.run == right.run
        }
    }

    /// Which clients must authenticate: remote clients that are not in `allow`, all remote clients, or all clients.
    package enum Authenticate: String, CaseIterable, Sendable { case unlisted, remote, all }

    package struct Cache: Equatable, Sendable {
        package var setCookie = SetCookie.explicit
        package var targetedCacheControl: [String] = []
        package var statusKey = false
        /// How long past its lifetime a response is served when `mode: auto` finds no network; `nil` for no limit.
        package var maxStaleOffline: Duration? = .seconds(7 * 86_400)
    }

    package struct Admin: Equatable, Sendable {
        package var socket = AdminSocketPlace.auto
        /// The loopback address at which Larder serves the page; `nil` if only `larder ui` opens the page.
        package var listen: ListenAddress?
    }

    package struct Approvals: Equatable, Sendable {
        /// The file of rules to which permanent answers are added; `nil` for none.
        package var file: String?
        /// The URL that gets each question; `nil` for none.
        package var webhook: String?
    }

    package struct Metrics: Equatable, Sendable {
        /// The address at which Larder serves metrics; `nil` for none. The admin socket always serves metrics.
        package var listen: ListenAddress?
    }

    package struct Traces: Equatable, Sendable {
        /// The number of recent requests for which each event loop keeps its decisions; 0 keeps none.
        package var count = 10_000
    }

    /// Where the admin socket is.
    package enum AdminSocketPlace: Equatable, Sendable {
        /// The socket is in the user's runtime folder; see `AdminSocketPath`.
        case auto
        case path(String)
        case off
    }

    /// Whether a response with `Set-Cookie` may be stored: with explicit freshness (RFC 9111 §7.3), or never (T23 in docs/threats.md).
    package enum SetCookie: String, CaseIterable, Sendable { case explicit, never }

    /// How Larder handles a `Host` field that differs from an absolute target (T17 in docs/threats.md). RFC 9112 §3.2.2 says to ignore
    /// the field.
    package enum HostMismatch: String, CaseIterable, Sendable { case ignore, deny }

    /// The rules, both as written and as compiled.
    package struct Rules: Equatable, Sendable {
        package var node: SettingsNode?
        package var compiled = PolicyRuleSet.empty
        /// Warnings about rules that have less effect than they seem to have; empty if the files that `tls` names were not read.
        package var warnings: [String] = []

        package static func == (left: Rules, right: Rules) -> Bool { left.node == right.node }
    }

    /// The tests of the rules, both as written and as parsed.
    package struct Tests: Equatable, Sendable {
        package var node: SettingsNode?
        package var read: [PolicyTest] = []

        package static func == (left: Tests, right: Tests) -> Bool { left.read == right.read }
    }
}

extension LarderSettings.Clients {
    package var asksEverybody: Bool { passwords != nil && authenticate == .all }
}
