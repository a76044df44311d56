/// A body that is gathered to be checked or to have something made of it. Confined to its loop.
///
/// It stands in pieces that are never moved: to copy megabytes each time that an array doubles would hold up whoever else is on the loop. A
/// body whose length is told is one piece from the start, of which what has not come takes no memory. Whoever wants all of it in one piece joins
/// the pieces off the loop. Large pieces are given back there too, whoever lets go of them last.
final class GatheredBody {
    private let checks: CheckPool
    /// In order; none of them is empty, but for one that waits for what was told.
    private(set) var pieces: [[UInt8]] = []
    private(set) var count = 0

    init(_ checks: CheckPool) { self.checks = checks }

    deinit { letGo() }

    private func letGo() {
        var leaving: [[UInt8]] = []
        swap(&leaving, &pieces)
        checks.letGo(of: leaving)
    }

    /// The lengths of pieces where nobody has told the body's: as much as has come, within these bounds.
    private static let pieceLengths = 64 << 10...1 << 20

    /// Makes room for a body of this length before anything of it has come.
    func reserve(_ length: Int) {
        guard pieces.isEmpty else { return }
        pieces.append([])
        pieces[0].reserveCapacity(length)
    }

    func append(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        let room = pieces.last.map { max($0.capacity, Self.pieceLengths.lowerBound) - $0.count } ?? 0
        let first = min(room, bytes.count)
        if first > 0 { pieces[pieces.count - 1].append(bytes.extracting(0..<first)) }
        if first < bytes.count {
            pieces.append([])
            pieces[pieces.count - 1].reserveCapacity(length(ofPieceFor: bytes.count - first))
            pieces[pieces.count - 1].append(bytes.extracting(first..<bytes.count))
        }
        count += bytes.count
    }

    /// A short body needs no more room than it has bytes.
    private func length(ofPieceFor rest: Int) -> Int {
        pieces.count == 1 ? rest : max(rest, min(max(count, Self.pieceLengths.lowerBound), Self.pieceLengths.upperBound))
    }

    /// In bytes, with those that a joined body of several pieces will have besides.
    var memory: Int { pieces.count > 1 ? 2 * count : count }

    /// The body in one piece has been made elsewhere.
    func replace(by body: [UInt8]) {
        guard pieces.count > 1 else { return }
        letGo()
        pieces = [body]
    }

    /// In one piece; where there are several that takes as long as copying them.
    var joined: [UInt8] { Self.join(pieces) }

    static func join(_ pieces: [[UInt8]]) -> [UInt8] {
        if pieces.count <= 1 { return pieces.first ?? [] }
        var body: [UInt8] = []
        body.reserveCapacity(pieces.reduce(0) { $0 + $1.count })
        for piece in pieces { body.append(contentsOf: piece) }
        return body
    }
}
