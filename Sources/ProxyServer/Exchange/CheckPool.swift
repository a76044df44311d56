import CLinux
import EventLoop
import HTTPMessage
import Synchronization

/// The thread on which bodies are checked, away from every loop. Its queue is bounded by the exchanges that wait for it.
final class CheckPool: Sendable {
    private let loop: LoopThread

    init() throws(SystemError) { loop = try LoopThread(name: "checks") { _ in } }

    /// Fails closed: no body passes a check that cannot be made.
    func run(on body: [UInt8], reply: Reply<BodyCheckOutcome>) {
        loop.handle.post { _ in reply.send(.unsupportedCoding) }
    }

    func stop() {
        loop.handle.stop()
        loop.join()
    }
}
