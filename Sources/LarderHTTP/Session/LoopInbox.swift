import EventLoop
import Synchronization

/// The queue of one session thread: messages for its loop, and jobs of tasks that prefer to run there, in order of arrival. The
/// first entry wakes the loop; later ones find it awake.
///
/// As a task executor it never loses a job: a job that arrives after the loop has ended runs on the global executor.
final class LoopInbox: TaskExecutor {
    typealias Message = @Sendable (SessionLoop) -> Void

    private enum Entry {
        case message(Message)
        case job(UnownedJob)
    }

    private struct State {
        var entries: [Entry] = []
        /// Whether the loop will read the queue before it sleeps.
        var isAwake = false
        var isClosed = false
        var loop: LoopHandle?
    }

    private let state = Guarded(State())
    private let isPreferred = Atomic(false)

    /// How many entries are handled before the loop polls its sockets again.
    private static let entriesInTurn = 256

    func open(_ loop: LoopHandle) { state.withLock { $0.loop = loop } }

    /// - Returns: `false` if the loop has ended; the message is then dropped.
    func post(_ message: @escaping Message) -> Bool { put(.message(message)) }

    func enqueue(_ job: consuming ExecutorJob) {
        isPreferred.store(true, ordering: .relaxed)
        let job = UnownedJob(job)
        if !put(.job(job)) { globalConcurrentExecutor.enqueue(job) }
    }

    private func put(_ entry: Entry) -> Bool {
        let (isAccepted, sleeper): (Bool, LoopHandle?) = state.withLock { state in
            if state.isClosed { return (false, nil) }
            state.entries.append(entry)
            if state.isAwake { return (true, nil) }
            state.isAwake = true
            return (true, state.loop)
        }
        sleeper?.post { loop in
            if let owner = loop.owner as? SessionLoop { owner.readInbox() }
        }
        return isAccepted
    }

    // MARK: From the loop

    /// Call this when the loop is about to do something that tasks may wait for. Tasks that prefer to run on the loop then need not
    /// wake it.
    /// - Returns: whether the loop must call `work` in this batch because of this call.
    func expectJobs() -> Bool {
        guard isPreferred.load(ordering: .relaxed) else { return false }
        return state.withLock { state in
            if state.isAwake { return false }
            state.isAwake = true
            return true
        }
    }

    /// Handles the entries of the queue, and the entries added meanwhile, up to a limit.
    /// - Returns: whether entries are left.
    func work(for loop: SessionLoop) -> Bool {
        var left = Self.entriesInTurn
        var entries: [Entry] = []
        while left > 0 {
            let isEmpty = state.withLock { state in
                if state.entries.isEmpty {
                    state.isAwake = false
                    return true
                }
                swap(&entries, &state.entries)
                return false
            }
            if isEmpty { return false }
            left -= entries.count
            for entry in entries {
                switch entry {
                case .message(let message): message(loop)
                case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
                }
            }
            entries.removeAll(keepingCapacity: true)
        }
        return true
    }

    /// Closes the queue. Messages that are left are dropped; jobs move to the global executor.
    func close() {
        let entries = state.withLock { state in
            state.isClosed = true
            defer { state.entries = [] }
            return state.entries
        }
        for case .job(let job) in entries { globalConcurrentExecutor.enqueue(job) }
    }
}
