import CLarderLinux
import Synchronization

/// Up to 128 KiB of a body that is being stored: written once, in order, by the loop that fetches it, and read by any loop.
///
/// @unchecked: a byte is written under its pending response's lock before `PendingResponse` publishes a range that contains it, and
/// never again.
package final class BodyChunk: @unchecked Sendable {
    private let start: UnsafeMutableRawPointer
    let capacity: Int
    /// Accessed by the pending response, under its lock.
    private(set) var count = 0
    private let budget: PendingBudget

    init(capacity: Int, budget: PendingBudget) {
        start = .allocate(byteCount: capacity, alignment: 16)
        self.capacity = capacity
        self.budget = budget
        budget.bytes.add(capacity, ordering: .relaxed)
    }

    deinit {
        start.deallocate()
        budget.bytes.subtract(capacity, ordering: .relaxed)
    }

    var isFull: Bool { count == capacity }

    /// Copies as many bytes as fit.
    /// - Returns: the number of bytes copied.
    func append(_ bytes: Span<UInt8>, in range: Range<Int>) -> Int {
        let length = min(range.count, capacity - count)
        bytes.extracting(range).withUnsafeBytes { source in
            if let base = source.baseAddress { (start + count).copyMemory(from: base, byteCount: length) }
        }
        count += length
        return length
    }

    /// The bytes in a range that `PendingReader.read` has returned.
    package func withBytes<Result, Failure: Error>(
        _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(range.lowerBound >= 0 && range.upperBound <= capacity, "outside the chunk")
        return try body(UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count))
    }
}

/// The memory used by all pending responses of a store.
final class PendingBudget: Sendable {
    let bytes = Atomic<Int>(0)
    let limit: Int

    init(limit: Int) { self.limit = limit }

    var isExceeded: Bool { bytes.load(ordering: .relaxed) > limit }
}
