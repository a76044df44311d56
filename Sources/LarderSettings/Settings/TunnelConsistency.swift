import HTTPMessage
import PolicyTools
import ProxyPolicy
import UpstreamTransport

/// Finds rules that look at the path or method of requests to a host, although CONNECT to that host opens a tunnel. Larder sees no
/// request in the tunnel.
///
/// Under `egress.default: deny`, Larder must intercept a host whose rules all look at requests. Otherwise Larder would deny the host's
/// CONNECT with 403, so this is a problem of the settings. A lesser contradiction is a warning.
struct TunnelConsistency {
    private let settings: LarderSettings
    private let connect: ConnectPolicy
    private let origin: SettingsReader.Origin
    private var found: [String: PolicyRule?] = [:]
    /// The hosts to which rules allow tunnels.
    private let tunnelled: [HostPattern]
    private var comparisonsLeft = Self.comparisonLimit
    private(set) var problems: [LocatedProblem] = []
    private(set) var warnings: [String] = []

    /// The maximum number of problems and warnings together that are reported.
    private static let limit = 20
    /// The maximum number of comparisons between the hosts of tunnels and the hosts of rules that deny.
    private static let comparisonLimit = 100_000
    /// A label that stands for any host name directly below a pattern. No settings contain this label.
    private static let anyLabel = "any-host"

    /// - Parameters:
    ///   - connect: for each host, how CONNECT is handled.
    ///   - origin: the source of the rules.
    init(_ settings: LarderSettings, _ connect: ConnectPolicy, rulesFrom origin: SettingsReader.Origin) {
        self.settings = settings
        self.connect = connect
        self.origin = origin
        tunnelled = settings.rules.compiled.rules.filter { $0.allows && $0.condition.allowsTunnels }.flatMap(\.condition.hosts)
        for (number, rule) in settings.rules.compiled.rules.enumerated() where !rule.condition.allowsTunnels {
            if problems.count + warnings.count >= Self.limit { break }
            check(rule, number: number)
        }
    }

    private mutating func check(_ rule: PolicyRule, number: Int) {
        var hosts = rule.condition.hosts.isEmpty ? [.any] : rule.condition.hosts
        if rule.denies {
            if rule.condition.deniesConnect { return }
            hosts += tunnelledHosts(within: hosts)
        }
        for port in securePorts(of: rule.condition) {
            for pattern in hosts {
                let (host, kind) = Self.host(in: pattern)
                let way = connect.way(host: host, port: port)
                if way == .deny || way == .intercept { continue }
                if report(rule, number: number, pattern, TunnelOfHost(host: host, kind: kind, port: port)) { return }
            }
        }
    }

    private struct TunnelOfHost {
        let host: String
        let kind: RequestTarget.HostKind
        let port: UInt16
    }

    /// - Returns: whether there was a problem or warning to report.
    private mutating func report(_ rule: PolicyRule, number: Int, _ pattern: HostPattern, _ tunnel: TunnelOfHost) -> Bool {
        let name = Self.name(of: pattern)
        let tunneled = pattern == .any ? "hosts without a policy of their own" : name
        let (layer, place) = place(ofRule: number)
        guard settings.egress.default == .deny else {
            guard rule.condition.schemes == [.https] else { return false }
            warnings.append(
                "\(LocatedProblem.position(of: place, in: layer)): the rule `\(rule.name)` looks at https requests, but Larder does "
                    + "not intercept \(tunneled), so Larder does not see these requests")
            return true
        }
        guard rule.allows || rule.asks || rule.denies(under: settings.policy.egress) else { return false }
        if let other = ruleAllowing(tunnel), rule.allows || rule.asks || !isDenied(tunnel) {
            warnings.append(
                "\(LocatedProblem.position(of: place, in: layer)): the rule `\(rule.name)` inspects requests, but the rule "
                    + "`\(other.name)` allows tunnels to \(name), which hide the requests")
            return true
        }
        guard rule.allows || rule.asks else { return false }
        let entry = pattern == .any ? "tls: {default: {connect: intercept}}" : "tls: {hosts: {\(name): {connect: intercept}}}"
        problems.append(
            LocatedProblem(
                source: layer,
                problem: SettingsProblem(
                    "the rule `\(rule.name)` looks at requests, but Larder does not intercept \(tunneled), "
                        + "so Larder would refuse tunnels to \(tunneled). Write `\(entry)`; "
                        + "or remove path, method and query; or, for http only, write `scheme: http`",
                    path: "rules[\(number)].match", at: place)))
        return true
    }

    private mutating func ruleAllowing(_ tunnel: TunnelOfHost) -> PolicyRule? {
        let key = "\(tunnel.host) \(tunnel.port)"
        if let rule = found[key] { return rule }
        let authority = TunnelAuthority(scheme: .https, host: Array(tunnel.host.utf8), kind: tunnel.kind, port: tunnel.port)
        let rule = settings.policy.rules(for: authority).tunnelling
        found[key] = .some(rule)
        return rule
    }

    /// Whether a rule denies the CONNECT itself.
    private func isDenied(_ tunnel: TunnelOfHost) -> Bool {
        let host = tunnel.kind == .ipv6 ? "[\(tunnel.host)]" : tunnel.host
        // The request is always valid, because the host is from a rule.
        guard let request = try? PolicyRequest("CONNECT", "\(host):\(tunnel.port)") else { return false }
        return PolicyDecision(request, under: settings.policy).word == .deniedByRule
    }

    /// The hosts to which rules allow tunnels and which one of these patterns matches.
    private mutating func tunnelledHosts(within patterns: [HostPattern]) -> [HostPattern] {
        var hosts: [HostPattern] = []
        for pattern in patterns {
            if case .name = pattern { continue }
            if case .address = pattern { continue }
            for host in tunnelled where comparisonsLeft > 0 && host != pattern {
                comparisonsLeft -= 1
                if pattern.includes(host) { hosts.append(host) }
            }
        }
        return hosts
    }

    /// For each range of ports of the condition, one port at which https requests may match and to which clients may open tunnels. Port
    /// 80 is left out: it is for plain HTTP, which Larder sees.
    private func securePorts(of condition: RuleCondition) -> [UInt16] {
        let ports: [UInt16]
        switch settings.tunnel.ports {
        case .only(let listed): ports = listed
        case .any:
            ports =
                condition.ports.isEmpty
                ? [443] : condition.ports.compactMap { range in range.contains(443) ? 443 : range.first { $0 != 80 } }
        }
        return ports.filter { $0 != 80 && condition.mayMatch(scheme: .https, port: $0) }
    }

    private static func name(of pattern: HostPattern) -> String {
        switch pattern {
        case .any: "every host"
        case .name(let name): String(decoding: name, as: UTF8.self)
        case .below(let name): "\"*.\(String(decoding: name, as: UTF8.self))\""
        case .address(let address): address.family == .ipv4 ? "\(address)" : "\"\(address)\""
        }
    }

    private static func host(in pattern: HostPattern) -> (String, RequestTarget.HostKind) {
        switch pattern {
        case .any: (anyLabel, .name)
        case .name(let name): (String(decoding: name, as: UTF8.self), .name)
        case .below(let name): ("\(anyLabel).\(String(decoding: name, as: UTF8.self))", .name)
        case .address(let address): ("\(address)", address.family == .ipv4 ? .ipv4 : .ipv6)
        }
    }

    /// The source of the rule, and the place of the rule's first key that looks at requests.
    private func place(ofRule number: Int) -> (layer: String, place: SettingsPlace) {
        let layer = origin.following.flatMap { number >= $0.after ? $0.layer : nil } ?? origin.layer
        guard case .sequence(let nodes)? = settings.rules.node?.value, number < nodes.count else { return (layer, origin.place) }
        guard case .mapping(let entries)? = nodes[number].entry(at: ["match"])?.value.value else {
            return (layer, nodes[number].place)
        }
        let looking = entries.first { !["host", "port", "scheme"].contains($0.key) }
        return (layer, looking?.keyPlace ?? nodes[number].place)
    }
}

extension RuleCondition {
    /// Whether a rule that denies and has this condition denies the CONNECT of each tunnel to its hosts.
    fileprivate var deniesConnect: Bool {
        methods.contains { $0.method == .connect } && queries.isEmpty && contentLengths.isEmpty && operations.isEmpty
            && paths.allSatisfy(\.matchesEveryPath)
    }
}

extension HostPattern {
    /// Whether this pattern matches every host that the other pattern matches.
    fileprivate func includes(_ other: HostPattern) -> Bool {
        switch (self, other) {
        case (.any, _): true
        case (.below(let suffix), .name(let name)), (.below(let suffix), .below(let name)):
            name.count > suffix.count && name.hasSuffix(suffix) && name[name.count - suffix.count - 1] == UInt8(ascii: ".")
        default: self == other
        }
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ suffix: [UInt8]) -> Bool { self.suffix(suffix.count).elementsEqual(suffix) }
}
