import EventLoop

/// Who reads what clients send before they are let in: a ClientHello, the rest of a handshake.
protocol EntranceReader: AnyObject {
    /// It is its turn. It may have ended meanwhile.
    func readAtItsTurn()
}

/// Lets one client in each batch of the loop go on with its entrance: the first that is ready at once, and the others in their order, in
/// the batches that follow. A thousand that come together so hold nobody up for longer than one of them. Confined to its loop.
final class EntranceQueue: BatchHandler {
    private let loop: EventLoop
    private var waiting = TurnQueue<any EntranceReader>()
    /// The batch in which somebody has had a turn.
    private var usedBatch: UInt64 = 0
    private var isPlanned = false

    init(_ loop: EventLoop) { self.loop = loop }

    /// - Returns: whether the reader is to go on now. Else it has to wait for its turn, and to see to it that it comes here once.
    func takesNow(_ reader: any EntranceReader) -> Bool {
        if waiting.isEmpty, usedBatch != loop.batchCount {
            usedBatch = loop.batchCount
            return true
        }
        waiting.append(reader)
        plan()
        return false
    }

    func batchEnded() {
        isPlanned = false
        let first = waiting.popFirst()
        plan()
        first?.readAtItsTurn()
    }

    private func plan() {
        guard !isPlanned, !waiting.isEmpty else { return }
        isPlanned = true
        loop.atEndOfBatch(self)
    }
}
