/// When a fetch began, as the store counts: what was purged or invalidated since then is not stored by it (RFC 9111 §4.4).
package struct StoreEpoch: Equatable, Sendable {
    /// The number of the latest purge.
    let purge: Int64
    /// How often keys in the key's place had been invalidated. Keys share places, so that nothing grows: at worst a response is not
    /// stored though it could have been.
    let invalidation: UInt32

    /// Before everything.
    package static let beginning = StoreEpoch(purge: 0, invalidation: 0)
}
