/// The kinds of tables that are read in pieces. Their pieces are rows in the table `page`. A row's id is `kind << 32 | number of the
/// piece`.
enum PageKind {
    /// The recordings' primary keys, 16 bytes each, in canonical order.
    case keys
    /// The row ids of the recordings in this file, 8 bytes each, in canonical order. Neither Merkle root covers the ids. But a wrong id
    /// leads to a row whose digest does not match the recording's place, and that is an error.
    case rows
    /// Method, a space, URI and a line feed for each recording, in canonical order. The search for near misses reads this table.
    case targets
    /// The digests of one level of the tree under `full`, leaves first.
    case tree(level: Int)

    /// The length of a piece, in bytes.
    var pieceLength: Int {
        switch self {
        case .keys, .rows, .targets: 64 << 10
        case .tree: MerkleTree.fanOut * 32
        }
    }

    func id(of piece: Int) -> Int64 {
        let kind: Int64 =
            switch self {
            case .keys: 1
            case .rows: 2
            case .targets: 3
            case .tree(let level): 16 + Int64(level)
            }
        return kind << 32 | Int64(piece)
    }
}
