import HTTPCaching
import Synchronization

/// The operations queued for the writer: bounded, filled by any thread, emptied by the writer's thread.
///
/// A response that `offer` accepts must be in the file one second later, whatever happens to the process. So `offer` accepts only
/// what the writer can write within a part of that second, at the pace of its latest transactions. It accepts nothing while no
/// transaction completes.
final class WriterQueue: Sendable {
    private struct Contents {
        var operations: [WriterOperation] = []
        var byteCount = 0
        /// The cost for the writer, in bytes: of the queued operations, and of the operations that the writer has taken and not
        /// yet written.
        var work = 0
        var workTaken = 0
        /// When the first of the queued operations was added.
        var since: Int64 = 0
        /// When the latest transaction ended, or when work was added to an empty queue.
        var lastProgress: Int64 = 0
        var pace = WriterPace()
        /// The length of the log after the latest commit.
        var logLength = 0
        var logRate = LogRate()
        var isUrgent = false
        var isStopping = false
        /// Whether the writer has taken its last operations: an operation added now would never be done.
        var hasStopped = false
        /// Whether the writer waits for any operation, or for more of them.
        var waiting = Waiting.no
    }

    private enum Waiting { case no, forAny, forEnough }

    enum Wake {
        case work([WriterOperation])
        case quiet
        case stopping([WriterOperation])
    }

    /// Enough operations for an efficient transaction.
    private static let enoughOperations = 1024
    private static let enoughBytes = 2 << 20

    private let limits: StoreLimits
    private let monitor: Monitor<Contents>
    /// Set while the disk is full: new responses are rejected.
    let refusesNew = Atomic<Bool>(false)

    init(limits: StoreLimits) {
        self.limits = limits
        monitor = Monitor(Contents())
    }

    var count: (operations: Int, bytes: Int) { monitor.withLock { ($0.operations.count, $0.byteCount) } }

    /// Why a new body should not be stored; `nil` if it may be stored.
    var refusal: UnstoredReason? {
        if refusesNew.load(ordering: .relaxed) { return .diskFull }
        let now = Clock.monotonicMilliseconds()
        return monitor.withLock { refusal(of: 0, now: now, $0) }
    }

    private func refusal(of bytes: Int, now: Int64, _ contents: Contents) -> UnstoredReason? {
        if contents.byteCount + bytes > limits.queuedBytes || contents.operations.count >= limits.queuedOperations {
            return .queueFull
        }
        if contents.logLength > limits.logLimitBytes { return .logFull }
        let work = contents.work + contents.workTaken
        if work == 0 { return nil }
        if contents.logLength + contents.logRate.bytes(for: work) > limits.logLimitBytes { return .logFull }
        if now - contents.lastProgress > Int64(limits.stalledMilliseconds) { return .writerStalled }
        return contents.pace.milliseconds(for: work) > limits.queuedMilliseconds ? .writerBehind : nil
    }

    /// Adds an operation within the limits.
    /// - Parameter isPromised: whether `refusal` accepted the response before its body arrived; then only a full disk or a closing
    ///   store causes a rejection.
    /// - Returns: why the operation was not added; `nil` if it was added.
    func offer(_ operation: WriterOperation, isPromised: Bool = false) -> UnstoredReason? {
        if refusesNew.load(ordering: .relaxed) { return .diskFull }
        let (bytes, work) = (operation.byteCount, operation.work)
        let now = Clock.monotonicMilliseconds()
        let (reason, wakes) = monitor.withLock { contents -> (UnstoredReason?, Bool) in
            if contents.isStopping { return (.writeFailed, false) }
            if !isPromised, let reason = refusal(of: bytes, now: now, contents) { return (reason, false) }
            return (nil, add(operation, bytes, work, now: now, urgent: false, to: &contents))
        }
        if wakes { monitor.wake() }
        return reason
    }

    /// Adds an operation that must not be rejected, or is limited elsewhere.
    /// - Parameter urgent: whether a caller waits for it.
    func add(_ operation: WriterOperation, urgent: Bool) {
        // Computed before taking the lock: a pending response has its own lock.
        let (bytes, work) = (operation.byteCount, operation.work)
        let now = Clock.monotonicMilliseconds()
        let (isTaken, wakes) = monitor.withLock { contents in
            if contents.hasStopped { return (false, false) }
            return (true, add(operation, bytes, work, now: now, urgent: urgent, to: &contents))
        }
        if wakes { monitor.wake() }
        if !isTaken, case .lookUp(let job) = operation { job.answer(.unavailable) }
    }

    func stop() {
        monitor.withLock { $0.isStopping = true }
        monitor.wake()
    }

    /// Wakes the writer for work that is not in the queue (memory above its mark, a log that has become short).
    func nudge() {
        monitor.withLock { $0.isUrgent = true }
        monitor.wake()
    }

    // MARK: The writer

    /// Waits for work. Then waits for more work, so that fewer transactions are needed, unless a caller waits for the result.
    func next(waitingAtMost milliseconds: Int) -> Wake {
        let hasWork: Bool? = monitor.wait(atMost: milliseconds) { contents in
            contents.workTaken = 0
            let isOver = !contents.operations.isEmpty || contents.isUrgent || contents.isStopping
            contents.waiting = isOver ? .no : .forAny
            return isOver ? true : nil
        }
        guard hasWork != nil else {
            monitor.withLock { $0.waiting = .no }
            return .quiet
        }
        let left = monitor.withLock { contents in
            limits.gatherMilliseconds - Int(Clock.monotonicMilliseconds() - contents.since)
        }
        if left > 0 {
            let _: Bool? = monitor.wait(atMost: left) { contents in
                let isEnough =
                    contents.isUrgent || contents.isStopping || contents.operations.count >= WriterQueue.enoughOperations
                    || contents.byteCount >= WriterQueue.enoughBytes
                contents.waiting = isEnough ? .no : .forEnough
                return isEnough ? true : nil
            }
        }
        return take()
    }

    private func take() -> Wake {
        let now = Clock.monotonicMilliseconds()
        return monitor.withLock { contents in
            let operations = contents.operations
            contents.operations = []
            contents.operations.reserveCapacity(min(operations.count, WriterQueue.enoughOperations))
            contents.byteCount = 0
            contents.workTaken = contents.work
            contents.work = 0
            contents.pace.begin(at: now)
            contents.isUrgent = false
            contents.waiting = .no
            if contents.isStopping {
                contents.hasStopped = true
                return .stopping(operations)
            }
            return operations.isEmpty ? .quiet : .work(operations)
        }
    }

    /// Notes the length of the log after it was restarted.
    func noteLog(length: Int) { monitor.withLock { $0.logLength = length } }

    /// Notes that a transaction with this cost has ended.
    /// - Parameter log: the log's length now, and by how much the transaction extended it.
    func didWrite(_ work: Int, log: (length: Int, growth: Int) = (0, 0)) {
        let now = Clock.monotonicMilliseconds()
        monitor.withLock { contents in
            contents.logLength = log.length
            contents.logRate.note(log.growth, for: work)
            contents.workTaken = max(0, contents.workTaken - work)
            contents.lastProgress = now
            contents.pace.end(work, at: now)
        }
    }

    // MARK: Under the lock

    /// - Returns: whether to wake the writer.
    private func add(
        _ operation: WriterOperation, _ bytes: Int, _ work: Int, now: Int64, urgent: Bool, to contents: inout Contents
    ) -> Bool {
        if contents.operations.isEmpty { contents.since = now }
        if contents.work + contents.workTaken == 0 { contents.lastProgress = now }
        contents.operations.append(operation)
        contents.byteCount += bytes
        contents.work += work
        if urgent { contents.isUrgent = true }
        switch contents.waiting {
        case .no: return false
        case .forAny: return true
        case .forEnough:
            return urgent || contents.operations.count == WriterQueue.enoughOperations
                || (contents.byteCount >= WriterQueue.enoughBytes && contents.byteCount - bytes < WriterQueue.enoughBytes)
        }
    }
}
