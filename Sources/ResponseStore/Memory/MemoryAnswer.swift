/// The result of a lookup in memory alone.
package enum MemoryAnswer: Sendable {
    case found(StoredVariants)
    /// The key certainly has no stored response, in memory or on disk.
    case absent
    /// A lookup on disk is needed.
    case unknown
}
