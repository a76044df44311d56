import EventLoop
import Synchronization

/// Whether the file that is read behind memory is still of use: once it is not, it is not asked again.
final class ReadOnlyBackingStore: Sendable {
    private let left = Atomic<Bool>(false)
    /// Of so many keys each shard remembers that what stands in the file may be out of date.
    let hiddenKeysOfShard: Int
    private let report: @Sendable (StoreNotice) -> Void

    init(_ configuration: StoreConfiguration) {
        hiddenKeysOfShard = configuration.limits.hiddenKeys / MemoryTier.shardCount
        report = configuration.report
    }

    var isUsed: Bool { !left.load(ordering: .acquiring) }

    /// From now on memory stands alone. Said once.
    func leave(because reason: String) {
        if !left.exchange(true, ordering: .acquiringAndReleasing) { report(.fileLeft(reason: reason)) }
    }
}
