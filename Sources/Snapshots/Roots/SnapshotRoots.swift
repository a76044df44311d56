import ServerTrust

/// The two digests of a snapshot.
package struct SnapshotRoots: Equatable, Sendable {
    /// Of what the recordings mean: two snapshots with the same one replay the same answers.
    package let content: SHA256Digest
    /// Of everything. It is what is signed.
    package let full: SHA256Digest

    static let contentName = "larder-snapshot-content"
    static let fullName = "larder-snapshot-full"
}
