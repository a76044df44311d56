import EventLoop

/// Handshakes with clients, begun one after the other, in their order, on a thread beside the loop: each beginning costs as much as ten
/// answers from memory, and nobody waits for it but its client. Where as many are under way as may be, the one that was begun first gives
/// way to who waits, unless it has only begun. Confined to its loop.
final class HandshakeQueue: TimerHandler {
    private struct Begun {
        let handshake: ClientTLSHandshake
        let moment: MonotonicTime
    }

    private unowned let worker: LoopWorker
    private let beginner: LoopHandle
    private var waiting = WaitingQueue<ClientTLSHandshake>()
    /// Of those that wait, how many have left.
    private var leftCount = 0
    /// Begun, and not at their end, in their order: as many as there may be at most.
    private var underWay: [Begun] = []
    /// One is being begun on the other thread.
    private var isBeginning = false
    /// Somebody is being chosen.
    private var isChoosing = false
    private var timer: TimerID?

    /// So long a client has for its part before another one may take its place, in milliseconds.
    static let undisturbedMilliseconds = 3_000

    /// - Parameter beginner: the thread on which they are begun.
    init(_ worker: LoopWorker, beginner: LoopHandle) {
        self.worker = worker
        self.beginner = beginner
    }

    func add(_ handshake: ClientTLSHandshake) {
        waiting.append(handshake)
        beginNext()
    }

    /// One that is under way is at its end, whichever way.
    func ended(_ handshake: ClientTLSHandshake) {
        if let place = underWay.firstIndex(where: { $0.handshake === handshake }) { underWay.remove(at: place) }
        beginNext()
    }

    /// One that waited has left.
    func left() {
        leftCount += 1
        guard leftCount * 2 > waiting.count else { return }
        waiting.removeAll { !$0.awaitsTurn }
        leftCount = 0
    }

    func deadlinePassed(_ timer: TimerID) { beginNext() }

    private func beginNext() {
        // Whoever is refused, or gives way, leads back here: the call that is under way goes on.
        if isChoosing { return }
        isChoosing = true
        defer { isChoosing = false }
        while !isBeginning, let first = waiting.first {
            guard first.awaitsTurn else {
                _ = waiting.popFirst()
                leftCount -= 1
                continue
            }
            guard hasRoom || makeRoom() else { return }
            _ = waiting.popFirst()
            guard let beginning = first.begin() else { continue }
            underWay.append(Begun(handshake: first, moment: worker.loop.now))
            begin(beginning, for: first)
        }
    }

    private func begin(_ beginning: HandshakeBeginning, for handshake: ClientTLSHandshake) {
        isBeginning = true
        let reply = worker.loop.reply { [unowned self] (begun: BegunHandshake?) in
            isBeginning = false
            handshake.began(begun)
            beginNext()
        }
        if !beginner.post({ _ in reply.send(beginning.begin()) }) { reply.send(nil) }
    }

    private var hasRoom: Bool { underWay.count < worker.settings.handshakeLimit }

    /// The one that was begun first gives way, now or when its time has come.
    /// - Returns: whether there is room.
    private func makeRoom() -> Bool {
        guard let oldest = underWay.first else { return false }
        let moment = oldest.moment.advanced(milliseconds: Self.undisturbedMilliseconds)
        if moment <= worker.loop.now {
            oldest.handshake.giveWay()
            return hasRoom
        }
        let timer = timer ?? worker.loop.makeTimer(self)
        self.timer = timer
        worker.loop.setTimer(timer, at: moment)
        return false
    }
}
