import EventLoop
import RESPWire

/// The result of a purge for the whole farm.
package enum FarmPurgeResult: Equatable, Sendable {
    /// No node serves a response from before the purge.
    /// - nodes: the number of nodes with a live lease.
    case done(nodes: Int)
    /// These nodes have a live lease and have not confirmed the purge in time.
    case unconfirmed([String])
    case failed(String)
}

/// Waits until each node with a live lease has confirmed a purge, or its lease has ended. Confined to its loop.
final class FarmPurgeWait: TimerHandler {
    private let mark: FarmMark
    private unowned let worker: TierWorker
    private let reply: Reply<FarmPurgeResult>
    private let deadline: MonotonicTime
    private var timer: TimerID?
    private var completion: () -> Void = {}
    private var isAsking = false
    private var hasEnded = false
    private var missing: [String] = []
    private var lastFailure: EngineFailure?

    private static let pauseMilliseconds = 20

    init(for mark: FarmMark, _ worker: TierWorker, milliseconds: Int, _ reply: Reply<FarmPurgeResult>) {
        self.mark = mark
        self.worker = worker
        self.reply = reply
        deadline = worker.loop.now.advanced(milliseconds: milliseconds)
    }

    func begin(_ completion: @escaping () -> Void) {
        self.completion = completion
        timer = worker.loop.makeTimer(self)
        look()
    }

    func look() {
        if isAsking || hasEnded { return }
        isAsking = true
        worker.farm.nodes(of: mark) { [self] result in
            isAsking = false
            if hasEnded { return }
            switch result {
            case .failure(let failure): lastFailure = failure
            case .success(let survey):
                lastFailure = nil
                guard let unconfirmed = survey.unconfirmed(mark) else {
                    return end(.failed("the shared tier has lost its data during the purge; purge again"))
                }
                if unconfirmed.isEmpty { return end(.done(nodes: survey.nodes.count { $0.isLive })) }
                missing = unconfirmed.map(\.name)
            }
            guard worker.loop.now < deadline, let timer else { return endLate() }
            worker.loop.setTimer(timer, afterMilliseconds: Self.pauseMilliseconds)
        }
    }

    private func endLate() {
        if missing.isEmpty, let lastFailure { return end(.failed(lastFailure.description)) }
        end(.unconfirmed(missing))
    }

    func deadlinePassed(_ timer: TimerID) { look() }

    func fail(_ failure: EngineFailure) { end(.failed(failure.description)) }

    private func end(_ result: FarmPurgeResult) {
        if hasEnded { return }
        hasEnded = true
        if let timer { worker.loop.removeTimer(timer) }
        timer = nil
        reply.send(result)
        completion()
    }
}
