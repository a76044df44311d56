import CLinux
import EventLoop
import Synchronization

/// The thread on which bodies are checked and recorded chains judged, away from every loop, and the queue before it.
final class CheckPool: Sendable {
    private let loop: LoopThread
    private let waiting = Atomic<Int>(0)
    let memory = CheckMemory()

    init() throws(SystemError) { loop = try LoopThread(name: "checks") { _ in } }

    /// - Parameter limit: how many checks may wait, the one under way counted.
    /// - Returns: `false` where as many wait already; there is no answer then.
    func run<Outcome: Sendable>(
        limit: Int, reply: Reply<Outcome>, _ check: @escaping @Sendable () -> Outcome
    ) -> Bool {
        guard waiting.wrappingAdd(1, ordering: .relaxed).newValue <= limit else {
            waiting.wrappingSubtract(1, ordering: .relaxed)
            return false
        }
        return loop.handle.post { [self] _ in
            let outcome = check()
            waiting.wrappingSubtract(1, ordering: .relaxed)
            reply.send(outcome)
        }
    }

    func stop() {
        loop.handle.stop()
        loop.join()
    }
}
