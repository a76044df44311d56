import EventLoop
import Synchronization

/// Whether the read-only file behind memory is still used. Once it is abandoned, it is not read again.
final class ReadOnlyBackingStore: Sendable {
    private let left = Atomic<Bool>(false)
    /// The maximum number of keys per shard for which the file may be out of date.
    let hiddenKeysOfShard: Int
    private let report: @Sendable (StoreNotice) -> Void

    init(_ configuration: StoreConfiguration) {
        hiddenKeysOfShard = configuration.limits.hiddenKeys / MemoryTier.shardCount
        report = configuration.report
    }

    var isUsed: Bool { !left.load(ordering: .acquiring) }

    /// Stops using the file. Reported once.
    func leave(because reason: String) {
        if !left.exchange(true, ordering: .acquiringAndReleasing) { report(.fileLeft(reason: reason)) }
    }
}
