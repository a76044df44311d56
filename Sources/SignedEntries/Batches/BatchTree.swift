/// The Merkle tree of a batch, in the form of RFC 9162 §2.1: a leaf is SHA-256 of a zero byte and its bytes, a node is SHA-256 of the byte 1 and
/// its two children, and a tree of n leaves has the greatest power of two below n leaves on its left side.
struct BatchTree {
    /// The digests of each level: the leaves first, the root last. The last digest of a level with an odd number moves up unchanged, which
    /// gives the same tree as the recursive definition.
    private var levels: [[SHA256Words]]

    /// - Parameter leaves: 1 to `EntryLimits.batch` digests of leaves.
    init(_ leaves: [SHA256Words], by context: SHA256Context) {
        precondition((1...EntryLimits.batch).contains(leaves.count), "a batch has 1 to 256 entries")
        levels = [leaves]
        while let level = levels.last, level.count > 1 {
            levels.append(
                stride(from: 0, to: level.count, by: 2).map { index in
                    index + 1 < level.count ? Self.node(level[index], level[index + 1], by: context) : level[index]
                })
        }
    }

    var root: SHA256Words { levels[levels.count - 1][0] }

    /// The digests with which a reader computes the root from the leaf with this number, from the bottom to the top.
    func path(of index: Int) -> [SHA256Words] {
        var path: [SHA256Words] = []
        var index = index
        for level in levels.dropLast() {
            if index ^ 1 < level.count { path.append(level[index ^ 1]) }
            index >>= 1
        }
        return path
    }

    static func pathLength(index: Int, count: Int) -> Int {
        var (index, count, length) = (index, count, 0)
        while count > 1 {
            if index ^ 1 < count { length += 1 }
            index >>= 1
            count = (count + 1) >> 1
        }
        return length
    }

    /// The root to which a path leads.
    /// - Parameter path: 32 bytes for each of `pathLength` digests.
    static func root(
        leaf: SHA256Words, index: Int, count: Int, path: Span<UInt8>, by context: SHA256Context
    ) -> SHA256Words {
        var (digest, index, count, place) = (leaf, index, count, 0)
        while count > 1 {
            if index ^ 1 < count {
                let sibling = SHA256Words(path.extracting(place..<place + 32))
                digest = index & 1 == 0 ? node(digest, sibling, by: context) : node(sibling, digest, by: context)
                place += 32
            }
            index >>= 1
            count = (count + 1) >> 1
        }
        return digest
    }

    private static func node(_ left: SHA256Words, _ right: SHA256Words, by context: SHA256Context) -> SHA256Words {
        let prefix: InlineArray<1, UInt8> = [1]
        return left.withBytes { left in right.withBytes { right in context.digest(prefix.span, left, right) } }
    }

    /// What a writer signs. The text at its beginning keeps the signature from being valid for another purpose.
    static func message(root: SHA256Words, farm: FarmID, time: Int64, count: Int) -> [UInt8] {
        var message = Array("larder-shared-entries-1\0".utf8)
        message += farm.octets
        message.append(bigEndian: time)
        message.append(bigEndian: UInt16(count))
        message += root.octets
        return message
    }
}
