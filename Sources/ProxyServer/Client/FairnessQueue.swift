import EventLoop

/// Who reads what costs much, from clients that come or go in great numbers at once: a ClientHello, the rest of a handshake, the end of a
/// connection in TLS.
protocol QueuedReader: AnyObject {
    /// It is its turn. It may have ended meanwhile.
    func resumeReading()
}

/// Lets one client in each batch of the loop go on: the first that is ready at once, and the others in their order, in the batches that
/// follow. A thousand that come or go together so hold nobody up for longer than one of them. Confined to its loop.
final class FairnessQueue: BatchHandler {
    private let loop: EventLoop
    private var waiting = WaitingQueue<any QueuedReader>()
    /// The batch in which somebody has had a turn.
    private var usedBatch: UInt64 = 0
    private var isPlanned = false

    init(_ loop: EventLoop) { self.loop = loop }

    /// - Returns: whether the reader is to go on now. Else it has to wait for its turn, and to see to it that it comes here once.
    func admits(_ reader: any QueuedReader) -> Bool {
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
        first?.resumeReading()
    }

    private func plan() {
        guard !isPlanned, !waiting.isEmpty else { return }
        isPlanned = true
        loop.atEndOfBatch(self)
    }
}
