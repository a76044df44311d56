import ServerTrust

/// The two digests of a snapshot.
package struct SnapshotRoots: Equatable, Sendable {
    /// The digest of the recorded responses without their times and volatile values. Snapshots with equal digests replay the same
    /// responses.
    package let content: SHA256Digest
    /// The digest of the whole snapshot, which is signed.
    package let full: SHA256Digest

    static let contentName = "larder-snapshot-content"
    static let fullName = "larder-snapshot-full"
}
