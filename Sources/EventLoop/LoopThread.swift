import CLarderLinux

/// A thread that runs one loop.
package final class LoopThread: Sendable {
    package let handle: LoopHandle
    private let thread: pthread_t

    package enum Place: Sendable {
        /// The loop serves clients.
        case first
        /// The loop does work for other loops. When it wakes, it does not preempt the thread that gave it work (SCHED_BATCH).
        case beside
    }

    /// Starts the thread. `setUp` runs on it before the loop does.
    /// - Parameter name: for the debugger; at most 15 bytes are kept.
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

    /// Waits until the loop has stopped, or until the time limit. Call it once, and do not also call `join()`.
    /// - Returns: whether the loop has stopped.
    package func join(withinMilliseconds milliseconds: Int) -> Bool {
        // ThreadSanitizer supports a time limit only with the wall clock. If the wall clock is set during the wait, the wait takes longer
        // or shorter.
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

/// The arguments of the new thread.
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
    // Retained by `LoopThread.init`, which passes ownership to this thread.
    let start = Unmanaged<LoopStart>.fromOpaque(argument).takeRetainedValue()
    if start.place == .beside { larder_interrupt_nobody() }
    start.setUp(start.loop)
    start.loop.run()
    return nil
}
