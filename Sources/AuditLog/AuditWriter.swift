import EventLoop
import Glibc
import HTTPMessage
import ServerTrust

/// Writes the events as a chain of lines, seals them, and begins new files. Confined to its thread.
final class AuditWriter: TimerHandler {
    private unowned let loop: EventLoop
    private let configuration: AuditLog.Configuration
    private let key: AuditKey
    private var file: AuditLogFile
    private var number: UInt64
    private var hash: SHA256Digest
    private var unsealedCount: UInt64
    /// Events that were lost since the last line was written.
    private var lostCount: UInt64 = 0
    private let queue: AuditQueue
    private let status: AuditStatus
    private let warn: @Sendable (String) -> Void
    private var timer: TimerID?
    private var isTimerSet = false
    private var nextWarning: MonotonicTime?

    /// The maximum size of lines that are written at once, in bytes. A file exceeds its size by at most this much.
    private let batchLimit: Int
    /// After a failed renaming, a new file begins at this time at the earliest.
    private var nextRotation: MonotonicTime?
    private static let warningIntervalMilliseconds = 60_000

    init(
        on loop: EventLoop, _ start: AuditStart, _ configuration: AuditLog.Configuration, queue: AuditQueue, status: AuditStatus,
        warn: @escaping @Sendable (String) -> Void
    ) {
        self.configuration = configuration
        batchLimit = min(1 << 20, max(4096, Int(clamping: configuration.fileSize / 8)))
        key = start.key
        number = start.number
        hash = start.hash
        unsealedCount = start.unsealedCount
        file = AuditLogFile(start.file)
        self.loop = loop
        self.queue = queue
        self.status = status
        self.warn = warn
        timer = loop.makeTimer(self)
        setTimer()
    }

    // MARK: Events

    /// Writes all events that are waiting.
    func write() {
        let (events, lost) = queue.take()
        if lost > 0 {
            lostCount += lost
            status.noteLost(lost)
            warnOnce("the audit log cannot be written fast enough: events are lost, and their number is logged later")
        }
        rotateIfDue()
        var batch: [AuditQueue.Event] = []
        var byteCount = 0
        for event in events {
            batch.append(event)
            byteCount += event.body.count
            if byteCount >= batchLimit {
                append(batch)
                rotateIfDue()
                batch.removeAll(keepingCapacity: true)
                byteCount = 0
            }
        }
        append(batch)
        rotateIfDue()
        setTimer()
    }

    private func append(_ events: [AuditQueue.Event]) {
        if events.isEmpty && lostCount == 0 { return }
        var chain = (number, hash)
        var bytes: [UInt8] = []
        if file.beganAt == nil { Self.add(opened(at: now), to: &bytes, &chain) }
        if lostCount > 0 {
            Self.add(AuditLog.body(.lost, at: now, [("count", .count(lostCount))]), to: &bytes, &chain)
        }
        for event in events { Self.add(event.body, to: &bytes, &chain) }
        let code = file.append(bytes, at: now.milliseconds)
        if code == 0 {
            unsealedCount += chain.0 - number
            (number, hash) = chain
            lostCount = 0
        } else {
            lostCount += UInt64(events.count)
            status.noteLost(UInt64(events.count))
            warnOnce(
                "the audit log cannot be written (\(String(cString: strerror(code)))): events are lost, and their number is logged later"
            )
        }
    }

    private func opened(at time: Timestamp) -> [UInt8] { AuditLog.body(.opened, at: time, [("key", .string(key.name))]) }

    private static func add(_ body: [UInt8], to bytes: inout [UInt8], _ chain: inout (UInt64, SHA256Digest)) {
        let line = AuditLine.line(chain.0 + 1, body, after: chain.1)
        chain = (chain.0 + 1, SHA256Digest(of: line))
        bytes += line
        bytes.append(ASCII.lf)
    }

    private var now: Timestamp { Timestamp(milliseconds: loop.wallClockMilliseconds) }

    private func warnOnce(_ text: String) {
        if let nextWarning, loop.now < nextWarning { return }
        nextWarning = loop.now.advanced(milliseconds: Self.warningIntervalMilliseconds)
        warn(text)
    }

    // MARK: Seals

    private func setTimer() {
        guard let timer, !isTimerSet, unsealedCount > 0 else { return }
        isTimerSet = true
        loop.setTimer(timer, afterMilliseconds: configuration.sealMilliseconds)
    }

    func deadlinePassed(_ timer: TimerID) {
        isTimerSet = false
        seal()
        if !file.isInPlace {
            warnOnce("the audit log \(configuration.path) was moved or removed: Larder begins a new file")
            reopen()
        }
        rotateIfDue()
        setTimer()
    }

    /// Signs all lines so far, if there are unsealed lines.
    func seal() {
        guard unsealedCount > 0 else { return }
        let body = AuditLog.body(.seal, at: now, [("key", .string(key.name))])
        let head = AuditLine.head(number + 1, body, after: hash)
        guard let signature = Ed25519.signature(of: AuditSeal.message(head), by: key.key) else {
            return warnOnce("cannot write a seal to the audit log: OpenSSL cannot sign")
        }
        let line = head + Array(",\"signature\":\"\(Base64.encode(signature))\"}".utf8)
        let code = file.append(line + [ASCII.lf], at: now.milliseconds)
        guard code == 0 else {
            return warnOnce("the audit log cannot be sealed: \(String(cString: strerror(code)))")
        }
        number += 1
        hash = SHA256Digest(of: line)
        unsealedCount = 0
        file.synchronize()
        let seal = AuditSeal(number: number, hash: hash)
        status.note(seal)
        do throws(SmallFile.Failure) {
            try SmallFile.write(Array("\(seal)\n".utf8), to: configuration.sealPath, mode: 0o600)
        } catch {
            warnOnce("cannot write the newest seal of the audit log to \(configuration.sealPath): \(error.reason)")
        }
    }

    // MARK: Files

    private func rotateIfDue() {
        guard let beganAt = file.beganAt else { return }
        if let nextRotation, loop.now < nextRotation { return }
        let isOld = now.milliseconds - beganAt >= configuration.fileMilliseconds
        if file.size >= configuration.fileSize || isOld { rotate() }
    }

    private func rotate() {
        seal()
        let name = AuditFiles.rotatedPath(of: configuration.path, last: number)
        guard file.isInPlace else { return reopen() }
        guard rename(configuration.path, name) == 0 else {
            nextRotation = loop.now.advanced(milliseconds: Self.warningIntervalMilliseconds)
            return warnOnce(
                "the audit log cannot be renamed to \(name): \(String(cString: strerror(errno))); Larder keeps writing to the "
                    + "same file")
        }
        reopen()
        for path in AuditFiles.rotated(of: configuration.path).dropLast(configuration.fileCount - 1) { unlink(path) }
    }

    /// Opens the path again; if that fails, the open file stays in use.
    func reopen() {
        if file.isInPlace { return }
        seal()
        do throws(AuditLogUnusable) {
            let new = try OpenedAuditFile(configuration.path)
            guard new.size == 0 else {
                new.close()
                throw AuditLogUnusable("\(configuration.path) was replaced by a file that is not empty")
            }
            file = AuditLogFile(new)
        } catch {
            warnOnce("cannot open a new file for the audit log, so the open file stays in use: \(error.reason)")
        }
    }
}
