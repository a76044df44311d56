/// The members of a group of parents, and the choice of the member for a key: rendezvous hashing, with bounded load and health.
///
/// Each key ranks the members by a hash of the key and the member's name. The first member that is up and not overloaded gets the request.
/// If a member is lost, only the keys whose first choice it was move, and they spread over the remaining members.
///
/// A member goes down when a connection to it fails, or after several responses were cut off. It comes up again when a request or a probe
/// succeeds. If all members are down, the ranking alone decides, so that a request always has a member to try.
public struct ParentGroupState: Sendable {
    /// The state and the counts of one member.
    public struct Member: Sendable {
        public let name: String
        public internal(set) var isUp = true
        /// Requests that the member handles now.
        public internal(set) var inFlight = 0
        /// All requests that were sent to the member, or were to be sent.
        public internal(set) var requests: UInt64 = 0
        /// The requests among these for which another member is the first choice.
        public internal(set) var spilledRequests: UInt64 = 0
        /// The requests and probes that failed because of the member.
        public internal(set) var failures: UInt64 = 0
        /// How often the member went from up to down.
        public internal(set) var downCount: UInt64 = 0
        /// The number of failures since the last success.
        var recentFailures = 0
        /// When the member last succeeded, on the caller's clock, in nanoseconds.
        public internal(set) var lastSuccess: UInt64?
        let hash: KeyHash
    }

    /// Why a request to a member failed.
    public enum Failure: Sendable {
        /// No connection: the member is down at once.
        case unreachable
        /// The connection ended before the response: the member is down after `failureLimit` of these in a row.
        case brokenOff
    }

    public struct Choice: Equatable, Sendable {
        public let member: Int
        /// Whether the member is not the first choice for the key.
        public let isSpilled: Bool
    }

    public private(set) var members: [Member]

    /// A member may have this multiple of the average number of requests in flight.
    public static let loadFactor = 1.25
    /// Below this number of requests in flight, a member is never overloaded: with few requests, the average says little.
    public static let unboundedLoad = 16
    /// The number of broken responses in a row after which a member is down.
    public static let failureLimit = 3

    /// - Parameter names: the members' names, at most `MemberSet.limit`. The order has no effect on the choice.
    public init(_ names: [String]) {
        precondition((1...MemberSet.limit).contains(names.count), "a group has 1 to 64 members")
        members = names.map { Member(name: $0, hash: KeyHash(of: $0)) }
    }

    public var upCount: Int { members.count { $0.isUp } }

    /// The members by their weight for the key, the first choice first.
    public func ranking(of key: KeyHash) -> [Int] {
        members.indices.map { ($0, key.weight(of: members[$0].hash)) }
            .sorted { $0.1 == $1.1 ? members[$0.0].name < members[$1.0].name : $0.1 > $1.1 }.map(\.0)
    }

    /// Chooses a member, and counts the request as in flight there until `ended` is called.
    /// - Parameter tried: members that have failed for this request.
    /// - Returns: `nil` if every member was tried.
    public mutating func choose(for key: KeyHash, besides tried: MemberSet = MemberSet()) -> Choice? {
        let ranking = ranking(of: key)
        let untried = ranking.filter { !tried.contains($0) }
        let up = untried.filter { members[$0].isUp }
        let bound = loadBound
        guard let member = up.first(where: { members[$0].inFlight < bound }) ?? up.first ?? untried.first else { return nil }
        let isSpilled = member != ranking[0]
        members[member].inFlight += 1
        members[member].requests += 1
        if isSpilled { members[member].spilledRequests += 1 }
        return Choice(member: member, isSpilled: isSpilled)
    }

    /// The maximum number of requests in flight of a member, if one more request is added.
    private var loadBound: Int {
        let up = members.filter(\.isUp)
        guard !up.isEmpty else { return .max }
        let total = up.reduce(1) { $0 + $1.inFlight }
        return max(Self.unboundedLoad, Int((Self.loadFactor * Double(total) / Double(up.count)).rounded(.up)))
    }

    /// Ends a request that `choose` has counted.
    public mutating func ended(_ member: Int) { members[member].inFlight -= 1 }

    /// The member has responded to a request or a probe.
    /// - Parameter now: the time on the caller's clock, in nanoseconds.
    /// - Returns: whether the member was down.
    @discardableResult
    public mutating func succeeded(_ member: Int, at now: UInt64) -> Bool {
        members[member].lastSuccess = now
        members[member].recentFailures = 0
        defer { members[member].isUp = true }
        return !members[member].isUp
    }

    /// - Returns: whether the member is down since this failure.
    @discardableResult
    public mutating func failed(_ member: Int, by failure: Failure) -> Bool {
        members[member].failures += 1
        members[member].recentFailures += 1
        guard members[member].isUp else { return false }
        switch failure {
        case .unreachable: break
        case .brokenOff: if members[member].recentFailures < Self.failureLimit { return false }
        }
        members[member].isUp = false
        members[member].downCount += 1
        return true
    }

    /// The members that need a probe: those that are down, and those without a success since this time.
    public func membersToProbe(since time: UInt64) -> [Int] {
        members.indices.filter { !members[$0].isUp || (members[$0].lastSuccess ?? 0) < time }
    }
}
