import HTTPSerialization
import ServerTrust

/// Computes the Merkle root `content` from a file's recordings. For each key, the tree includes only the newest generation, because replay
/// uses only that one.
struct ContentTree {
    private struct Entry {
        let key: SHA256Digest
        let position: UInt32
        let generation: UInt32
        let leaf: [UInt8]
    }

    private var entries: [Entry] = []
    private var newest: [SHA256Digest: UInt32] = [:]

    mutating func add(_ recording: Recording) {
        let key = recording.identity.key
        newest[key] = max(newest[key] ?? 0, recording.generation)
        entries.append(
            Entry(
                key: key, position: recording.position, generation: recording.generation,
                leaf: MerkleTree.leaf(ContentForm.make(of: recording))))
    }

    /// Leaves are in the byte order of their forms, which begin with key and position. A file without recordings has one leaf, which is
    /// made from zero bytes.
    func root() -> SHA256Digest {
        let answering = entries.filter { newest[$0.key] == $0.generation }.sorted { left, right in
            left.key == right.key ? left.position < right.position : left.key < right.key
        }
        let leaves = answering.isEmpty ? MerkleTree.leaf([]) : answering.flatMap(\.leaf)
        return MerkleTree(name: SnapshotRoots.contentName, leaves: leaves).root
    }
}

extension Recording {
    /// The recording's line in the table of targets: method, a space, URI and a line feed.
    var targetLine: [UInt8] { request.method + [0x20] + request.uri + [0x0A] }
}
