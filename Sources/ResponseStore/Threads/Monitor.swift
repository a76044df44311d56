import CLinux
import Glibc
import Synchronization

/// A value behind a lock on which one thread waits for others.
///
/// Who wakes is not held up by those who wake: a condition of the C library's has its broadcast wait for threads that were woken before and
/// have not had a processor since, and loops wake threads here. So the waiting is the kernel's own (`futex`), beside the library's lock.
/// @unchecked: `value` and `waitingCount` are only touched while `mutex` is held, or atomically.
final class Monitor<Value>: @unchecked Sendable {
    private var value: Value
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// Counts the wakes.
    private let wakes: UnsafeMutablePointer<UInt32>
    private let waitingCount = Atomic<Int>(0)

    init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        wakes = .allocate(capacity: 1)
        wakes.initialize(to: 0)
        precondition(pthread_mutex_init(mutex, nil) == 0)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        wakes.deallocate()
    }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Wakes every thread that waits, to look again. Called behind a change, without the lock.
    func wake() {
        larder_futex_count(wakes)
        // Who began to wait before the change is counted, and who looks behind it sees it.
        if waitingCount.load(ordering: .sequentiallyConsistent) > 0 { larder_futex_wake(wakes) }
    }

    /// Waits until `body` gives a result. It is asked again after each `wake`, and once more when `milliseconds` have passed:
    /// `nil` then.
    func wait<Result>(atMost milliseconds: Int? = nil, until body: (inout Value) -> Result?) -> Result? {
        var deadline = timespec()
        if let milliseconds {
            clock_gettime(CLOCK_MONOTONIC, &deadline)
            let nanoseconds = deadline.tv_nsec + (milliseconds % 1000) * 1_000_000
            deadline.tv_sec += milliseconds / 1000 + nanoseconds / 1_000_000_000
            deadline.tv_nsec = nanoseconds % 1_000_000_000
        }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            waitingCount.add(1, ordering: .sequentiallyConsistent)
            let seen = larder_futex_read(wakes)
            pthread_mutex_unlock(mutex)
            let isOver =
                milliseconds == nil
                ? larder_futex_wait(wakes, seen, nil) == ETIMEDOUT : larder_futex_wait(wakes, seen, &deadline) == ETIMEDOUT
            waitingCount.subtract(1, ordering: .sequentiallyConsistent)
            pthread_mutex_lock(mutex)
            if isOver { return body(&value) }
        }
    }
}
