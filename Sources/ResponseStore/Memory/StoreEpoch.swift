/// The state of purges and invalidations when a fetch began. Responses that were purged or invalidated since then are not stored (RFC
/// 9111 §4.4).
package struct StoreEpoch: Equatable, Sendable {
    /// The number of the latest purge.
    let purge: Int64
    /// The number of invalidations counted for the key. Keys share counters, so that memory stays bounded: at worst a response is not
    /// stored although it could be.
    let invalidation: UInt32

    /// The epoch before all purges and invalidations.
    package static let beginning = StoreEpoch(purge: 0, invalidation: 0)
}
