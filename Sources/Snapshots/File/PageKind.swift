/// What the rows of `page` hold: tables that are read in pieces, by place. A row's id is `kind << 32 | number of the piece`.
enum PageKind {
    /// The recordings' primary keys, 16 bytes each, in canonical order.
    case keys
    /// The ids of their rows in this file, 8 bytes each, in the same order. They are in no root: who believes a wrong one is given a row
    /// whose digest is not the one that belongs there.
    case rows
    /// Method, a space, URI and a line feed of each recording, in the same order: what a near miss is looked for in.
    case targets
    /// The digests of one level of the tree under `full`, leaves first.
    case tree(level: Int)

    /// Bytes of a piece.
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
