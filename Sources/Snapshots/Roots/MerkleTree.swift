import HTTPSerialization
import ServerTrust

/// A tree of SHA-256 digests with 256 children for each node. The path to a leaf is two or three pages of 8 KiB.
///
/// A leaf is SHA-256 of the byte 0x00 and the row's bytes. A node is SHA-256 of the byte 0x01 and the digests of its children. Each
/// level is divided into groups of 256, from its beginning, and each group has a node on the next level, until a level has only one
/// node. There is at least one level of nodes. The root is SHA-256 of a name, a zero byte, the number of leaves (8 bytes, big-endian)
/// and the top node. So the roots of trees with different names differ.
struct MerkleTree: Sendable {
    static let fanOut = 256

    /// Concatenated digests: the leaves, then each level of nodes up to the top.
    private(set) var levels: [[UInt8]]
    let root: SHA256Digest

    /// - Parameter leaves: the concatenated digests of one or more leaves.
    init(name: String, leaves: [UInt8]) {
        precondition(!leaves.isEmpty && leaves.count % 32 == 0, "a tree has whole leaves")
        var levels = [leaves]
        repeat {
            var nodes: [UInt8] = []
            let below = levels[levels.count - 1]
            for start in stride(from: 0, to: below.count, by: Self.fanOut * 32) {
                nodes += Self.node(below[start..<min(start + Self.fanOut * 32, below.count)])
            }
            levels.append(nodes)
        } while levels[levels.count - 1].count > 32
        self.levels = levels
        root = Self.root(name: name, count: leaves.count / 32, top: levels[levels.count - 1])
    }

    static func leaf(_ row: [UInt8]) -> [UInt8] { Hashing.sha256([0x00], row) }

    static func node(_ children: ArraySlice<UInt8>) -> [UInt8] { Hashing.sha256([0x01], Array(children)) }

    static func root(name: String, count: Int, top: [UInt8]) -> SHA256Digest {
        var prefix = Array(name.utf8)
        prefix.append(0)
        prefix.append(bigEndian: UInt64(count))
        return SHA256Digest(Hashing.sha256(prefix, top))!  // a SHA-256 digest has 32 bytes
    }

    /// The number of digests on each level of a tree with this many leaves, the leaves first.
    static func levelCounts(leaves count: Int) -> [Int] {
        var counts = [count]
        repeat { counts.append((counts[counts.count - 1] + fanOut - 1) / fanOut) } while counts[counts.count - 1] > 1
        return counts
    }
}

/// SHA-256 of concatenated pieces, computed by OpenSSL.
enum Hashing {
    static func sha256(_ pieces: [UInt8]...) -> [UInt8] {
        let hasher = DigestHasher(.sha256)
        for piece in pieces { hasher.update(piece.span) }
        return hasher.finish().octets
    }
}
