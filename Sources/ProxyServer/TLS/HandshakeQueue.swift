import EventLoop

/// Begins handshakes with clients one by one, in order, on a separate thread. Beginning one costs as much as ten responses from
/// memory, and only its own client waits for it. If the maximum number is in progress, the handshake that began first is ended in
/// favor of a waiting one, unless it began only recently. Confined to its loop.
final class HandshakeQueue: TimerHandler {
    private struct Begun {
        let handshake: ClientTLSHandshake
        let moment: MonotonicTime
    }

    private unowned let worker: LoopWorker
    private let beginner: LoopHandle
    private var waiting = WaitingQueue<ClientTLSHandshake>()
    /// The number of waiting handshakes whose clients have left.
    private var leftCount = 0
    /// The handshakes that have begun and not ended, in order, up to the limit.
    private var underWay: [Begun] = []
    /// Whether a handshake is being begun on the other thread.
    private var isBeginning = false
    /// Whether the next handshake is being chosen.
    private var isChoosing = false
    private var timer: TimerID?

    /// - Parameter beginner: the thread that begins handshakes.
    init(_ worker: LoopWorker, beginner: LoopHandle) {
        self.worker = worker
        self.beginner = beginner
    }

    func add(_ handshake: ClientTLSHandshake) {
        waiting.append(handshake)
        beginNext()
    }

    /// Called when a handshake in progress has ended, for any reason.
    func ended(_ handshake: ClientTLSHandshake) {
        if let place = underWay.firstIndex(where: { $0.handshake === handshake }) { underWay.remove(at: place) }
        beginNext()
    }

    /// Called when a waiting handshake was canceled.
    func left() {
        leftCount += 1
        guard leftCount * 2 > waiting.count else { return }
        waiting.removeAll { !$0.awaitsTurn }
        leftCount = 0
    }

    func deadlinePassed(_ timer: TimerID) { beginNext() }

    private func beginNext() {
        // A handshake that fails within this function calls it again: the outer call continues.
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

    /// Ends the handshake that began first: at once if its client has already had enough time, otherwise when that time has passed.
    /// - Returns: whether there is a free place.
    private func makeRoom() -> Bool {
        guard let oldest = underWay.first else { return false }
        let moment = oldest.moment.advanced(milliseconds: worker.settings.timeouts.undisturbedHandshake)
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
