import HTTPMessage
import ProxyPolicy

/// The policy that allows the observed requests with the fewest rules that people can still read. It has `egress.default: deny`, and
/// rules with `allow`.
package struct LearnedPolicy {
    private(set) var rules: [LearnedRule] = []
    /// The https hosts to intercept, as `host` or `host:port`.
    private(set) var intercepted: Set<String> = []
    private(set) var tunnelled: Set<String> = []
    let connectPorts: Set<UInt16>
    let privateAddresses: [String]
    let requestCount: Int
    /// Notes in complete sentences: about observed requests that the policy does not allow, and about requests that it allows although
    /// they were not observed.
    package private(set) var remarks: [String] = []

    /// A summary for users, such as `2 rules from 7 requests`.
    package var summary: String { "\(Self.count(rules.count, "rule")) from \(Self.count(requestCount, "request"))" }

    /// - Parameters:
    ///   - limit: the maximum number of rules (`--max-rules`); `nil` for no limit.
    ///   - hasOwner: whether all hosts below a name belong to one owner, which is not so for a public suffix such as `co.uk`.
    package init(_ traffic: ObservedTraffic, atMost limit: Int?, hasOwner: (String) -> Bool) {
        connectPorts = traffic.connectPorts
        privateAddresses = traffic.privateAddresses.map(\.description).sorted()
        requestCount = traffic.requestCount
        let hosts = LearnedHosts(
            Set(traffic.requests.keys.map(\.origin.host) + traffic.tunnels.keys.map(\.origin.host)), hasOwner: hasOwner)
        var found = addRequests(traffic, hosts)
        found += addTunnels(traffic, hosts)
        rules = found.joinedByHosts()
        if let limit {
            rules = rules.merged(to: limit)
            if rules.count > limit {
                remarks.append(
                    "tunnels and requests need separate rules, so there are \(rules.count) rules, more than --max-rules (\(limit))"
                )
            }
        }
        addRemarks(on: traffic)
    }

    /// A set of origins whose requests share rules: the origins whose hosts match one pattern.
    private struct Site: Hashable {
        let scheme: RequestTarget.Scheme
        let host: String
        let port: UInt16
        var text: String { port == 443 ? host : "\(host):\(port)" }
    }

    private mutating func addRequests(_ traffic: ObservedTraffic, _ hosts: LearnedHosts) -> [LearnedRule] {
        var sites: [Site: [String: [(request: ObservedRequest, evidence: ObservedTraffic.Evidence)]]] = [:]
        for (request, evidence) in traffic.requests {
            let origin = request.origin
            let site = Site(scheme: origin.scheme, host: hosts.pattern(for: origin.host), port: origin.port)
            sites[site, default: [:]][request.method, default: []].append((request, evidence))
            if origin.scheme == .https { intercepted.insert(site.text) }
        }
        var ambiguousCount = 0
        var rules: [LearnedRule] = []
        for (site, byMethod) in sites { rules += Self.rules(for: site, byMethod, &ambiguousCount) }
        if ambiguousCount > 0 {
            remarks.append(
                "\(Self.count(ambiguousCount, "path")) can be interpreted in too many ways, so no rule allows \(ambiguousCount == 1 ? "it" : "them")"
            )
        }
        return rules
    }

    private static func rules(
        for site: Site, _ byMethod: [String: [(request: ObservedRequest, evidence: ObservedTraffic.Evidence)]],
        _ ambiguousCount: inout Int
    ) -> [LearnedRule] {
        // A HEAD gets less than a GET does, so a rule that allows GET also allows HEAD.
        let reads = byMethod["GET"] != nil && byMethod["HEAD"] != nil ? ["GET", "HEAD"] : []
        var groups = byMethod.filter { !reads.contains($0.key) }.map { (methods: Set([$0.key]), seen: $0.value) }
        if !reads.isEmpty { groups.append((Set(reads), reads.flatMap { byMethod[$0]! })) }
        var rules: [Set<String>: LearnedRule] = [:]
        var methodsByPattern: [String: Set<String>] = [:]
        var learned: [(methods: Set<String>, paths: [LearnedPath], evidence: ObservedTraffic.Evidence, example: String)] = []
        for (methods, seen) in groups {
            var forms: [(form: PathForm, requests: Int)] = []
            var evidence = ObservedTraffic.Evidence()
            let ordered = seen.sorted { ($0.request.path, $0.request.method) < ($1.request.path, $1.request.method) }
            for (request, times) in ordered {
                guard let readings = PathForm.readings(of: request.path) else {
                    ambiguousCount += 1
                    continue
                }
                forms += readings.map { ($0, times.requests) }
                evidence.add(times)
            }
            guard let first = forms.first else { continue }
            let joinsTrees = methods.isSubset(of: ["GET", "HEAD"])
            let paths = LearnedPath.patterns(of: forms, joinsTrees: joinsTrees)
            for path in paths { methodsByPattern[path.pattern, default: []].formUnion(methods) }
            let host = ordered[0].request.origin.text
            learned.append((methods, paths, evidence, "\(methods.min()!) \(host)\(first.form.text)"))
        }
        // Patterns for the same methods are put into one rule.
        for (methods, paths, evidence, example) in learned {
            for (together, members) in Dictionary(grouping: paths, by: { methodsByPattern[$0.pattern]! }) {
                var rule = LearnedRule(
                    kind: .requests, schemes: [site.scheme], hosts: [site.host], ports: [site.port], methods: together,
                    paths: members)
                rule.evidence = members.count == paths.count ? evidence : .init(requests: members.reduce(0) { $0 + $1.requests })
                rule.example = members.count == paths.count ? example : "\(methods.min()!) \(example.split(separator: " ")[1])"
                rules[together] = rules[together].map { $0.merged(with: rule) } ?? rule
            }
        }
        return Array(rules.values)
    }

    private mutating func addTunnels(_ traffic: ObservedTraffic, _ hosts: LearnedHosts) -> [LearnedRule] {
        traffic.tunnels.map { tunnel, requests in
            let origin = tunnel.origin
            let site = Site(scheme: .https, host: hosts.pattern(for: origin.host), port: origin.port)
            if !intercepted.contains(site.text) { tunnelled.insert(site.text) }
            var rule = LearnedRule(
                kind: tunnel.isClearText ? .anyTunnel : .tunnel, schemes: [.https], hosts: [site.host], ports: [site.port])
            rule.evidence = .init(requests: requests)
            rule.example = "CONNECT \(origin.host):\(origin.port)"
            return rule
        }
    }

    private mutating func addRemarks(on traffic: ObservedTraffic) {
        let denied = traffic.deniedCount
        if denied > 0 {
            remarks.append(
                "\(Self.count(denied, "request")) \(denied == 1 ? "was" : "were") denied, so no rule was learned from \(denied == 1 ? "it" : "them")"
            )
        }
        let leftOut = traffic.leftOutCount
        if leftOut > 0 {
            remarks.append(
                "no rule can be made for \(Self.count(leftOut, "request")): the host or method is not valid in rules, or the limit of "
                    + "\(LearningLimits.requests) different requests is reached"
            )
        }
        for host in traffic.failedHosts.sorted() {
            remarks.append("\(host): its tunnel failed before Larder saw a request, so no rule allows the host")
        }
        if rules.contains(where: { $0.kind != .requests }) {
            remarks.append(
                "a rule for a tunnel allows every request to its hosts, because Larder cannot see requests in a tunnel")
        }
        if rules.contains(where: { $0.paths.contains(where: \.isCut) }) {
            remarks.append("a path was too long for a rule, so the rule allows every path with the same beginning")
        }
        if rules.contains(where: \.isWidened) {
            remarks.append(
                "--max-rules merged rules: a merged rule allows each of its methods on each of its paths at each of its hosts")
        }
    }

    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
