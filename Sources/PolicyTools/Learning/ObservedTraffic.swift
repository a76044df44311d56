import HTTPMessage

/// The requests of a run, a log or a recording, each with the number of times that it was observed.
package struct ObservedTraffic: Sendable {
    /// How often a request was observed, and with which responses.
    struct Evidence: Sendable {
        var requests = 0
        /// The number of responses by status.
        var statuses: [UInt16: Int] = [:]

        mutating func add(_ other: Evidence) {
            requests += other.requests
            statuses.merge(other.statuses) { $0 + $1 }
        }
    }

    private(set) var requests: [ObservedRequest: Evidence] = [:]
    private(set) var tunnels: [ObservedTunnel: Int] = [:]
    /// The ports to which clients opened tunnels with CONNECT.
    private(set) var connectPorts: Set<UInt16> = []
    /// The addresses that are not public to which requests were sent, with their ports. `egress.default: deny` denies these addresses.
    private(set) var privateAddresses: Set<AllowedAddress> = []

    /// The number of requests that were denied.
    package private(set) var deniedCount = 0
    /// The number of requests that no rule can express, or that were observed after the limit on distinct requests was reached.
    package private(set) var leftOutCount = 0
    /// The hosts to which a tunnel failed before Larder saw a request in it.
    package private(set) var failedHosts: Set<String> = []

    package init() {}

    package var isEmpty: Bool { requests.isEmpty && tunnels.isEmpty }
    package var requestCount: Int { requests.values.reduce(0) { $0 + $1.requests } }

    /// - Parameter request: the observed request; `nil` if no rule can express it.
    package mutating func add(_ request: ObservedRequest?, status: UInt16) {
        guard let request, requests[request] != nil || requests.count < LearningLimits.requests else {
            leftOutCount += 1
            return
        }
        requests[request, default: Evidence()].add(Evidence(requests: 1, statuses: [status: 1]))
        addAddress("\(request.origin.host):\(request.origin.port)")
    }

    package mutating func add(_ tunnel: ObservedTunnel?) {
        guard let tunnel, tunnels[tunnel] != nil || tunnels.count < LearningLimits.requests else {
            leftOutCount += 1
            return
        }
        connectPorts.insert(tunnel.port)
        tunnels[tunnel, default: 0] += 1
        addAddress("\(tunnel.origin.host):\(tunnel.origin.port)")
    }

    /// Notes a CONNECT whose tunnel Larder intercepts.
    package mutating func addConnect(port: UInt16) { connectPorts.insert(port) }

    /// Notes the address to which a request was sent.
    /// - Parameter text: an address and a port. A name in place of the address is ignored.
    package mutating func addAddress(_ text: String) {
        guard let entry = AllowedAddress(text), entry.range.isOneAddress, entry.range.base.reaches(AddressRange.privateNetworks),
            privateAddresses.count < LearningLimits.addresses
        else { return }
        privateAddresses.insert(entry)
    }

    package mutating func addDenied() { deniedCount += 1 }

    package mutating func addFailed(host: String) {
        if failedHosts.count < LearningLimits.failedHosts { failedHosts.insert(host) }
    }
}

/// Size limits for learning a policy.
package enum LearningLimits {
    /// The maximum number of distinct requests. Further distinct requests are left out and counted.
    package static let requests = 20_000
    package static let failedHosts = 100
    static let addresses = 1000
    /// The maximum number of readings of a path. A path with more readings is left out.
    static let readings = 8
    /// The maximum length of a path pattern, in bytes. A longer pattern is cut.
    static let patternLength = 480
    /// The minimum number of different sibling hosts, or of different numbers in a path, that are replaced by a star.
    static let siblings = 3
    /// The minimum number of different paths below one version that are replaced by `/**`.
    static let tree = 4
    /// The maximum number of comparisons of paths with patterns, in total.
    static let comparisons = 1_000_000
    /// The maximum number of rules for which all pairs are compared to merge two of them.
    static let mergedRules = 64
    /// The maximum length of an example in a comment, in characters.
    static let exampleLength = 100
}
