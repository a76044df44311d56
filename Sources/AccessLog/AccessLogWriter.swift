import EventLoop

/// Collects the lines from the loops and writes them. Confined to its thread, which may block on a disk.
final class AccessLogWriter: EventHandler, TimerHandler {
    private unowned let loop: EventLoop
    private let wakeup: AccessLogWakeup
    private let buffers: AccessLogBuffers
    private var file: AccessLogFile
    private let warn: @Sendable (String) -> Void
    private var lines = AccessLines()
    private var timer: TimerID?
    private var isTimerSet = false
    private var warnedDropCount: UInt64 = 0
    private var nextWarning: MonotonicTime

    /// How long lines are collected before they are written. With `tail -f`, this delay is too short to notice.
    private static let gatherMilliseconds = 100
    private static let warningIntervalMilliseconds = 60_000

    static func start(
        on loop: EventLoop, wakeup: AccessLogWakeup, buffers: AccessLogBuffers, file: consuming AccessLogFile,
        warn: @escaping @Sendable (String) -> Void
    ) {
        let writer = AccessLogWriter(loop, wakeup, buffers, file, warn)
        do throws(SystemError) {
            // The loop keeps the writer alive until the loop ends, because the writer is registered with the loop until then.
            _ = try loop.register(wakeup.descriptor, .read, handler: writer)
            writer.timer = loop.makeTimer(writer)
        } catch {
            warn("cannot write the access log: \(error)")
        }
    }

    private init(
        _ loop: EventLoop, _ wakeup: AccessLogWakeup, _ buffers: AccessLogBuffers, _ file: consuming AccessLogFile,
        _ warn: @escaping @Sendable (String) -> Void
    ) {
        self.loop = loop
        self.wakeup = wakeup
        self.buffers = buffers
        self.file = file
        self.warn = warn
        nextWarning = loop.now
        lines.reserve()
    }

    func ready(_ events: ReadyEvents) {
        let flags = wakeup.takeFlags()
        if flags.contains(.reopen) {
            writeAll()
            reopen()
        }
        if flags.contains(.close) {
            writeAll()
            loop.stop()
        } else if flags.contains(.write) {
            writeAll()
        } else if let timer, !isTimerSet {
            isTimerSet = true
            loop.setTimer(timer, afterMilliseconds: Self.gatherMilliseconds)
        }
    }

    func deadlinePassed(_ timer: TimerID) {
        isTimerSet = false
        writeAll()
    }

    private func writeAll() {
        wakeup.disarm()
        for buffer in buffers.all {
            buffer.take(&lines)
            let written = file.write(lines.bytes.span)
            if written < lines.bytes.count { wakeup.countDropped(UInt64(lines.count(from: written))) }
            lines.removeAll()
        }
        warnOfDrops()
    }

    private func reopen() {
        do throws(SystemError) {
            try file.reopen()
        } catch {
            warn("cannot reopen the access log \(file.path), so the open file stays in use: \(error)")
        }
    }

    private func warnOfDrops() {
        let dropped = wakeup.droppedCount
        guard dropped > warnedDropCount, loop.now >= nextWarning else { return }
        warn("the access log cannot be written fast enough: \(dropped - warnedDropCount) requests were not logged")
        warnedDropCount = dropped
        nextWarning = loop.now.advanced(milliseconds: Self.warningIntervalMilliseconds)
    }
}
