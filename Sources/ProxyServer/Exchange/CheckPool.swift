import CLinux
import EventLoop
import HTTPMessage
import HTTPSerialization
import Synchronization

/// The thread on which bodies are checked, away from every loop, and the queue before it.
final class CheckPool: Sendable {
    private let loop: LoopThread
    private let waiting = Atomic<Int>(0)
    let memory = CheckMemory()

    init() throws(SystemError) { loop = try LoopThread(name: "checks") { _ in } }

    /// - Parameter limit: how many bodies may wait, the one under the check counted.
    /// - Returns: `false` where as many wait already; there is no answer then.
    func run(_ check: BodyCheck, on body: [UInt8], limit: Int, reply: Reply<BodyCheckOutcome>) -> Bool {
        guard waiting.wrappingAdd(1, ordering: .relaxed).newValue <= limit else {
            waiting.wrappingSubtract(1, ordering: .relaxed)
            return false
        }
        return loop.handle.post { [self] _ in
            let outcome = check.outcome(of: body)
            waiting.wrappingSubtract(1, ordering: .relaxed)
            reply.send(outcome)
        }
    }

    func stop() {
        loop.handle.stop()
        loop.join()
    }
}
