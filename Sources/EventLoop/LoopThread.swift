import CLinux

/// A thread that serves one loop.
package final class LoopThread: Sendable {
    package let handle: LoopHandle
    private let thread: pthread_t

    package enum Place: Sendable {
        /// Serves those who wait.
        case first
        /// Works for loops: whoever gives it work is not interrupted by it.
        case beside
    }

    /// Starts the thread. `setUp` runs on it before the loop does.
    /// - Parameter name: At most 15 bytes are kept, for the debugger.
    package init(
        name: String, _ place: Place = .first, setUp: @escaping @Sendable (EventLoop) -> Void = { _ in }
    ) throws(SystemError) {
        let loop = try EventLoop()
        handle = loop.handle
        var thread = pthread_t()
        let start = Unmanaged.passRetained(LoopStart(loop: loop, place: place, setUp: setUp))
        let code = pthread_create(&thread, nil, runLoop, start.toOpaque())
        if code != 0 {
            start.release()
            throw SystemError("pthread_create", code: code)
        }
        _ = pthread_setname_np(thread, String(name.prefix(15)))
        self.thread = thread
    }

    /// Waits until the loop has stopped. Call it once.
    package func join() { pthread_join(thread, nil) }

    /// Waits until the loop has stopped, or so long. Call it once, and `join` not as well.
    /// - Returns: whether it has stopped.
    package func join(withinMilliseconds milliseconds: Int) -> Bool {
        // The clock that ThreadSanitizer can follow; that somebody sets it meanwhile costs no more than time.
        var deadline = timespec()
        clock_gettime(CLOCK_REALTIME, &deadline)
        let nanoseconds = deadline.tv_nsec + milliseconds % 1000 * 1_000_000
        deadline.tv_sec += milliseconds / 1000 + nanoseconds / 1_000_000_000
        deadline.tv_nsec = nanoseconds % 1_000_000_000
        if pthread_timedjoin_np(thread, nil, &deadline) == 0 { return true }
        pthread_detach(thread)
        return false
    }
}

/// What the new thread takes over.
private final class LoopStart {
    let loop: EventLoop
    let place: LoopThread.Place
    let setUp: @Sendable (EventLoop) -> Void
    init(loop: EventLoop, place: LoopThread.Place, setUp: @escaping @Sendable (EventLoop) -> Void) {
        self.loop = loop
        self.place = place
        self.setUp = setUp
    }
}

private func runLoop(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    // Retained by `LoopThread.init`, which gives it away here.
    let start = Unmanaged<LoopStart>.fromOpaque(argument).takeRetainedValue()
    if start.place == .beside { larder_interrupt_nobody() }
    start.setUp(start.loop)
    start.loop.run()
    return nil
}
