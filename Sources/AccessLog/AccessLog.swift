import EventLoop

/// The access log: a line for each request, written by a thread of its own.
///
/// Loops write lines into buffers (`makeBuffer`), the writer collects these ten times a second, or sooner when one fills, and
/// writes them to the file. A disk or pipe that is too slow costs lines, which are counted, and never a loop's time.
package final class AccessLog: Sendable {
    package enum Format: String, Sendable, CaseIterable { case ndjson, squid, combined }

    package struct Configuration: Sendable {
        /// A file, or `-` for standard output.
        package var path: String
        package var format: Format
        package var includesQuery: Bool

        package init(path: String = "-", format: Format = .ndjson, includesQuery: Bool = false) {
            self.path = path
            self.format = format
            self.includesQuery = includesQuery
        }
    }

    private let wakeup: AccessLogWakeup
    private let format: Format
    private let includesQuery: Bool
    private let thread: LoopThread?
    private let buffers: AccessLogBuffers

    /// No log: noting a request does nothing.
    package static func off() throws(SystemError) -> AccessLog {
        AccessLog(wakeup: try AccessLogWakeup(), thread: nil, buffers: AccessLogBuffers(), Configuration())
    }

    /// Opens the file and starts the writer's thread.
    /// - Parameter warn: told at most once a minute about lines that were dropped, and of a file that cannot be opened again.
    package convenience init(
        _ configuration: Configuration, warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(SystemError) {
        let wakeup = try AccessLogWakeup()
        let buffers = AccessLogBuffers()
        let descriptor = try AccessLogFile.open(configuration.path)
        let thread = try LoopThread(name: "access-log") { loop in
            let file = AccessLogFile(path: configuration.path, descriptor: descriptor)
            AccessLogWriter.start(on: loop, wakeup: wakeup, buffers: buffers, file: file, warn: warn)
        }
        self.init(wakeup: wakeup, thread: thread, buffers: buffers, configuration)
    }

    private init(wakeup: AccessLogWakeup, thread: LoopThread?, buffers: AccessLogBuffers, _ configuration: Configuration) {
        self.wakeup = wakeup
        self.thread = thread
        self.buffers = buffers
        format = configuration.format
        includesQuery = configuration.includesQuery
    }

    /// A buffer for one loop (or one thread): make it once, and keep it.
    package func makeBuffer() -> AccessLogBuffer {
        let buffer = AccessLogBuffer(wakeup: wakeup, format: format, isOff: thread == nil, includesQuery: includesQuery)
        if thread != nil { buffers.add(buffer) }
        return buffer
    }

    /// How many requests were not logged, because a buffer was full or the file took nothing.
    package var droppedCount: UInt64 { wakeup.droppedCount }

    /// Opens the file again under its name, after it was moved away. What was noted before may go to either.
    package func reopen() { wakeup.request(.reopen) }

    /// A pipe that nobody reads is waited for no longer than this at the end.
    static let closingMilliseconds = 2000

    /// Writes all that was noted, ends the writer, and waits for it. Call it once, after the loops have ended.
    /// - Returns: `false` where the file takes nothing any more, and what was noted last is lost.
    @discardableResult
    package func close() -> Bool {
        wakeup.request(.close)
        return thread?.join(withinMilliseconds: Self.closingMilliseconds) ?? true
    }
}

/// The buffers that the writer goes through.
final class AccessLogBuffers: Sendable {
    private let buffers = Guarded<[AccessLogBuffer]>([])

    func add(_ buffer: AccessLogBuffer) { buffers.withLock { $0.append(buffer) } }

    var all: [AccessLogBuffer] { buffers.withLock { $0 } }
}
