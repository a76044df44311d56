import HTTPCaching

/// A queued lookup.
struct LookUpJob: Sendable {
    var key: [UInt8]
    var hash: KeyHash
    /// How often the lookup was postponed because of a change to its key.
    var attempts = 0
    var answer: @Sendable (LookUpResult) -> Void
}

/// A queued read of a piece of a body.
struct BodyReadJob: Sendable {
    var body: BodyReference
    var offset: UInt64
    var answer: @Sendable (BodyReadResult) -> Void
}

enum ReadJob: Sendable {
    case lookUp(LookUpJob)
    case body(BodyReadJob)
}

/// The result of a lookup on disk.
package enum LookUpResult: Sendable {
    case found(StoredVariants)
    case absent
    /// Too many reads are queued, or the file cannot be read. For this request, the response is treated as absent.
    case unavailable
}

/// A piece of a body from disk.
package enum BodyReadResult: Sendable {
    /// The range has the requested bytes, from the requested offset on.
    case bytes([UInt8], Range<Int>)
    /// The piece is missing or corrupt. The response is being removed.
    case failed
}

/// The jobs queued for the reading threads, and whether these threads may open the file.
final class ReaderPool<Job: Sendable>: Sendable {
    private struct Contents {
        var jobs = RingBuffer<Job>()
        var isStopping = false
        /// Whether the file is being replaced, so that connections must be closed.
        var isSuspended = false
        var openConnections = 0
    }

    enum Work {
        case job(Job)
        case closeFile
        case stop
    }

    private let limit: Int
    private let monitor: Monitor<Contents>

    init(limit: Int) {
        self.limit = limit
        monitor = Monitor(Contents())
    }

    /// - Returns: `false` if too many jobs are queued.
    func add(_ job: Job) -> Bool {
        let accepted = monitor.withLock { contents in
            if contents.isStopping || contents.jobs.count >= limit { return false }
            contents.jobs.append(job)
            return true
        }
        if accepted { monitor.wake() }
        return accepted
    }

    func stop() {
        monitor.withLock { $0.isStopping = true }
        monitor.wake()
    }

    // MARK: The readers

    func next(hasFileOpen: Bool) -> Work {
        monitor.wait { contents in
            if contents.isStopping { return Work.stop }
            if contents.isSuspended { return hasFileOpen ? .closeFile : nil }
            return contents.jobs.popFirst().map { .job($0) }
        } ?? .stop
    }

    func mayOpen() -> Bool {
        monitor.withLock { contents in
            if contents.isSuspended { return false }
            contents.openConnections += 1
            return true
        }
    }

    func didClose() {
        monitor.withLock { $0.openConnections -= 1 }
        monitor.wake()
    }

    /// Removes all queued jobs, which no reader will do any more.
    func takeAll() -> [Job] {
        monitor.withLock { contents in
            var jobs: [Job] = []
            while let job = contents.jobs.popFirst() { jobs.append(job) }
            return jobs
        }
    }

    // MARK: The writer

    /// Makes every reader close the file, and waits until all have closed it.
    func suspend() {
        monitor.withLock { $0.isSuspended = true }
        monitor.wake()
        let _: Bool? = monitor.wait { $0.openConnections == 0 ? true : nil }
    }

    func resume() {
        monitor.withLock { $0.isSuspended = false }
        monitor.wake()
    }
}

/// A first-in, first-out queue.
struct RingBuffer<Element> {
    private var elements: [Element?] = []
    private var start = 0
    private(set) var count = 0

    var first: Element? { count == 0 ? nil : elements[start] }

    mutating func append(_ element: Element) {
        if count == elements.count { grow() }
        elements[(start + count) & (elements.count - 1)] = element
        count += 1
    }

    mutating func popFirst() -> Element? {
        if count == 0 { return nil }
        let element = elements[start]
        elements[start] = nil
        start = (start + 1) & (elements.count - 1)
        count -= 1
        return element
    }

    private mutating func grow() {
        var larger: [Element?] = []
        larger.reserveCapacity(max(16, elements.count * 2))
        for index in 0..<count { larger.append(elements[(start + index) & (elements.count - 1)]) }
        larger.append(contentsOf: repeatElement(nil, count: max(16, elements.count * 2) - count))
        elements = larger
        start = 0
    }
}
