import CLinux
import Synchronization

/// A value behind a lock, for short sections that call nothing outside.
///
/// The one place in this room where `Mutex` stands: ThreadSanitizer does not see into its library and would report every use, so
/// that the sanitizer's build (`LARDER_SANITIZE=thread`) tells it what the lock orders.
package struct Guarded<Value: ~Copyable & Sendable>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    #if SANITIZE_THREAD
        private let identity = LockIdentity()
    #endif

    package init(_ value: consuming sending Value) { mutex = Mutex(value) }

    package func withLock<Result: ~Copyable>(_ body: (inout Value) -> Result) -> Result {
        mutex.withLock { value in
            #if SANITIZE_THREAD
                identity.acquire()
                defer { identity.release() }
            #endif
            return body(&value)
        }
    }
}

#if SANITIZE_THREAD
    /// An address by which ThreadSanitizer knows a lock: the object's own.
    private final class LockIdentity: Sendable {
        func acquire() { __tsan_acquire(Unmanaged.passUnretained(self).toOpaque()) }
        func release() { __tsan_release(Unmanaged.passUnretained(self).toOpaque()) }
    }
#endif
