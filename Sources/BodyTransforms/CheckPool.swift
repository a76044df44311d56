import CLarderLinux
import EventLoop
import Glibc
import Synchronization

/// A thread with its queue that checks and transforms bodies, and verifies recorded chains, so that no loop has to do so.
///
/// It has a slightly lower priority than the loops: if there are no more processors than loops, other requests go first.
package final class CheckPool: Sendable {
    private let loop: LoopThread
    /// The kinds of work, which are counted separately.
    package enum Kind { case body, recordedChain }

    private let waitingBodies = Atomic<Int>(0)
    private let waitingChains = Atomic<Int>(0)
    package let memory = GatheredMemory()

    package init() throws(SystemError) {
        loop = try LoopThread(name: "checks", .beside) { _ in
            // On Linux `setpriority` changes only this thread's priority. A lower priority is always permitted.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
        }
    }

    private static let niceness: Int32 = 10

    /// - Parameter limit: the maximum number of work items of this kind, including the item in progress.
    /// - Returns: `false` if the limit is reached. The work is then not done, and there is no reply.
    package func run<Outcome: Sendable>(
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

    /// The minimum size of a large body, in bytes: freeing its memory takes longer than a cache hit.
    package static let largeLength = 1 << 20

    /// Frees bodies, on the pool's thread if one of them is large. The caller must not keep references.
    package func letGo(of bodies: consuming [[UInt8]]) {
        guard bodies.contains(where: { $0.capacity >= Self.largeLength }) else { return }
        let leaving = Leaving(bodies)
        loop.handle.post { _ in leaving.letGo() }
    }

    /// The bodies are in an object so that the pool's thread frees them. Bodies captured by a closure would be freed by the last thread
    /// that releases the closure.
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

    package func stop() {
        loop.handle.stop()
        loop.join()
    }
}
