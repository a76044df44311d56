import HTTPSerialization
import ServerTrust

/// The recordings of a file on their way into the root `content`: of each key those of the newest generation, which are what replay answers from.
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

    /// Leaves stand in the order of their forms' bytes, which begin with key and position. Without recordings there is the leaf of nothing.
    func root() -> SHA256Digest {
        let answering = entries.filter { newest[$0.key] == $0.generation }.sorted { left, right in
            left.key == right.key ? left.position < right.position : left.key < right.key
        }
        let leaves = answering.isEmpty ? MerkleTree.leaf([]) : answering.flatMap(\.leaf)
        return MerkleTree(name: SnapshotRoots.contentName, leaves: leaves).root
    }
}

extension Recording {
    /// Its line among the targets: method, a space, URI and a line feed.
    var targetLine: [UInt8] { request.method + [0x20] + request.uri + [0x0A] }
}
