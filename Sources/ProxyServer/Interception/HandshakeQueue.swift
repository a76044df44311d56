import EventLoop

/// What has to wait for its turn.
protocol QueuedHandshake: AnyObject {
    /// It still does.
    var awaitsHandshake: Bool { get }
    /// It is its turn; the queue is told when it is over.
    func beginHandshake()
}

/// Handshakes with clients, one after the other: each costs as much as a hundred answers from memory, so that of those that have come
/// at once one is begun in each batch of the loop, in their order, and everybody else is served between them. Confined to its loop.
final class HandshakeQueue: BatchHandler {
    private unowned let worker: LoopWorker
    private var waiting: [any QueuedHandshake] = []
    private var next = 0
    /// Begun, and not at their end.
    private var underWayCount = 0
    private var isPlanned = false

    init(_ worker: LoopWorker) { self.worker = worker }

    func add(_ handshake: any QueuedHandshake) {
        waiting.append(handshake)
        plan()
    }

    /// One that was begun is at its end, whichever.
    func ended() {
        underWayCount -= 1
        plan()
    }

    func batchEnded() {
        isPlanned = false
        // Those who have left meanwhile cost nothing.
        while next < waiting.count, !waiting[next].awaitsHandshake { next += 1 }
        guard next < waiting.count, hasRoom else { return tidy() }
        let first = waiting[next]
        next += 1
        tidy()
        underWayCount += 1
        first.beginHandshake()
        plan()
    }

    private var hasRoom: Bool { underWayCount < worker.settings.handshakeLimit }

    private func tidy() {
        if next == waiting.count {
            waiting.removeAll(keepingCapacity: next <= 1024)
            next = 0
        } else if next > 1024, next * 2 > waiting.count {
            waiting.removeFirst(next)
            next = 0
        }
    }

    private func plan() {
        guard !isPlanned, next < waiting.count, hasRoom else { return }
        isPlanned = true
        worker.loop.atEndOfBatch(self)
    }
}
