import CLarderLinux
import Glibc
import Synchronization

/// A value with a lock. Threads can wait until other threads change the value.
///
/// `wake` never blocks on the woken threads. The broadcast of glibc's condition variable waits for threads that were woken before and
/// have not run since, and event loops call `wake`. So waiting uses the kernel's `futex` directly, beside the C library's mutex.
/// @unchecked: `value` and `waitingCount` are only accessed while `mutex` is held, or atomically.
final class Monitor<Value>: @unchecked Sendable {
    private var value: Value
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// How many times `wake` was called.
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

    /// Wakes all waiting threads to check again. Call it after a change, without the lock.
    func wake() {
        larder_futex_count(wakes)
        // A thread that began to wait before the change is included in `waitingCount`; a thread that checks the value later
        // sees the change.
        if waitingCount.load(ordering: .sequentiallyConsistent) > 0 { larder_futex_wake(wakes) }
    }

    /// Waits until `body` returns a result. Calls it again after each `wake`, and once more after `milliseconds`; then returns its
    /// result, possibly `nil`.
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
