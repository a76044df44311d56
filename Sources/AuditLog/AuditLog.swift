import EventLoop
import HTTPMessage
import ServerTrust
import TextCoding

/// The audit log: decisions of policy and trust, and changes of settings and mode, as a chain of lines in which later changes can
/// be detected.
///
/// Each line contains the hash of the line before it. Once a minute, at the end of a file and at the stop, a seal signs the chain with
/// Ed25519. Any thread may report events; a separate thread writes them, and no other thread waits for the disk.
package final class AuditLog: Sendable {
    /// Which requests the log contains.
    package enum Requests: String, CaseIterable, Sendable { case denied, all }

    package struct Configuration: Sendable {
        /// The absolute path of the newest file.
        package let path: String
        /// The folder of the key and the seals.
        package let folder: String
        package var requests = Requests.denied
        /// At this size in bytes, and at this age, a new file begins.
        package var fileSize: Int64 = 64 << 20
        package var fileMilliseconds: Int64 = 86_400_000
        /// The number of files that are kept, with the newest one. At least one.
        package var fileCount = 30
        package var sealMilliseconds = 60_000

        package init(path: String, folder: String) {
            self.path = path
            self.folder = folder
        }

        var sealPath: String { AuditFolder.sealPath(folder, of: path) }
    }

    package let path: String
    package let requests: Requests
    private let queue = AuditQueue()
    private let status = AuditStatus()
    private let thread: LoopThread

    /// Opens the file, checks it, and starts the writer.
    /// - Parameter warn: called at most once a minute about events that are lost, and once about a log that was changed.
    package init(
        _ configuration: Configuration, started members: [(String, JSONText)] = [],
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(AuditLogUnusable) {
        path = configuration.path
        requests = configuration.requests
        let start = try AuditStart(configuration)
        if let problem = start.problem { warn("the audit log \(configuration.path) was changed: \(problem)") }
        if let seal = start.newestSeal { status.note(seal) }
        let facts = start.facts
        let queue = queue
        let status = status
        do throws(SystemError) {
            thread = try LoopThread(name: "audit-log", .beside) { loop in
                let writer = AuditWriter(on: loop, start, configuration, queue: queue, status: status, warn: warn)
                loop.owner = writer
            }
        } catch {
            throw AuditLogUnusable("\(error)")
        }
        note(.started, at: Self.now(), members + facts)
    }

    /// Appends an event. Events beyond the queue's limit are counted and not written.
    /// - Parameter members: the members of the line; texts from peers must have bounded lengths.
    package func note(_ event: AuditEvent, at time: Timestamp, _ members: [(String, JSONText)]) {
        guard queue.append(.init(time: time, body: Self.body(event, at: time, members))) else { return }
        thread.handle.post { loop in (loop.owner as? AuditWriter)?.write() }
    }

    /// Appends an event that happens now.
    package func note(_ event: AuditEvent, _ members: [(String, JSONText)]) { note(event, at: Self.now(), members) }

    /// If the members are too long for a line, the line has `cut` instead, with their length.
    static func body(_ event: AuditEvent, at time: Timestamp, _ members: [(String, JSONText)]) -> [UInt8] {
        let body = wholeBody(event, at: time, members)
        return body.count <= AuditLine.bodyLimit ? body : wholeBody(event, at: time, [("cut", .number(body.count))])
    }

    private static func wholeBody(_ event: AuditEvent, at time: Timestamp, _ members: [(String, JSONText)]) -> [UInt8] {
        var text = "\"time\":\"\(RFC3339Time.text(time))\",\"event\":\"\(event.rawValue)\""
        for (name, value) in members { text += ",\"\(name)\":\(value.writtenInLine())" }
        return Array(text.utf8)
    }

    /// The newest seal; `nil` before the first one.
    package var newestSeal: AuditSeal? { status.newestSeal }

    /// The number of events that could not be written.
    package var lostCount: UInt64 { status.lostCount }

    /// Opens the path again after another program moved the file.
    package func reopen() {
        thread.handle.post { loop in
            guard let writer = loop.owner as? AuditWriter else { return }
            writer.write()
            writer.reopen()
        }
    }

    /// Writes and seals all lines so far, and calls `completion` on the writer's thread.
    package func seal(_ completion: @escaping @Sendable () -> Void = {}) {
        thread.handle.post { loop in
            if let writer = loop.owner as? AuditWriter {
                writer.write()
                writer.seal()
            }
            completion()
        }
    }

    /// Writes a last line and a seal, and stops the writer. Call it once.
    package func close() {
        note(.stopped, at: Self.now(), [])
        seal()
        thread.handle.post { loop in
            loop.owner = nil
            loop.stop()
        }
        thread.join()
    }

    private static func now() -> Timestamp { .wallClock }
}
