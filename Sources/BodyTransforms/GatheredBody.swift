/// A body that is gathered to be checked or transformed. Confined to its loop.
///
/// It consists of pieces that are never moved: copying megabytes each time an array doubles would delay other requests on the loop. A
/// body of known length is one piece from the beginning; its unused part takes no memory. Callers that need the body in one piece join
/// the pieces off the loop. Large pieces are also freed off the loop, even if the loop releases the last reference.
package final class GatheredBody {
    private let checks: CheckPool
    /// The pieces in order. A piece is empty only if it is reserved for a body of known length.
    package private(set) var pieces: [[UInt8]] = []
    package private(set) var count = 0

    package init(_ checks: CheckPool) { self.checks = checks }

    deinit { letGo() }

    private func letGo() {
        var leaving: [[UInt8]] = []
        swap(&leaving, &pieces)
        checks.letGo(of: leaving)
    }

    /// The bounds for the length of a piece if the body's length is unknown. Within these bounds, a new piece is as long as the body so
    /// far.
    private static let pieceLengths = 64 << 10...1 << 20

    /// Reserves memory for a body of this length before any of it has arrived.
    package func reserve(_ length: Int) {
        guard pieces.isEmpty else { return }
        pieces.append([])
        pieces[0].reserveCapacity(length)
    }

    package func append(_ bytes: Span<UInt8>) {
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

    /// The length of the next piece, which begins with `rest` received bytes. The first piece gets no more capacity than these bytes need,
    /// because the body may be short.
    private func length(ofPieceFor rest: Int) -> Int {
        pieces.count == 1 ? rest : max(rest, min(max(count, Self.pieceLengths.lowerBound), Self.pieceLengths.upperBound))
    }

    /// The memory of the body in bytes, including the copy that joining several pieces will make.
    package var memory: Int { pieces.count > 1 ? 2 * count : count }

    /// Replaces the pieces by one piece with the whole body, which was made off the loop.
    package func replace(by body: [UInt8]) {
        guard pieces.count > 1 else { return }
        letGo()
        pieces = [body]
    }

    /// The body in one piece; if there are several, they are copied.
    package var joined: [UInt8] { Self.join(pieces) }

    package static func join(_ pieces: [[UInt8]]) -> [UInt8] {
        if pieces.count <= 1 { return pieces.first ?? [] }
        var body: [UInt8] = []
        body.reserveCapacity(pieces.reduce(0) { $0 + $1.count })
        for piece in pieces { body.append(contentsOf: piece) }
        return body
    }
}
