import EventLoop

/// The access log: one line per request, written by a separate thread.
///
/// Loops write lines into buffers (`makeBuffer`). The writer collects the buffers ten times a second, or sooner when one fills, and
/// writes them to the file. If a disk or pipe is too slow, lines are dropped and counted; loops never wait.
package final class AccessLog: Sendable {
    package enum Format: String, Sendable, CaseIterable { case ndjson, squid, combined }

    package struct Configuration: Sendable {
        /// The path of a file, or `-` for standard output.
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

    /// A disabled log: appending a request does nothing.
    package static func off() throws(SystemError) -> AccessLog {
        AccessLog(wakeup: try AccessLogWakeup(), thread: nil, buffers: AccessLogBuffers(), Configuration())
    }

    /// Opens the file and starts the writer's thread.
    /// - Parameter warn: called at most once a minute about dropped lines, and when the file cannot be reopened.
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

    /// Creates a buffer. Each loop or thread that logs creates one buffer, once, and keeps it.
    package func makeBuffer() -> AccessLogBuffer {
        let buffer = AccessLogBuffer(wakeup: wakeup, format: format, isOff: thread == nil, includesQuery: includesQuery)
        if thread != nil { buffers.add(buffer) }
        return buffer
    }

    /// The number of requests that were not logged because a buffer was full or the file could not be written.
    package var droppedCount: UInt64 { wakeup.droppedCount }

    /// Opens the path again after the file was moved. Lines that were appended before may go to either file.
    package func reopen() { wakeup.request(.reopen) }

    /// How long `close` waits for a pipe that is not read.
    static let closingMilliseconds = 2000

    /// Writes all appended lines, stops the writer, and waits until it has ended. Call it once, after the loops have ended.
    /// - Returns: `false` if the file can no longer be written and the last lines are lost.
    @discardableResult
    package func close() -> Bool {
        wakeup.request(.close)
        return thread?.join(withinMilliseconds: Self.closingMilliseconds) ?? true
    }
}

/// The buffers that the writer collects.
final class AccessLogBuffers: Sendable {
    private let buffers = Guarded<[AccessLogBuffer]>([])

    func add(_ buffer: AccessLogBuffer) { buffers.withLock { $0.append(buffer) } }

    var all: [AccessLogBuffer] { buffers.withLock { $0 } }
}
