import EventLoop

/// A reader whose next step is expensive: a ClientHello, the rest of a handshake, or the end of a TLS connection. Many clients may arrive
/// or leave at once, and each of them needs such an expensive step.
protocol QueuedReader: AnyObject {
    /// Called when it is the reader's turn. The reader may have ended while it waited.
    func resumeReading()
}

/// Admits one client in each batch of the loop. The first client that is ready is admitted at once, the others in order in the following
/// batches. So if a thousand clients arrive or leave together, other clients wait for only one of them in each batch. Confined to its loop.
final class FairnessQueue: BatchHandler {
    private let loop: EventLoop
    private var waiting = WaitingQueue<any QueuedReader>()
    /// The last batch in which a reader was admitted.
    private var usedBatch: UInt64 = 0
    private var isPlanned = false

    init(_ loop: EventLoop) { self.loop = loop }

    /// - Returns: whether the reader may continue now. If not, the reader must wait for `resumeReading`, and must not call this method
    ///   before that.
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
