/// One `http_access` line: the conditions that a request must meet to match the line.
struct SquidRule {
    let line: Int
    let allows: Bool
    /// The forms of requests that the line's `proto` words allow.
    private(set) var forms = Set(SquidForm.allCases)
    /// The hosts, one of which a request has to match; `nil` if the line matches every host.
    private(set) var hosts: [String]?
    private(set) var ports: [ClosedRange<UInt16>]?
    private(set) var methods: [String]?
    private(set) var paths: [String]?
    private(set) var clients: [String]?
    /// URLs, if the line has these instead of hosts, ports, schemes and paths.
    private(set) var urls: [SquidACL.URLPrefix]?
    private(set) var destinations: [String]?
    /// A request that matches one of these exclusions does not match the line.
    private(set) var exclusions: [SquidExclusion] = []
    /// Whether no request can match the line.
    private(set) var matchesNothing = false

    init(line: Int, allows: Bool) {
        self.line = line
        self.allows = allows
    }

    /// Whether the line matches every request.
    var isForEveryRequest: Bool {
        !matchesNothing && forms.count == SquidForm.allCases.count && hosts == nil && ports == nil && methods == nil
            && paths == nil
            && clients == nil && urls == nil && destinations == nil && exclusions.isEmpty
    }

    /// Whether the line looks at more of a request than its host, port and client.
    var looksInside: Bool { methods != nil || paths != nil || urls != nil || exclusions.contains(where: \.looksInside) }

    /// Whether the line looks only at addresses of destinations.
    var isForDestinationsAlone: Bool {
        var other = self
        other.destinations = nil
        return destinations != nil && other.isForEveryRequest
    }

    /// Whether the line has `deny` and is for https URLs but not for CONNECT, or for CONNECT but not for https URLs. Larder treats both
    /// as https.
    var deniesOtherForms: Bool {
        forms.contains(.https) != forms.contains(.connect) && urls == nil && paths == nil && methods == nil
    }

    /// Whether the line can match a request of this form, judging by its methods and paths. A CONNECT has no path.
    func matches(_ form: SquidForm) -> Bool {
        guard forms.contains(form), !matchesNothing else { return false }
        if form == .connect {
            let isExcluded = exclusions.contains { $0.methods.contains("CONNECT") }
            return (methods?.contains("CONNECT") ?? true) && paths == nil && urls == nil && !isExcluded
        }
        return methods?.contains { $0 != "CONNECT" } ?? true
    }

    /// Adds the condition of an ACL. If only a part of the ACL can be expressed, a line with `allow` uses that part.
    /// - Returns: why no rule can express the condition; `nil` if a rule can.
    mutating func add(_ acl: SquidACL, negated isNegated: Bool) -> String? {
        if let fault = acl.fault, isNegated || !allows || acl.isEmpty { return fault }
        if acl.isEmpty || acl.isEverything {
            if acl.isEverything == isNegated { matchesNothing = true }
            return nil
        }
        if acl.isManager { return addManager(negated: isNegated) }
        return isNegated ? exclude(acl) : require(acl)
    }

    private mutating func addManager(negated isNegated: Bool) -> String? {
        if allows || isNegated { return "Larder has no cache manager" }
        return urls != nil ? Self.twice : set(\.paths, ["/squid-internal-mgr/**"])
    }

    private mutating func set<Value>(_ place: WritableKeyPath<SquidRule, [Value]?>, _ values: [Value]) -> String? {
        if self[keyPath: place] != nil { return Self.twice }
        self[keyPath: place] = values
        return nil
    }

    private static let twice = "the line has two conditions of the same kind, and a rule can have only one of each kind"
    private static let destination = "a rule matches the host in the URL, not the addresses of this host"

    private mutating func require(_ acl: SquidACL) -> String? {
        if !acl.forms.isEmpty || acl.type == "proto" {
            forms.formIntersection(acl.forms)
            if forms.isEmpty { matchesNothing = true }
            return nil
        }
        if !acl.urls.isEmpty { return hosts != nil || ports != nil || paths != nil ? Self.twice : set(\.urls, acl.urls) }
        if urls != nil, !acl.hosts.isEmpty || !acl.ports.isEmpty || !acl.paths.isEmpty { return Self.twice }
        if !acl.hosts.isEmpty { return set(\.hosts, acl.hosts) }
        if !acl.ports.isEmpty { return set(\.ports, acl.ports) }
        if !acl.methods.isEmpty { return set(\.methods, acl.methods) }
        if !acl.paths.isEmpty { return set(\.paths, acl.paths) }
        if !acl.clients.isEmpty { return set(\.clients, acl.clients) }
        return allows ? Self.destination : set(\.destinations, acl.destinations)
    }

    private mutating func exclude(_ acl: SquidACL) -> String? {
        if acl.type == "proto" {
            forms.subtract(acl.forms)
            if forms.isEmpty { matchesNothing = true }
            return nil
        }
        if !acl.destinations.isEmpty { return Self.destination }
        if !acl.ports.isEmpty, ports == nil, urls == nil {
            ports = Self.otherPorts(than: acl.ports)
            if ports?.isEmpty == true { matchesNothing = true }
            return nil
        }
        exclusions.append(SquidExclusion(acl))
        return nil
    }

    private static func otherPorts(than ranges: [ClosedRange<UInt16>]) -> [ClosedRange<UInt16>] {
        var free: [ClosedRange<UInt16>] = []
        var next = 1
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if Int(range.lowerBound) > next { free.append(UInt16(next)...(range.lowerBound - 1)) }
            next = max(next, Int(range.upperBound) + 1)
        }
        if next <= 65_535 { free.append(UInt16(next)...65_535) }
        return free
    }
}

/// A negated word of a line. The line does not match requests that match one of the word's values.
struct SquidExclusion {
    let hosts: [String]
    let ports: [ClosedRange<UInt16>]
    let methods: [String]
    let paths: [String]
    let clients: [String]
    let urls: [SquidACL.URLPrefix]

    init(_ acl: SquidACL) {
        hosts = acl.hosts
        ports = acl.ports
        methods = acl.methods
        paths = acl.paths
        clients = acl.clients
        urls = acl.urls
    }

    var looksInside: Bool { !methods.isEmpty || !paths.isEmpty || !urls.isEmpty }
}
