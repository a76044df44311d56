import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// What an exchange is decided by: the rules and settings that were active when its request arrived. Immutable; a reload makes a new one,
/// so each response is consistent with one version of the settings.
package final class ExchangeContext: Sendable {
    package enum HostMismatch: UInt8, Sendable { case ignore, deny }

    /// Whether anything may leave.
    package enum Mode: UInt8, Sendable {
        case live
        /// Nothing: what is stored is served, stale or not, else 504 (RFC 9111 §4.2.4).
        case offline
        /// Nothing: what was recorded is the answer, else 504.
        case replay
        /// Every request goes out and is recorded; the store is not asked.
        case record
        /// What was recorded is the answer; else the request goes out and is recorded.
        case recordMissing
        /// Every request goes out, and is recorded where it is not as it was recorded before.
        case refresh
        /// Every request goes out, and is compared with what was recorded.
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

        /// Nothing leaves.
        package var isClosed: Bool { self == .offline || self == .replay }
        /// What goes out is recorded, or compared as if it were.
        package var records: Bool {
            switch self {
            case .live, .offline, .replay: false
            case .record, .recordMissing, .refresh, .diff: true
            }
        }
        /// Recordings are asked before anything goes out.
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

        /// What a rule has in its place. Where nothing leaves, no rule lets anything out.
        func replaced(by mode: RuleMode) -> Mode {
            let wanted = Mode(mode)
            return isClosed && !wanted.isClosed ? self : wanted
        }
    }

    package typealias PlaintextLookUp = @Sendable (_ host: String, _ port: UInt16, _ now: Timestamp) -> PlaintextRule

    package typealias JudgeChain =
        @Sendable (_ chain: RecordedChain, _ host: String, _ port: UInt16, _ now: Timestamp) -> ChainJudgement

    package enum TunnelPorts: Sendable {
        case any
        case listed([UInt16])

        func allows(_ port: UInt16) -> Bool {
            switch self {
            case .any: true
            case .listed(let ports): ports.contains(port)
            }
        }
    }

    /// The address of one of our own listeners, to see a request that has come back (RFC 9110 §7.6.3).
    package struct OwnAddress: Sendable {
        package let hosts: [[UInt8]]
        package let port: UInt16
        /// It listens on every address of the machine.
        package let isAnyAddress: Bool

        package init(hosts: [[UInt8]], port: UInt16, isAnyAddress: Bool = false) {
            self.hosts = hosts
            self.port = port
            self.isAnyAddress = isAnyAddress
        }
    }

    package let rules: PolicyRuleSet
    package let mode: Mode
    /// How long past its lifetime a response is served offline; `nil`: however long.
    package let offlineStalenessLimit: DeltaSeconds?
    /// The names of the recordings that are replayed, in the order in which they are asked.
    package let layerNames: [String]
    /// What no recording answers is answered with what is stored, whatever its age.
    package let replaysStore: Bool
    /// Requests to this machine itself are answered as in `live`.
    package let sparesThisMachine: Bool
    package let limits: ProxyLimits
    package let tunnelPorts: TunnelPorts
    package let hostMismatch: HostMismatch
    package let setCookie: SetCookieStorage
    package let targets: TargetedCacheControl
    /// Cache-Status tells the key by which what is stored was looked for.
    package let tellsKey: Bool
    package let ownAddresses: [OwnAddress]
    /// Of the authority by whose certificates hosts are intercepted, for clients that ask for it. `nil`: there is none.
    package let rootCertificate: RootCertificate?
    /// Who may purge with the method PURGE; empty: nobody.
    package let purgeClients: [AddressRange]
    /// Whether a host (in lower case, without brackets) may be asked in plain text at a port: not where its keys are pinned (T49). `nil`
    /// where every host may.
    package let plaintextRule: PlaintextLookUp?
    /// The active trust policy for an https origin. `nil`: what is stored for any came without one.
    package let activeTrust: (@Sendable (_ host: String, _ port: UInt16, _ now: Timestamp) -> ActiveTrust)?
    /// Judges what was recorded of an https origin's server by the active policy for it. Takes its time. `nil`: nobody judges.
    package let judgeChain: JudgeChain?
    /// The trust policy for an https host, `nil` for one that nobody is believed to be. For explanations.
    package let trustSummary: @Sendable (_ host: String, _ port: UInt16, _ now: Timestamp) -> TrustSummary?
    /// The name by which this instance signs Via and knows its own hand again (RFC 9110 §7.6.3).
    package let pseudonym: [UInt8]
    /// What nobody who makes content knows, so that no content holds a boundary of ours.
    let boundarySecret: UInt64
    private let viaLine: [UInt8]
    private let viaLineOfHTTP10: [UInt8]

    package init(
        rules: PolicyRuleSet, mode: Mode = .live, offlineStalenessLimit: DeltaSeconds? = nil, layerNames: [String] = [],
        replaysStore: Bool = false, sparesThisMachine: Bool = false,
        limits: ProxyLimits = ProxyLimits(),
        tunnelPorts: TunnelPorts = .listed([443, 80]),
        hostMismatch: HostMismatch = .ignore, setCookie: SetCookieStorage = .explicit,
        targets: TargetedCacheControl = .none, tellsKey: Bool = false, ownAddresses: [OwnAddress] = [],
        rootCertificate: RootCertificate? = nil,
        purgeClients: [AddressRange] = [], plaintextRule: PlaintextLookUp? = nil,
        activeTrust: (@Sendable (_ host: String, _ port: UInt16, _ now: Timestamp) -> ActiveTrust)? = nil,
        judgeChain: JudgeChain? = nil,
        trustSummary: @escaping @Sendable (_ host: String, _ port: UInt16, _ now: Timestamp) -> TrustSummary? = { _, _, _ in nil
        },
        pseudonym: [UInt8] = Array("larder".utf8),
        boundarySecret: UInt64 = 0
    ) {
        self.rules = rules
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
        self.purgeClients = purgeClients
        self.plaintextRule = plaintextRule
        self.activeTrust = activeTrust
        self.judgeChain = judgeChain
        self.trustSummary = trustSummary
        self.pseudonym = pseudonym
        self.boundarySecret = boundarySecret
        self.viaLine = Array("Via: 1.1 ".utf8) + pseudonym + [0x0D, 0x0A]
        self.viaLineOfHTTP10 = Array("Via: 1.0 ".utf8) + pseudonym + [0x0D, 0x0A]
    }

    /// What the settings say of every request, where no rule has said otherwise.
    func complete(_ cache: inout CacheOverrides) {
        if cache.setCookie == nil { cache.setCookie = setCookie }
        cache.isDisconnected = mode.isClosed
        cache.offlineStalenessLimit = offlineStalenessLimit
    }

    /// What that line says, as text: for who does not write a head.
    func via(for version: HTTPVersion) -> String {
        let line = version.isAtLeast11 ? viaLine : viaLineOfHTTP10
        return String(decoding: line.dropFirst("Via: ".utf8.count).dropLast(2), as: UTF8.self)
    }

    /// The Via line of a message that came in this version, with its CRLF.
    func writeVia(for version: HTTPVersion, into output: inout OutputSpan<UInt8>) {
        // Each by itself: what is chosen between would be retained.
        if version.isAtLeast11 {
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
