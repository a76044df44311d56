import EventLoop
import Synchronization

/// What is to be done on one of a session's threads: messages for its loop, and jobs of tasks that prefer to run there, in the order in
/// which they came. The first of them wakes the loop; the others find it awake.
///
/// As a task executor it never loses a job: what comes when the loop has ended runs where tasks run that prefer nothing.
final class LoopInbox: TaskExecutor {
    typealias Message = @Sendable (SessionLoop) -> Void

    private enum Entry {
        case message(Message)
        case job(UnownedJob)
    }

    private struct State {
        var entries: [Entry] = []
        /// The loop is going to look here before it sleeps.
        var isAwake = false
        var isClosed = false
        var loop: LoopHandle?
    }

    private let state = Guarded(State())
    private let isPreferred = Atomic(false)

    /// Entries in one turn of the loop; the sockets come before the others.
    private static let entriesInTurn = 256

    func open(_ loop: LoopHandle) { state.withLock { $0.loop = loop } }

    /// - Returns: `false` where the loop has ended; the message is then dropped.
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

    /// Something is about to happen on the loop that tasks may wait for. Those that prefer to run there need not wake it.
    /// - Returns: whether the loop has to call `work` in this batch, which it had not to before.
    func expectJobs() -> Bool {
        guard isPreferred.load(ordering: .relaxed) else { return false }
        return state.withLock { state in
            if state.isAwake { return false }
            state.isAwake = true
            return true
        }
    }

    /// Does what there is, and what comes of it, up to a limit.
    /// - Returns: whether something is left.
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

    /// Nothing comes any more. What is left is dropped, and jobs are handed on.
    func close() {
        let entries = state.withLock { state in
            state.isClosed = true
            defer { state.entries = [] }
            return state.entries
        }
        for case .job(let job) in entries { globalConcurrentExecutor.enqueue(job) }
    }
}
