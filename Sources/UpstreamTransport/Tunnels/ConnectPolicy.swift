import EventLoop
import HTTPMessage
import HTTPWire
import ServerTrust

/// The handling of CONNECT by host and port: the most specific entry wins, as with trust policies.
package struct ConnectPolicy: Sendable {
    private var ways = HostTable<ConnectWay>()
    private let fallback: ConnectWay
    /// Hosts that get a tunnel although hosts without an entry are intercepted.
    private var unintercepted = HostTable<Bool>()
    /// Whether any host is intercepted.
    private var isIntercepting: Bool
    /// Hosts whose clients have rejected our CA, if that is recorded.
    let refusals = RefusedInterceptions()
    /// Whether a client that offers only HTTP/2 to an intercepted host is intercepted.
    package var interceptsHTTP2 = false
    /// Whether a client whose protocols Larder does not intercept gets a tunnel, after the server was verified. If not, the tunnel is
    /// refused.
    package var tunnelsOtherProtocols = true
    /// For how long a host without an entry gets a tunnel after a client has rejected our CA; 0: never.
    package var refusalsKeptMilliseconds = 0
    private var hasEntries = false
    /// Whether CONNECT is denied, probed or intercepted for any host. If not, hosts are not looked up in the policy.
    package private(set) var isGuarding: Bool
    /// Whether a ClientHello may omit the server name, and whether it may contain an encrypted ClientHello.
    package var allowsMissingName = true
    package var allowsEncryptedHello = true
    /// Whether the first bytes of clients are inspected: if CONNECT is denied, probed or intercepted for any host, or if not every
    /// ClientHello is allowed.
    var isAskedAboutHellos: Bool { isGuarding || !allowsMissingName || !allowsEncryptedHello }
    /// For how long the verdict of a probe is reused for further tunnels.
    package var keptMilliseconds = 60_000
    /// Whether all requests to hosts without an entry are denied, not only CONNECT.
    package var deniesUnnamedHosts = false
    /// The cached verdicts. All loops share the cache, but only for this version of the settings; a reload starts with an empty cache.
    private(set) var kept = TrustVerdictCache()

    /// The same settings with an empty cache of verdicts.
    var withoutVerdicts: ConnectPolicy {
        var policy = self
        policy.kept = TrustVerdictCache()
        return policy
    }

    /// - Parameter fallback: the handling of CONNECT to hosts without an entry.
    package init(fallback: ConnectWay = .tunnel) {
        self.fallback = fallback
        isGuarding = fallback != .tunnel
        isIntercepting = fallback == .intercept
    }

    /// - Returns: whether it is the first entry for these hosts; a second one is not stored.
    @discardableResult
    package mutating func insert(_ way: ConnectWay, for scope: HostScope) -> Bool {
        guard ways.insert(way, for: scope) else { return false }
        hasEntries = true
        if way != .tunnel { isGuarding = true }
        if way == .intercept { isIntercepting = true }
        return true
    }

    /// Excludes these hosts from interception, if hosts without an entry are intercepted.
    package mutating func exceptFromInterception(_ scope: HostScope) { _ = unintercepted.insert(true, for: scope) }

    /// The handling of CONNECT to a host. An invalid host is denied, unless every host gets a tunnel.
    /// - Parameter host: as returned by `Origin.judgedHost`.
    package func way(host: String, port: UInt16) -> ConnectWay {
        guard isGuarding else { return .tunnel }
        guard let identity = ReferenceIdentity(host) else { return .deny }
        return way(of: identity, port: port)
    }

    /// Whether no request may reach the host, by CONNECT or otherwise.
    func deniesHost(_ host: String, port: UInt16) -> Bool {
        guard deniesUnnamedHosts, let identity = ReferenceIdentity(host) else { return false }
        return ways.value(of: identity, port: port) == nil
    }

    private func way(of identity: ReferenceIdentity, port: UInt16) -> ConnectWay {
        if let way = ways.value(of: identity, port: port) { return way }
        return fallback == .intercept && unintercepted.value(of: identity, port: port) == true ? .tunnel : fallback
    }
}

// MARK: Intercepted tunnels

extension ConnectPolicy {
    /// Whether the client's first bytes decide what happens to its tunnel, before any connection is made. They do if the host may be
    /// intercepted. At port 80 they do for every host, unless CONNECT to the host is denied.
    func isEntered(host: String, port: UInt16) -> Bool {
        if mayIntercept(host: host, port: port) { return true }
        return port == 80 && way(host: host, port: port) != .deny
    }

    /// Whether TLS with the host may be intercepted: the settings say so, or the host is an address and the ClientHello decides which host
    /// the address belongs to.
    func mayIntercept(host: String, port: UInt16) -> Bool {
        guard isIntercepting else { return false }
        return switch way(host: host, port: port) {
        case .deny: false
        case .intercept: true
        case .tunnel, .probe: isJudgedByName(host: host, port: port)
        }
    }

    /// The decision for a tunnel whose client has sent a ClientHello, before any connection is made.
    /// - Parameter now: the loop's time, to check recorded rejections.
    func decideIntercepted(on hello: ClientHello, host: String, port: UInt16, at now: MonotonicTime) -> InterceptionDecision {
        if hello.hasEncryptedHello, !allowsEncryptedHello { return .refuse(.encryptedHello) }
        var judged = host
        var way = way(host: host, port: port)
        if let name = hello.judgedName {
            guard let named = ReferenceIdentity(name) else { return .refuse(.nameMismatch) }
            if named != ReferenceIdentity(host) {
                // Only an address without an entry may be replaced by the host that the ClientHello names.
                guard isJudgedByName(host: host, port: port) else { return way == .intercept ? .refuse(.nameMismatch) : .tunnel }
                judged = name
                way = self.way(of: named, port: port)
            }
        } else if !allowsMissingName {
            return .refuse(.nameMissing)
        }
        switch way {
        case .tunnel, .probe: return .tunnel
        case .deny: return .refuse(denial(of: judged, port: port))
        case .intercept: break
        }
        guard hello.mayMeanHTTP1 || (interceptsHTTP2 && hello.offersHTTP2) else {
            return tunnelsOtherProtocols ? .tunnelUninspected(host: judged, .noHTTP1Offered) : .refuse(.otherProtocol)
        }
        return isLearned(judged, port: port, at: now)
            ? .tunnelUninspected(host: judged, .certificateRefused) : .intercept(host: judged)
    }

    /// Whether a client without TLS and HTTP/1 may have a tunnel to a host that is intercepted because it has no entry. The client may have
    /// one only at port 80, where clients use gRPC and HTTP/2 with prior knowledge. An address may belong to any host, so for an address
    /// there must be no entries at all.
    func permitsUninspected(host: String, port: UInt16) -> Bool {
        guard port == 80, fallback == .intercept, let identity = ReferenceIdentity(host) else { return false }
        if isJudgedByName(host: host, port: port) { return !hasEntries }
        return ways.value(of: identity, port: port) == nil
    }

    /// Records that a client has rejected our certificate for this host.
    func noteRefusal(host: String, port: UInt16, at now: MonotonicTime) {
        guard refusalsKeptMilliseconds > 0, mayLearn(host, port: port) else { return }
        refusals.note(host: host, port: port, until: now.advanced(milliseconds: refusalsKeptMilliseconds), at: now)
    }

    private func isLearned(_ host: String, port: UInt16, at now: MonotonicTime) -> Bool {
        refusalsKeptMilliseconds > 0 && mayLearn(host, port: port) && refusals.holds(host: host, port: port, at: now)
    }

    /// Rejections are not recorded for hosts with an entry in the settings.
    private func mayLearn(_ host: String, port: UInt16) -> Bool {
        ReferenceIdentity(host).map { ways.value(of: $0, port: port) == nil } ?? false
    }
}

// MARK: The client's first bytes

extension ConnectPolicy {
    /// The handling of CONNECT before the client has sent anything. An address without an entry waits for the host name that
    /// the client will send.
    func wayBeforeHello(host: String, port: UInt16) -> ConnectWay {
        let way = wayOfTunnel(host: host, port: port)
        return way == .probe && isJudgedByName(host: host, port: port) ? .tunnel : way
    }

    /// If a host would be intercepted, but its client does not speak HTTP/1, a probe verifies the server instead.
    private func wayOfTunnel(host: String, port: UInt16) -> ConnectWay {
        let way = way(host: host, port: port)
        return way == .intercept ? .probe : way
    }

    /// The decision for a tunnel.
    /// - Parameters:
    ///   - hello: `nil` if the client does not speak TLS.
    ///   - host: the host of the authority, as returned by `Origin.judgedHost`.
    func decide(on hello: ClientHello?, host: String, port: UInt16) -> HelloDecision {
        let way = wayOfTunnel(host: host, port: port)
        if way == .deny { return .refuse(denial(of: host, port: port)) }
        guard let hello else { return way == .probe ? .refuse(.notTLS) : .pass }
        if hello.hasEncryptedHello, !allowsEncryptedHello { return .refuse(.encryptedHello) }
        let identity = ReferenceIdentity(host)
        let isByName = isJudgedByName(host: host, port: port)
        guard let name = hello.judgedName else {
            if !allowsMissingName { return .refuse(.nameMissing) }
            return isByName && way == .probe ? .judge(host: host) : .pass
        }
        let named = ReferenceIdentity(name)
        if let named, named == identity { return isByName && way == .probe ? .judge(host: host) : .pass }
        var wayOfNamed = named.map { self.way(of: $0, port: port) } ?? (isGuarding ? .deny : .tunnel)
        if wayOfNamed == .intercept { wayOfNamed = .probe }
        switch (identity, wayOfNamed) {
        case (.address, .probe): return .judge(host: name)
        // A client must not bypass the inspection of an address by naming a host that is not inspected.
        case (.address, .tunnel) where isByName && isIntercepting: return .judge(host: name)
        // The named host gets a tunnel only if the host of the CONNECT need not be verified: otherwise, the name would bypass the pins of
        // that host.
        case (_, .tunnel) where way == .tunnel || isByName: return .pass
        default: return .refuse(.nameMismatch)
        }
    }

    /// Why a tunnel is refused that is allowed only for TLS with this host; `nil` if the ClientHello is for this host. A ClientHello cannot
    /// name an address (RFC 6066 §3), so for an address it need not contain a name.
    static func refusal(of hello: ClientHello?, naming host: String) -> TunnelRefusal? {
        guard let hello else { return .notTLS }
        if hello.hasEncryptedHello { return .encryptedHello }
        let identity = ReferenceIdentity(host)
        guard let name = hello.judgedName else {
            if case .address = identity { return nil }
            return .nameMissing
        }
        return ReferenceIdentity(name) == identity && identity != nil ? nil : .nameMismatch
    }

    private func denial(of host: String, port: UInt16) -> TunnelRefusal {
        deniesHost(host, port: port) ? .hostDenied : .denied
    }

    /// Whether the host is an address without an entry of its own.
    func isJudgedByName(host: String, port: UInt16) -> Bool {
        guard case .address(let address)? = ReferenceIdentity(host) else { return false }
        return ways.value(of: .address(address), port: port) == nil
    }
}

extension ClientHello {
    /// The server name in the form used by policies. A name with a byte outside ASCII becomes empty, and matches no host.
    fileprivate var judgedName: String? {
        serverName.map { name in
            // Some characters outside ASCII have an ASCII letter as their lower case, so the check comes before the conversion to lower
            // case.
            guard name.allSatisfy({ $0 < 0x80 }) else { return "" }
            let text = String(decoding: name, as: UTF8.self).lowercased()
            return text.hasSuffix(".") ? String(text.dropLast()) : text
        }
    }
}

extension Origin {
    /// The host in the form used by policies, so that another spelling cannot bypass them. An address, in every spelling that a resolver
    /// accepts, gets its usual form; a name loses its final dot.
    package var judgedHost: String {
        let octets = Array(host.utf8)
        if let address = IPAddress(asLookedUp: octets.span) { return "\(address)" }
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }
}
