import CLinux
import EventLoop
import Glibc
import Synchronization

/// The thread on which bodies are checked and transformed and recorded chains judged, away from every loop, and the queue before it.
///
/// It is a little nicer than the loops: where there are no more processors than loops, requests that want nothing of it go before.
final class CheckPool: Sendable {
    private let loop: LoopThread
    /// What is waited for, each kind with a count of its own.
    enum Kind { case body, recordedChain }

    private let waitingBodies = Atomic<Int>(0)
    private let waitingChains = Atomic<Int>(0)
    let memory = GatheredMemory()

    init() throws(SystemError) {
        loop = try LoopThread(name: "checks", .beside) { _ in
            // On Linux of this thread alone. To be nicer is always permitted.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
        }
    }

    private static let niceness: Int32 = 10

    /// - Parameter limit: how many of this kind may wait, the one under way counted.
    /// - Returns: `false` where as many wait already; there is no answer then.
    func run<Outcome: Sendable>(
        _ kind: Kind, limit: Int, reply: Reply<Outcome>, _ check: @escaping @Sendable () -> Outcome
    ) -> Bool {
        guard count(1, kind) <= limit else {
            _ = count(-1, kind)
            return false
        }
        return loop.handle.post { [self] _ in
            let outcome = check()
            _ = count(-1, kind)
            reply.send(outcome)
        }
    }

    /// From so many bytes on a body is large: to give its memory back takes longer than a hit does.
    static let largeLength = 1 << 20

    /// Lets go of bodies, where one of them is large on the pool's thread: whoever calls keeps none of them.
    func letGo(of bodies: consuming [[UInt8]]) {
        guard bodies.contains(where: { $0.capacity >= Self.largeLength }) else { return }
        let leaving = Leaving(bodies)
        loop.handle.post { _ in leaving.letGo() }
    }

    /// What only the pool's thread ends: that of a closure's would be ended by whoever is done with the closure last.
    private final class Leaving: Sendable {
        private let bodies: Guarded<[[UInt8]]>
        init(_ bodies: consuming [[UInt8]]) { self.bodies = Guarded(bodies) }

        func letGo() {
            bodies.withLock { $0 = [] }
        }
    }

    private func count(_ change: Int, _ kind: Kind) -> Int {
        switch kind {
        case .body: waitingBodies.wrappingAdd(change, ordering: .relaxed).newValue
        case .recordedChain: waitingChains.wrappingAdd(change, ordering: .relaxed).newValue
        }
    }

    func stop() {
        loop.handle.stop()
        loop.join()
    }
}
