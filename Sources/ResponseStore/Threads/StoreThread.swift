import CLarderLinux
import Glibc

/// A thread of the store. Runs its body once; `join` waits for the end.
final class StoreThread: Sendable {
    private let thread: pthread_t

    /// - Parameter name: for the debugger; at most 15 bytes are kept.
    init(name: String, _ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let start = Unmanaged.passRetained(ThreadStart(body))
        let code = pthread_create(&thread, nil, runThread, start.toOpaque())
        precondition(code == 0, "no thread for the store")
        _ = pthread_setname_np(thread, String(name.prefix(15)))
        self.thread = thread
    }

    /// Waits for the end of the thread. Call this only once.
    func join() { pthread_join(thread, nil) }
}

private final class ThreadStart {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    // Retained by `StoreThread.init`, which passes ownership to this thread.
    Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue().body()
    return nil
}
