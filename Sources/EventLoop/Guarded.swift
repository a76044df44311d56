import CLarderLinux
import Synchronization

/// A value protected by a lock. The code that runs under the lock must be short, and must not call other modules.
///
/// No other code uses `Mutex`. ThreadSanitizer does not see into the library of `Mutex`, and would report every use. So the sanitizer's
/// build (`LARDER_SANITIZE=thread`) announces each lock and unlock. The methods are inlined into other modules, so that they cost no more
/// than those of `Mutex`.
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
    /// A lock's identity for ThreadSanitizer: the address of this object.
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
