import CLinux
import Synchronization

/// A value behind a lock, for short sections that call nothing outside.
///
/// The one place where `Mutex` stands: ThreadSanitizer does not see into its library and would report every use, so that the
/// sanitizer's build (`LARDER_SANITIZE=thread`) tells it what the lock orders. Inlined into the rooms above, so that it costs
/// there what `Mutex` costs.
@frozen
@usableFromInline
package struct Guarded<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline let mutex: Mutex<Value>
    #if SANITIZE_THREAD
        @usableFromInline let identity = LockIdentity()
    #endif

    @inlinable
    package init(_ value: consuming sending Value) { mutex = Mutex(value) }

    @inlinable
    package borrowing func withLock<Result: ~Copyable>(_ body: (inout sending Value) -> sending Result) -> sending Result {
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
    @usableFromInline
    final class LockIdentity: Sendable {
        @usableFromInline
        init() {}

        @usableFromInline
        func acquire() { __tsan_acquire(Unmanaged.passUnretained(self).toOpaque()) }

        @usableFromInline
        func release() { __tsan_release(Unmanaged.passUnretained(self).toOpaque()) }
    }
#endif
