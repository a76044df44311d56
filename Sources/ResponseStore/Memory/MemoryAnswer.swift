/// What memory alone can say of a key.
package enum MemoryAnswer: Sendable {
    case found(StoredVariants)
    /// Certainly not stored.
    case absent
    /// Ask the disk.
    case unknown
}
