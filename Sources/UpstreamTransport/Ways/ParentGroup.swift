import EventLoop
import ParentSelection

/// A group of parents: other Larders that share the requests by a hash of the cache key. Shared by all loops.
package final class ParentGroup: Sendable {
    package let members: [UpstreamProxy]
    /// The maximum number of members.
    package static let memberLimit = MemberSet.limit

    private let state: Guarded<ParentGroupState>

    /// - Parameter members: HTTP proxies, with or without TLS, at most `MemberSet.limit`.
    package init(_ members: [UpstreamProxy]) {
        self.members = members
        state = Guarded(ParentGroupState(members.map(\.url)))
    }

    /// The state and the counts of the members.
    package var snapshot: ParentGroupState { state.withLock { $0 } }

    /// The member that gets requests with this key, unless it is overloaded.
    package func firstChoice(for key: KeyHash) -> UpstreamProxy {
        let state = snapshot
        let ranking = state.ranking(of: key)
        return members[ranking.first { state.members[$0].isUp } ?? ranking[0]]
    }

    func choose(for key: KeyHash, besides tried: MemberSet) -> ParentGroupState.Choice? {
        state.withLock { $0.choose(for: key, besides: tried) }
    }

    func ended(_ member: Int) { state.withLock { $0.ended(member) } }

    func succeeded(_ member: Int, at now: MonotonicTime) {
        state.withLock { _ = $0.succeeded(member, at: UInt64(now.nanoseconds)) }
    }

    func failed(_ member: Int, by failure: ParentGroupState.Failure) { state.withLock { _ = $0.failed(member, by: failure) } }
}

/// The members that one request or tunnel has tried, and the member that it uses now. Confined to its loop.
struct ParentAttempt {
    let group: ParentGroup
    let key: KeyHash
    private(set) var tried = MemberSet()
    private(set) var member: Int

    /// - Returns: the attempt, with its first member.
    static func begin(_ group: ParentGroup, for key: KeyHash) -> ParentAttempt? {
        guard let choice = group.choose(for: key, besides: MemberSet()) else { return nil }
        return ParentAttempt(group: group, key: key, member: choice.member)
    }

    private init(group: ParentGroup, key: KeyHash, member: Int) {
        self.group = group
        self.key = key
        self.member = member
    }

    var proxy: UpstreamProxy { group.members[member] }

    /// Notes that the member failed, and goes on to the next one.
    /// - Returns: whether there is another member. If not, the attempt has ended.
    mutating func moveOn(after failure: ParentGroupState.Failure) -> Bool {
        group.failed(member, by: failure)
        group.ended(member)
        tried.insert(member)
        guard let choice = group.choose(for: key, besides: tried) else { return false }
        member = choice.member
        return true
    }
}

extension TransportError {
    /// The failure of a parent for which a request may go to another parent; `nil` for other errors.
    /// - Parameter isToParent: whether the connection is with the parent itself, and not with an origin through a tunnel.
    func failure(of parent: UpstreamProxy, isToParent: Bool) -> ParentGroupState.Failure? {
        switch self {
        case .connectionRefused, .connectionFailed, .nameNotResolved, .timedOut(.connect), .timedOut(.nameLookUp),
            .destinationProhibited:
            .unreachable
        case .untrusted(let failure): failure.host == parent.host ? .unreachable : nil
        case .tlsFailed, .tlsAlert, .identityMissing, .noTrustAnchors: isToParent ? .unreachable : nil
        case .tunnelRefused(let status): status == 0 ? .unreachable : nil
        case .closedBeforeResponse, .closedInHead: .brokenOff
        default: nil
        }
    }
}
