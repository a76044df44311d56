import SQLiteDatabase
import ServerTrust

/// A Merkle tree as stored in a file. Each page is verified against the root before it is used.
struct CheckedTree {
    /// The maximum number of verified pages kept in memory. A page has 8 KiB.
    private static let pageLimit = 1024

    private struct Place: Hashable {
        let level: Int
        let number: Int
    }

    private let counts: [Int]
    private let top: [UInt8]
    private var checked: [Place: [UInt8]] = [:]

    init(_ tables: SnapshotTables, root: SHA256Digest, leaves: Int) throws(SnapshotError) {
        counts = MerkleTree.levelCounts(leaves: leaves)
        top = try tables.pages(.tree(level: counts.count - 1), length: 32)
        guard MerkleTree.root(name: SnapshotRoots.fullName, count: leaves, top: top) == root else {
            throw .damaged("the hash tree does not match the root")
        }
    }

    /// - Throws: `damaged` if the tree has a different digest for the leaf at this place.
    mutating func check(_ leaf: [UInt8], at place: Int, _ tables: SnapshotTables) throws(SnapshotError) {
        let page = try page(Place(level: 0, number: place / MerkleTree.fanOut), tables)
        let start = place % MerkleTree.fanOut * 32
        guard page[start..<start + 32].elementsEqual(leaf) else { throw .damaged("a row is in the wrong place") }
    }

    /// Reads a page of digests and verifies it against the page's own digest, which is on the next higher level.
    private mutating func page(_ place: Place, _ tables: SnapshotTables) throws(SnapshotError) -> [UInt8] {
        if let page = checked[place] { return page }
        let count = min(MerkleTree.fanOut, counts[place.level] - place.number * MerkleTree.fanOut) * 32
        let page = try onDatabase { () throws(DatabaseError) in try tables.page(.tree(level: place.level), place.number) }
        guard let page, page.count == count else { throw .damaged("a page of the hash tree is missing or has a wrong length") }
        let node = MerkleTree.node(page[...])
        if place.level + 1 == counts.count - 1 {
            guard node == top else { throw .damaged("the hash tree does not match the root") }
        } else {
            let above = try self.page(Place(level: place.level + 1, number: place.number / MerkleTree.fanOut), tables)
            let start = place.number % MerkleTree.fanOut * 32
            guard above[start..<start + 32].elementsEqual(node) else { throw .damaged("the hash tree does not match the root") }
        }
        if checked.count >= Self.pageLimit { checked.removeAll() }
        checked[place] = page
        return page
    }
}
