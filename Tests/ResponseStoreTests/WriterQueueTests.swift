import HTTPCaching
import Testing

@testable import ResponseStore

@Suite("The writer's queue")
struct WriterQueueTests {
    static let operation = WriterOperation.store(
        Sample.response("q", body: [UInt8](repeating: 1, count: 16 << 10)), KeyHash(low: 1, high: 1))

    /// Offers operations until one is refused.
    static func fill(_ queue: WriterQueue) -> Int {
        var count = 0
        while count < 1_000_000, queue.offer(operation) == nil { count += 1 }
        return count
    }

    @Test("The queue accepts as much as the writer can write at its pace within a part of a second")
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
        // The operations are taken, but not written: still nothing more is accepted.
        #expect(queue.offer(Self.operation) == .writerBehind)
        queue.didWrite(operations.reduce(0) { $0 + $1.work })
        #expect(queue.offer(Self.operation) == nil)
    }

    @Test("Nothing is accepted while a transaction does not complete")
    func refusesWhileStalled() {
        var limits = StoreLimits()
        limits.stalledMilliseconds = -1
        let queue = WriterQueue(limits: limits)
        #expect(queue.offer(Self.operation) == nil)
        #expect(queue.offer(Self.operation) == .writerStalled)
        // Except for a response that was admitted before: its client was told that it is stored.
        #expect(queue.offer(Self.operation, isPromised: true) == nil)
    }

    @Test("The estimated pace falls at once when the disk becomes slow, and rises soon when it becomes fast again")
    func measuresThePace() {
        var pace = WriterPace()
        pace.begin(at: 0)
        pace.end(100_000, at: 100)
        #expect(pace.milliseconds(for: 10_000_000) > 500)
        for number in 1...8 { pace.end(10_000_000, at: 100 + Int64(number) * 50) }
        #expect(pace.milliseconds(for: 10_000_000) < 60)
    }

    @Test("An idle writer always accepts one operation, however slow it was")
    func takesOne() {
        let queue = WriterQueue(limits: StoreLimits())
        #expect(
            queue.offer(
                .store(Sample.response("l", body: Sample.bytes(40 << 20, seed: 1)), KeyHash(low: 1, high: 1))) == nil)
    }
}
