import HTTPMessage

/// The requests of a run, a log or a recording, counted.
package struct ObservedTraffic: Sendable {
    /// How often a request was seen.
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
    /// The ports that clients sent CONNECT for.
    private(set) var connectPorts: Set<UInt16> = []
    /// The addresses that are not public, with their ports, that requests were sent to: `egress.default: deny` denies them.
    private(set) var privateAddresses: Set<AllowedAddress> = []

    /// The number of requests that were denied.
    package private(set) var deniedCount = 0
    /// The number of requests that no rule can express, or that came after the limit was reached.
    package private(set) var leftOutCount = 0
    /// Hosts with tunnels that failed before a request was seen.
    package private(set) var failedHosts: Set<String> = []

    package init() {}

    package var isEmpty: Bool { requests.isEmpty && tunnels.isEmpty }
    package var requestCount: Int { requests.values.reduce(0) { $0 + $1.requests } }

    /// - Parameter request: `nil` for one that no rule can express.
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

    /// Notes a CONNECT whose requests are seen.
    package mutating func addConnect(port: UInt16) { connectPorts.insert(port) }

    /// Notes the address that a request was sent to.
    /// - Parameter text: an address and a port; a name is ignored.
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

/// Size limits for learning.
package enum LearningLimits {
    /// The maximum number of distinct requests; further ones are counted as left out.
    package static let requests = 20_000
    package static let failedHosts = 100
    static let addresses = 1000
    /// A path with more readings than this is left out.
    static let readings = 8
    /// The maximum length of a pattern, in bytes; longer ones are cut.
    static let patternLength = 480
    /// The minimum number of sibling hosts or numbers that a star replaces.
    static let siblings = 3
    /// The minimum number of different paths below one version that become a tree.
    static let tree = 4
    /// The maximum number of comparisons of paths with patterns, in total.
    static let comparisons = 1_000_000
    /// The maximum number of rules that are merged pair by pair.
    static let mergedRules = 64
    /// The maximum length of an example in a comment, in characters.
    static let exampleLength = 100
}
