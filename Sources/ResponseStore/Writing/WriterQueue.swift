import HTTPCaching
import Synchronization

/// What the writer is asked to do, in the order in which memory saw it.
enum WriterOperation: Sendable {
    /// `mayReplace`: the file may have something for the key.
    case store(StoredResponse, KeyHash, mayReplace: Bool)
    case freshen(StoredResponse, KeyHash)
    case remove(StoredResponse, KeyHash)
    case invalidate(key: [UInt8], KeyHash)
    case filling(Filling)
    /// Rows that were used.
    case accessed([StoredRowID], at: Int64)
    /// A row or one of its chunks is not what was stored.
    case dropDamaged(StoredRowID)
    /// A statement has found the file damaged.
    case fileIsDamaged(generation: Int, reason: String)
    /// Lets the file grow no further than this, as a full disk would. For tests.
    case limitPages(Int)
    /// A look-up that has to see everything before it.
    case lookUp(LookUpJob)

    /// What it counts for in the queue.
    var byteCount: Int {
        switch self {
        case .store(let response, _, _): Int(response.body.length) + response.preparedHead.count + 512
        default: 256
        }
    }
}

/// Operations waiting for the writer: bounded, filled by any thread, emptied by the writer's.
final class WriterQueue: Sendable {
    private struct Contents {
        var operations: [WriterOperation] = []
        var byteCount = 0
        /// When the first of the operations came.
        var since: Int64 = 0
        /// When the first of those came that the writer is at work on; 0 while it is not.
        var workedOnSince: Int64 = 0
        var isUrgent = false
        var isStopping = false
        /// The writer waits for an end of quiet, or for more of the same.
        var waiting = Waiting.no
    }

    private enum Waiting { case no, forAny, forEnough }

    enum Wake {
        case work([WriterOperation])
        case quiet
        case stopping([WriterOperation])
    }

    /// So many are one good transaction.
    private static let enoughOperations = 1024
    private static let enoughBytes = 2 << 20

    private let limits: StoreLimits
    private let monitor: Monitor<Contents>
    /// Set while the disk is full: nothing new is taken.
    let refusesNew = Atomic<Bool>(false)

    init(limits: StoreLimits) {
        self.limits = limits
        monitor = Monitor(Contents())
    }

    var count: (operations: Int, bytes: Int) { monitor.withLock { ($0.operations.count, $0.byteCount) } }

    /// Whether new bodies should not be begun.
    var isFull: Bool {
        if refusesNew.load(ordering: .relaxed) { return true }
        let now = Clock.monotonicMilliseconds()
        return monitor.withLock { isBehind($0, adding: 0, now: now) }
    }

    /// Bounded in bytes, in number, and by how far the writer is behind.
    private func isBehind(_ contents: Contents, adding bytes: Int, now: Int64) -> Bool {
        if contents.byteCount + bytes > limits.queuedBytes || contents.operations.count >= limits.queuedOperations { return true }
        let waiting = contents.operations.isEmpty ? now : contents.since
        let oldest = contents.workedOnSince == 0 ? waiting : contents.workedOnSince
        return now - oldest > Int64(limits.queuedMilliseconds)
    }

    /// Adds an operation within the bounds.
    /// - Returns: `false` when the queue is full.
    func offer(_ operation: WriterOperation) -> Bool {
        if refusesNew.load(ordering: .relaxed) { return false }
        let bytes = operation.byteCount
        let now = Clock.monotonicMilliseconds()
        let (accepted, wakes) = monitor.withLock { contents in
            if contents.isStopping || isBehind(contents, adding: bytes, now: now) { return (false, false) }
            return (true, add(operation, bytes, urgent: false, to: &contents))
        }
        if wakes { monitor.wake() }
        return accepted
    }

    /// Adds what must not be refused, or is bounded elsewhere.
    /// - Parameter urgent: Somebody waits for it.
    func add(_ operation: WriterOperation, urgent: Bool) {
        let bytes = operation.byteCount
        let wakes = monitor.withLock { add(operation, bytes, urgent: urgent, to: &$0) }
        if wakes { monitor.wake() }
    }

    func stop() {
        monitor.withLock { $0.isStopping = true }
        monitor.wake()
    }

    /// Wakes the writer for work that is not in the queue (memory above its mark).
    func nudge() {
        monitor.withLock { $0.isUrgent = true }
        monitor.wake()
    }

    /// Waits for work; then, unless somebody waits for it, for more of it, so that a transaction is worth its cost.
    func next(waitingAtMost milliseconds: Int) -> Wake {
        let hasWork: Bool? = monitor.wait(atMost: milliseconds) { contents in
            contents.workedOnSince = 0
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
        return monitor.withLock { contents in
            let operations = contents.operations
            contents.workedOnSince = operations.isEmpty ? 0 : contents.since
            contents.operations = []
            contents.operations.reserveCapacity(min(operations.count, WriterQueue.enoughOperations))
            contents.byteCount = 0
            contents.isUrgent = false
            contents.waiting = .no
            if contents.isStopping { return .stopping(operations) }
            return operations.isEmpty ? .quiet : .work(operations)
        }
    }

    /// - Returns: Whether the writer has to be woken.
    private func add(_ operation: WriterOperation, _ bytes: Int, urgent: Bool, to contents: inout Contents) -> Bool {
        if contents.operations.isEmpty { contents.since = Clock.monotonicMilliseconds() }
        contents.operations.append(operation)
        contents.byteCount += bytes
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
