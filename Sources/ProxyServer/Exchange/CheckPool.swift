import CLinux
import EventLoop
import HTTPMessage
import HTTPSerialization
import Synchronization

/// The thread on which bodies are checked, away from every loop. Its queue is bounded by the exchanges that wait for it.
final class CheckPool: Sendable {
    private let loop: LoopThread

    init() throws(SystemError) { loop = try LoopThread(name: "checks") { _ in } }

    func run(_ check: BodyCheck, on body: [UInt8], reply: Reply<BodyCheckOutcome>) {
        loop.handle.post { _ in reply.send(check.outcome(of: body)) }
    }

    func stop() {
        loop.handle.stop()
        loop.join()
    }
}
