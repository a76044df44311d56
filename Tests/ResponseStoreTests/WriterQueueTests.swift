import HTTPCaching
import Testing

@testable import ResponseStore

@Suite("What waits for the writer")
struct WriterQueueTests {
    static let operation = WriterOperation.store(
        Sample.response("q", body: [UInt8](repeating: 1, count: 16 << 10)), KeyHash(low: 1, high: 1))

    /// Offers until it is refused.
    static func fill(_ queue: WriterQueue) -> Int {
        var count = 0
        while count < 1_000_000, queue.offer(operation) == nil { count += 1 }
        return count
    }

    @Test("As much is accepted as the writer's pace allows within a part of the second that a kill may take")
    func followsThePace() {
        var limits = StoreLimits()
        limits.stalledMilliseconds = .max
        let queue = WriterQueue(limits: limits)
        let first = Self.fill(queue)
        #expect(first > 100)
        #expect(queue.refusal == .writerBehind)
        guard case .work(let operations) = queue.next(waitingAtMost: 0) else {
            Issue.record("no work")
            return
        }
        #expect(operations.count == first)
        // Taken is not written: still nothing more.
        #expect(queue.offer(Self.operation) == .writerBehind)
        queue.didWrite(operations.reduce(0) { $0 + $1.work })
        #expect(queue.offer(Self.operation) == nil)
    }

    @Test("Nothing is accepted behind a transaction that does not end")
    func refusesWhileStalled() {
        var limits = StoreLimits()
        limits.stalledMilliseconds = -1
        let queue = WriterQueue(limits: limits)
        #expect(queue.offer(Self.operation) == nil)
        #expect(queue.offer(Self.operation) == .writerStalled)
        // But for what was begun before: its client has been told that it is stored.
        #expect(queue.offer(Self.operation, isPromised: true) == nil)
    }

    @Test("The pace follows a disk that becomes slow at once, and one that becomes fast again soon")
    func measuresThePace() {
        var pace = WriterPace()
        pace.begin(at: 0)
        pace.end(100_000, at: 100)
        #expect(pace.milliseconds(for: 10_000_000) > 500)
        for number in 1...8 { pace.end(10_000_000, at: 100 + Int64(number) * 50) }
        #expect(pace.milliseconds(for: 10_000_000) < 60)
    }

    @Test("An idle writer always takes one, however slow it was")
    func takesOne() {
        let queue = WriterQueue(limits: StoreLimits())
        #expect(
            queue.offer(
                .store(Sample.response("l", body: Sample.bytes(40 << 20, seed: 1)), KeyHash(low: 1, high: 1))) == nil)
    }
}
