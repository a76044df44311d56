import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// The rules and settings for an exchange, as they were active when its request arrived. Immutable; a reload makes a new one, so each
/// response is consistent with one version of the settings.
package final class ExchangeContext: Sendable {
    package enum HostMismatch: UInt8, Sendable { case ignore, deny }

    /// Which requests may be forwarded, and how recordings are used.
    package enum Mode: UInt8, Sendable {
        case live
        /// No request is forwarded: stored responses are served even if stale, otherwise 504 (RFC 9111 §4.2.4).
        case offline
        /// No request is forwarded: recordings are served, otherwise 504.
        case replay
        /// Every request is forwarded and recorded; the store is not queried.
        case record
        /// Recordings are served; other requests are forwarded and recorded.
        case recordMissing
        /// Every request is forwarded, and recorded if its response differs from the recording.
        case refresh
        /// Every request is forwarded, and its response compared with the recording.
        case diff

        package var word: String {
            switch self {
            case .live: "live"
            case .offline: "offline"
            case .replay: "replay"
            case .record: "record"
            case .recordMissing: "record_missing"
            case .refresh: "refresh"
            case .diff: "diff"
            }
        }

        /// Whether no request is forwarded.
        package var isClosed: Bool { self == .offline || self == .replay }
        /// Whether forwarded requests are recorded, or compared as if recorded.
        package var records: Bool {
            switch self {
            case .live, .offline, .replay: false
            case .record, .recordMissing, .refresh, .diff: true
            }
        }
        /// Whether recordings are looked up before a request is forwarded.
        var asksRecordings: Bool { self == .replay || self == .recordMissing }

        init(_ mode: RuleMode) {
            switch mode {
            case .live: self = .live
            case .offline: self = .offline
            case .replay: self = .replay
            case .record: self = .record
            case .recordMissing: self = .recordMissing
            }
        }

        /// The mode for a request for which a rule sets this mode. If the active mode forwards nothing, no rule can allow forwarding.
        func replaced(by mode: RuleMode) -> Mode {
            let wanted = Mode(mode)
            return isClosed && !wanted.isClosed ? self : wanted
        }
    }

    package typealias PlaintextLookUp = @Sendable (_ host: String, _ port: UInt16, _ now: Timestamp) -> PlaintextRule

    package typealias RouteLookUp = @Sendable (RouteSummary.Question) -> RouteSummary?

    package typealias DenialLookUp =
        @Sendable (_ scheme: RequestTarget.Scheme, _ host: String, _ port: UInt16, _ byTunnel: Bool) -> Fault?

    package typealias JudgeChain =
        @Sendable (_ chain: RecordedChain, _ host: String, _ port: UInt16, _ now: Timestamp) -> ChainJudgement

    package enum TunnelPorts: Sendable {
        case any
        case listed([UInt16])

        package func allows(_ port: UInt16) -> Bool {
            switch self {
            case .any: true
            case .listed(let ports): ports.contains(port)
            }
        }
    }

    /// The address of one of our listeners, to detect a request that has come back (RFC 9110 §7.6.3).
    package struct OwnAddress: Sendable {
        package let hosts: [[UInt8]]
        package let port: UInt16
        /// Whether the listener listens on all addresses of the machine.
        package let isAnyAddress: Bool

        package init(hosts: [[UInt8]], port: UInt16, isAnyAddress: Bool = false) {
            self.hosts = hosts
            self.port = port
            self.isAnyAddress = isAnyAddress
        }
    }

    package let rules: PolicyRuleSet
    /// Rules whose verdicts are only compared with those of `rules`; `nil` for none.
    package let shadow: PolicyRuleSet?
    package let mode: Mode
    /// The maximum staleness of a response served offline; `nil` for no limit.
    package let offlineStalenessLimit: DeltaSeconds?
    /// The names of the replayed recordings, in order of precedence.
    package let layerNames: [String]
    /// Whether requests without a recording are answered with stored responses of any age.
    package let replaysStore: Bool
    /// Whether requests to this machine itself are answered as in `live`.
    package let sparesThisMachine: Bool
    package let limits: ProxyLimits
    package let tunnelPorts: TunnelPorts
    package let hostMismatch: HostMismatch
    package let setCookie: SetCookieStorage
    package let targets: TargetedCacheControl
    /// Whether Cache-Status includes the key that was looked up in the store.
    package let tellsKey: Bool
    package let ownAddresses: [OwnAddress]
    /// The root certificate of the CA that intercepts hosts, for clients that request it; `nil` without a CA.
    package let rootCertificate: RootCertificate?
    /// The name by which rules identify the clients of this Larder, if it serves one run; empty if it has no name.
    package let runName: [UInt8]
    /// The clients that may use the method PURGE; empty for none.
    package let purgeClients: [AddressRange]
    /// Whether plain-text requests to a host (in lower case, without brackets) and port are allowed. They are forbidden if the host's keys
    /// are pinned (T49). `nil` if they are allowed for every host.
    package let plaintextRule: PlaintextLookUp?
    /// Whether stored responses must be validated before they are used, because the purges of other machines may be unknown here.
    package let validatesStored: Bool
    /// The active trust policy for an https origin (`ProxyServer+Trust.swift` sets this function). `nil` if stored responses are not bound
    /// to trust policies.
    package let activeTrust: (@Sendable (_ host: String, _ port: UInt16, _ now: Timestamp) -> ActiveTrust)?
    /// Verifies the recorded chain of an https origin under its active policy; may take long (`ProxyServer+Trust.swift` sets this
    /// function). `nil` if chains are not verified.
    package let judgeChain: JudgeChain?
    /// The trust policy for an https host; `nil` if no server is trusted for it. For explanations.
    package let trustSummary: @Sendable (_ host: String, _ port: UInt16, _ now: Timestamp) -> TrustSummary?
    /// Why the settings for hosts and addresses prevent requests to an origin, if that is known without a DNS look-up. For explanations;
    /// the transport checks requests itself.
    package let denial: DenialLookUp
    /// The way on which a request would be sent; `nil` if that is not known. For explanations.
    package let routeSummary: RouteLookUp?
    /// The name of this instance in Via, by which it detects loops (RFC 9110 §7.6.3).
    package let pseudonym: [UInt8]
    /// Which requests are traced; `nil` for none.
    package let tracing: TraceContext.Sampling?
    /// A secret for multipart boundaries, so that the authors of content cannot predict them.
    let boundarySecret: UInt64
    private let viaLine: [UInt8]
    private let viaLineOfHTTP10: [UInt8]
    private let viaLineOfHTTP2: [UInt8]

    package init(
        rules: PolicyRuleSet, shadow: PolicyRuleSet? = nil, mode: Mode = .live, offlineStalenessLimit: DeltaSeconds? = nil,
        layerNames: [String] = [],
        replaysStore: Bool = false, sparesThisMachine: Bool = false,
        limits: ProxyLimits = ProxyLimits(),
        tunnelPorts: TunnelPorts = .listed([443, 80]),
        hostMismatch: HostMismatch = .ignore, setCookie: SetCookieStorage = .explicit,
        targets: TargetedCacheControl = .none, tellsKey: Bool = false, ownAddresses: [OwnAddress] = [],
        rootCertificate: RootCertificate? = nil, runName: [UInt8] = [],
        purgeClients: [AddressRange] = [], validatesStored: Bool = false, plaintextRule: PlaintextLookUp? = nil,
        activeTrust: (@Sendable (_ host: String, _ port: UInt16, _ now: Timestamp) -> ActiveTrust)? = nil,
        judgeChain: JudgeChain? = nil,
        trustSummary: @escaping @Sendable (_ host: String, _ port: UInt16, _ now: Timestamp) -> TrustSummary? = { _, _, _ in nil
        },
        denial: @escaping DenialLookUp = { _, _, _, _ in nil }, routeSummary: RouteLookUp? = nil,
        pseudonym: [UInt8] = Array("larder".utf8), tracing: TraceContext.Sampling? = nil,
        boundarySecret: UInt64 = 0
    ) {
        self.rules = rules
        self.shadow = shadow
        self.mode = mode
        self.offlineStalenessLimit = offlineStalenessLimit
        self.layerNames = layerNames
        self.replaysStore = replaysStore
        self.sparesThisMachine = sparesThisMachine
        self.limits = limits
        self.tunnelPorts = tunnelPorts
        self.hostMismatch = hostMismatch
        self.setCookie = setCookie
        self.targets = targets
        self.tellsKey = tellsKey
        self.ownAddresses = ownAddresses
        self.rootCertificate = rootCertificate
        self.runName = runName
        self.purgeClients = purgeClients
        self.validatesStored = validatesStored
        self.plaintextRule = plaintextRule
        self.activeTrust = activeTrust
        self.judgeChain = judgeChain
        self.trustSummary = trustSummary
        self.denial = denial
        self.routeSummary = routeSummary
        self.pseudonym = pseudonym
        self.tracing = tracing
        self.boundarySecret = boundarySecret
        self.viaLine = Array("Via: 1.1 ".utf8) + pseudonym + [0x0D, 0x0A]
        self.viaLineOfHTTP10 = Array("Via: 1.0 ".utf8) + pseudonym + [0x0D, 0x0A]
        self.viaLineOfHTTP2 = Array("Via: 2.0 ".utf8) + pseudonym + [0x0D, 0x0A]
    }

    /// Applies the settings for all requests to each value that no rule has set.
    func complete(_ cache: inout CacheOverrides) {
        if cache.setCookie == nil { cache.setCookie = setCookie }
        cache.isDisconnected = mode.isClosed
        // A rule that uses stored responses of any age must not use one that was purged.
        if validatesStored { cache.validateStored() }
        cache.offlineStalenessLimit = offlineStalenessLimit
    }

    /// The value of Via as text, for callers that do not write a head.
    func via(for version: HTTPVersion) -> String {
        let line = version.major == 2 ? viaLineOfHTTP2 : version.isAtLeast11 ? viaLine : viaLineOfHTTP10
        return String(decoding: line.dropFirst("Via: ".utf8.count).dropLast(2), as: UTF8.self)
    }

    /// The Via line, with CRLF, for a message received in this version.
    func writeVia(for version: HTTPVersion, into output: inout OutputSpan<UInt8>) {
        // There is a branch for each version, because choosing the value first would retain it.
        if version.major == 2 {
            let line = viaLineOfHTTP2
            output.append(line.span)
        } else if version.isAtLeast11 {
            let line = viaLine
            output.append(line.span)
        } else {
            let line = viaLineOfHTTP10
            output.append(line.span)
        }
    }

    var viaLineLength: Int { viaLine.count }

    func isOwnAddress(host: Span<UInt8>, port: UInt16) -> Bool {
        for address in ownAddresses where address.port == port {
            for own in address.hosts where own.span.equalsIgnoringCase(host) { return true }
        }
        return false
    }
}
