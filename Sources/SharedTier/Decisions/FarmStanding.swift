import EventLoop

/// Which purges a node has applied: the epoch of the farm, and the number of the last purge.
///
/// The epoch is a random word that the first node writes into the engine. It changes if the engine loses its data.
package struct FarmMark: Equatable, Sendable {
    package var epoch: [UInt8]
    package var generation: Int64

    package init(epoch: [UInt8], generation: Int64) {
        self.epoch = epoch
        self.generation = generation
    }
}

/// Whether this node may serve stored responses without asking the origin: only while the farm knows that the node has applied all purges.
///
/// A lease counts from the moment when its request was sent, on the node's monotonic clock; the engine counts from the moment when it
/// arrived, on its own clock. So the node's lease ends before the engine's, whatever the clocks show.
///
/// States and moves: apart ──renewed, and no purge is missing──▶ current ──the lease ends──▶ apart. While purges are missing, a node that
/// is current stays current: the sender of a purge waits for its confirmation.
struct FarmStanding: Sendable {
    /// What is to be done next.
    enum Step: Equatable, Sendable {
        case nothing
        /// Apply the purges after the first number, up to the second one.
        case apply(after: Int64, through: Int64)
        /// Purges were lost: every stored response must be validated before it is used. Then the node has this mark.
        case startAnew(FarmMark)
    }

    static let leaseMilliseconds = 5000
    /// How long before the engine's end of the lease the node stops relying on it: the loops need time to learn of it.
    static let marginMilliseconds = 1000
    static let renewalMilliseconds = 1000
    /// The number of purges that the engine keeps.
    static let logLength: Int64 = 256

    /// The purges that are applied; `nil` before the first contact, if no earlier process has left a mark.
    private(set) var mark: FarmMark?
    private(set) var isCurrent = false
    private var leaseEnd = MonotonicTime(nanoseconds: 0)

    init(_ mark: FarmMark?) { self.mark = mark }

    /// Called with the engine's reply to a renewal of the lease.
    /// - Parameters:
    ///   - farm: the farm's epoch, and the number of its last purge.
    ///   - sentAt: when the renewal was sent.
    ///   - confirmed: the mark that the renewal has confirmed.
    mutating func renewed(farm: FarmMark, sentAt: MonotonicTime, confirmed: FarmMark?) -> Step {
        guard let mark, mark.epoch == farm.epoch, mark.generation <= farm.generation,
            farm.generation - mark.generation < Self.logLength
        else { return .startAnew(farm) }
        leaseEnd = sentAt.advanced(milliseconds: Self.leaseMilliseconds - Self.marginMilliseconds)
        if mark.generation < farm.generation { return .apply(after: mark.generation, through: farm.generation) }
        // After a renewal that confirmed an older mark, the node renews the lease again.
        isCurrent = confirmed == mark || isCurrent
        return .nothing
    }

    /// Called when purges have been applied, also by a crash-proof store.
    mutating func applied(_ mark: FarmMark) { self.mark = mark }

    /// Called as time passes, at least at `leaseEnd`.
    mutating func noteTime(_ now: MonotonicTime) {
        if now >= leaseEnd { isCurrent = false }
    }

    /// When the node stops being current, unless the lease is renewed.
    var end: MonotonicTime { isCurrent ? leaseEnd : .never }
}
