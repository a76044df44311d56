import EventLoop
import HTTPMessage
import HTTPWire
import ServerTrust

/// What CONNECT gets, by host and port: the nearest entry holds, as of trust policies.
package struct ConnectPolicy: Sendable {
    private var ways = HostTable<ConnectWay>()
    private let fallback: ConnectWay
    /// Hosts that get a tunnel where the fallback would have them intercepted.
    private var unintercepted = HostTable<Bool>()
    /// Whether there is a host that is intercepted.
    private var isIntercepting: Bool
    /// Those whose clients have refused our authority, where that is learned.
    let refusals = RefusedInterceptions()
    /// What a client gets that speaks HTTP/2 alone to a host that is intercepted: a tunnel once the server has been judged, or nothing.
    package var tunnelsOtherProtocols = true
    /// For how long a host of the fallback gets a tunnel once a client has refused our authority; 0: it does not.
    package var refusalsKeptMilliseconds = 0
    private var hasEntries = false
    /// Whether there is a host that CONNECT does not simply reach. Where there is none, nobody is asked about any host.
    package private(set) var isGuarding: Bool
    /// Whether a ClientHello may name nobody, and whether it may have another one encrypted in it.
    package var allowsMissingName = true
    package var allowsEncryptedHello = true
    /// Whether what clients send first is looked into: where a host is guarded, or not every ClientHello may pass.
    var isAskedAboutHellos: Bool { isGuarding || !allowsMissingName || !allowsEncryptedHello }
    /// How long the verdict of a probe serves further tunnels.
    package var keptMilliseconds = 60_000
    /// Whether the fallback denies hosts altogether, and not CONNECT alone.
    package var deniesUnnamedHosts = false
    /// Of all loops, and of this reading of the settings alone: those of another one begin with none.
    let kept = TrustVerdictCache()

    /// - Parameter fallback: for hosts without an entry.
    package init(fallback: ConnectWay = .tunnel) {
        self.fallback = fallback
        isGuarding = fallback != .tunnel
        isIntercepting = fallback == .intercept
    }

    /// - Returns: whether it is the first for these hosts; a second one is not kept.
    @discardableResult
    package mutating func insert(_ way: ConnectWay, for scope: HostScope) -> Bool {
        guard ways.insert(way, for: scope) else { return false }
        hasEntries = true
        if way != .tunnel { isGuarding = true }
        if way == .intercept { isIntercepting = true }
        return true
    }

    /// Has the fallback intercept none of these hosts.
    package mutating func exceptFromInterception(_ scope: HostScope) { _ = unintercepted.insert(true, for: scope) }

    /// What CONNECT to a host gets. What is no host is denied, unless every host gets a tunnel.
    /// - Parameter host: as `Origin.judgedHost` gives it.
    package func way(host: String, port: UInt16) -> ConnectWay {
        guard isGuarding else { return .tunnel }
        guard let identity = ReferenceIdentity(host) else { return .deny }
        return way(of: identity, port: port)
    }

    /// Whether no request may reach the host, by CONNECT or without it.
    func deniesHost(_ host: String, port: UInt16) -> Bool {
        guard deniesUnnamedHosts, let identity = ReferenceIdentity(host) else { return false }
        return ways.value(of: identity, port: port) == nil
    }

    private func way(of identity: ReferenceIdentity, port: UInt16) -> ConnectWay {
        if let way = ways.value(of: identity, port: port) { return way }
        return fallback == .intercept && unintercepted.value(of: identity, port: port) == true ? .tunnel : fallback
    }
}

// MARK: Tunnels that are entered

extension ConnectPolicy {
    /// Whether what a client sends first decides what becomes of its tunnel, before anybody is connected to: where its host may be
    /// intercepted, and at the port at which clients speak plain HTTP.
    func isEntered(host: String, port: UInt16) -> Bool {
        if mayIntercept(host: host, port: port) { return true }
        return port == 80 && way(host: host, port: port) != .deny
    }

    /// Whether TLS with the host may be one that ends here: it is intercepted, or is an address that may stand for one that is.
    func mayIntercept(host: String, port: UInt16) -> Bool {
        guard isIntercepting else { return false }
        return switch way(host: host, port: port) {
        case .deny: false
        case .intercept: true
        case .tunnel, .probe: isJudgedByName(host: host, port: port)
        }
    }

    /// What becomes of an entered tunnel whose client begins with a ClientHello.
    /// - Parameter now: of the loop, for what has been learned of the host's clients.
    func decideIntercepted(on hello: ClientHello, host: String, port: UInt16, at now: MonotonicTime) -> InterceptionDecision {
        if hello.hasEncryptedHello, !allowsEncryptedHello { return .refuse(.encryptedHello) }
        var judged = host
        var way = way(host: host, port: port)
        if let name = hello.judgedName {
            guard let named = ReferenceIdentity(name) else { return .refuse(.nameMismatch) }
            if named != ReferenceIdentity(host) {
                // Whom an address stands for the client has to say.
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
        guard hello.mayMeanHTTP1 else {
            return tunnelsOtherProtocols ? .tunnelUninspected(host: judged, .noHTTP1Offered) : .refuse(.otherProtocol)
        }
        return isLearned(judged, port: port, at: now)
            ? .tunnelUninspected(host: judged, .certificateRefused) : .intercept(host: judged)
    }

    /// Whether a client that speaks neither TLS nor HTTP/1 may have a tunnel to a host that the fallback intercepts: at the port of plain
    /// HTTP, as gRPC and HTTP/2 with prior knowledge are sent there, and where no entry names the host. An address may stand for any host.
    func permitsUninspected(host: String, port: UInt16) -> Bool {
        guard port == 80, fallback == .intercept, let identity = ReferenceIdentity(host) else { return false }
        if isJudgedByName(host: host, port: port) { return !hasEntries }
        return ways.value(of: identity, port: port) == nil
    }

    /// A client has refused what we showed it for this host.
    func noteRefusal(host: String, port: UInt16, at now: MonotonicTime) {
        guard refusalsKeptMilliseconds > 0, mayLearn(host, port: port) else { return }
        refusals.note(host: host, port: port, until: now.advanced(milliseconds: refusalsKeptMilliseconds), at: now)
    }

    private func isLearned(_ host: String, port: UInt16, at now: MonotonicTime) -> Bool {
        refusalsKeptMilliseconds > 0 && mayLearn(host, port: port) && refusals.holds(host: host, port: port, at: now)
    }

    /// Nothing is learned of a host that the settings name.
    private func mayLearn(_ host: String, port: UInt16) -> Bool {
        ReferenceIdentity(host).map { ways.value(of: $0, port: port) == nil } ?? false
    }
}

// MARK: What the client sends first

extension ConnectPolicy {
    /// What CONNECT gets before its client has sent anything. An address of which no entry says what it is waits for the name that the
    /// client means to find there.
    func wayBeforeHello(host: String, port: UInt16) -> ConnectWay {
        let way = wayOfTunnel(host: host, port: port)
        return way == .probe && isJudgedByName(host: host, port: port) ? .tunnel : way
    }

    /// What is not intercepted after all, since it is no HTTP/1, goes to a server that has been judged.
    private func wayOfTunnel(host: String, port: UInt16) -> ConnectWay {
        let way = way(host: host, port: port)
        return way == .intercept ? .probe : way
    }

    /// What becomes of a tunnel.
    /// - Parameters:
    ///   - hello: `nil` where the client speaks no TLS.
    ///   - host: of the authority, as `Origin.judgedHost` gives it.
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
        // With the name of one that is not looked into nobody goes past those that are.
        case (.address, .tunnel) where isByName && isIntercepting: return .judge(host: name)
        // Nobody's pins are gone round.
        case (_, .tunnel) where way == .tunnel || isByName: return .pass
        default: return .refuse(.nameMismatch)
        }
    }

    /// Why a tunnel that is allowed for this host alone ends: its client does not speak TLS with that host, as far as the ClientHello shows. An
    /// address cannot be named in it (RFC 6066 §3), so for an address no name has to be there.
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
    /// The name in it as policies know it. A byte that is none of ASCII makes it nobody's.
    fileprivate var judgedName: String? {
        serverName.map { name in
            // In Unicode other characters than its own are a letter in lower case.
            guard name.allSatisfy({ $0 < 0x80 }) else { return "" }
            let text = String(decoding: name, as: UTF8.self).lowercased()
            return text.hasSuffix(".") ? String(text.dropLast()) : text
        }
    }
}

extension Origin {
    /// The host as policies know it, so that no spelling goes round them: an address as it is usually written, whatever look-up would
    /// understand, and a name without its final dot.
    package var judgedHost: String {
        let octets = Array(host.utf8)
        if let address = IPAddress(asLookedUp: octets.span) { return "\(address)" }
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }
}
