import EventLoop

/// What has to wait for its turn.
protocol QueuedHandshake: AnyObject {
    /// It still does.
    var awaitsHandshake: Bool { get }
    /// It is its turn; the queue is told when it is over.
    func beginHandshake()
    /// Others wait, and this one's client has not gone on for long enough: it ends, of which the queue is told.
    func giveWay()
}

/// Handshakes with clients, one after the other: each costs as much as a hundred answers from memory, so that of those that have come
/// at once one is begun in each batch of the loop, in their order, and everybody else is served between them. Where as many are under
/// way as may be, the one that was begun first gives way to who waits, unless it has only begun. Confined to its loop.
final class HandshakeQueue: BatchHandler, TimerHandler {
    private struct Begun {
        let handshake: any QueuedHandshake
        let moment: MonotonicTime
    }

    private unowned let worker: LoopWorker
    private var waiting: [any QueuedHandshake] = []
    private var next = 0
    /// Of those that wait, how many have left.
    private var leftCount = 0
    /// Begun, and not at their end, in their order: as many as there may be at most.
    private var underWay: [Begun] = []
    private var isPlanned = false
    private var timer: TimerID?

    /// So long a client has for its part before another one may take its place, in milliseconds.
    static let undisturbedMilliseconds = 3_000

    init(_ worker: LoopWorker) { self.worker = worker }

    func add(_ handshake: any QueuedHandshake) {
        waiting.append(handshake)
        plan()
    }

    /// One that was begun is at its end, whichever way.
    func ended(_ handshake: any QueuedHandshake) {
        if let place = underWay.firstIndex(where: { $0.handshake === handshake }) { underWay.remove(at: place) }
        plan()
    }

    /// One that waited has left.
    func left() {
        leftCount += 1
        guard leftCount * 2 > waiting.count - next else { return }
        waiting = waiting[next...].filter(\.awaitsHandshake)
        next = 0
        leftCount = 0
    }

    func batchEnded() {
        isPlanned = false
        while next < waiting.count, !waiting[next].awaitsHandshake {
            next += 1
            leftCount -= 1
        }
        guard next < waiting.count, hasRoom || makeRoom() else {
            tidy()
            return plan()
        }
        let first = waiting[next]
        next += 1
        tidy()
        underWay.append(Begun(handshake: first, moment: worker.loop.now))
        first.beginHandshake()
        plan()
    }

    func deadlinePassed(_ timer: TimerID) { plan() }

    private var hasRoom: Bool { underWay.count < worker.settings.handshakeLimit }

    /// When the one that was begun first may be disturbed.
    private var nextRoom: MonotonicTime {
        underWay.first?.moment.advanced(milliseconds: Self.undisturbedMilliseconds) ?? worker.loop.now
    }

    private func makeRoom() -> Bool {
        guard nextRoom <= worker.loop.now else { return false }
        underWay.first?.handshake.giveWay()
        return hasRoom
    }

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
        guard !isPlanned, next < waiting.count else { return }
        if hasRoom || nextRoom <= worker.loop.now {
            isPlanned = true
            worker.loop.atEndOfBatch(self)
        } else {
            let timer = timer ?? worker.loop.makeTimer(self)
            self.timer = timer
            worker.loop.setTimer(timer, at: nextRoom)
        }
    }
}
