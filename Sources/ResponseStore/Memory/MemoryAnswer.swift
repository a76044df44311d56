/// The result of a lookup in memory alone.
package enum MemoryAnswer: Sendable {
    case found(StoredVariants)
    /// Certainly not stored.
    case absent
    /// A lookup on disk is needed.
    case unknown
}
