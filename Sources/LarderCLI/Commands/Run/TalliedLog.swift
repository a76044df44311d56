import CommandSupport
import EventLoop
import Foundation
import SecretScanning

/// The access log of one run, read while it is written: counted and, if requested, copied to a file.
///
/// It goes through a named pipe, so that it does not accumulate on a disk that the user did not choose.
final class TalliedLog: Sendable {
    /// The path that the log is written to.
    let path: String
    private let pipe: FileHandle
    private let state = Guarded(State())
    private let hasEnded = DispatchSemaphore(value: 0)

    private struct State {
        var tally = RequestTally()
        /// The error that made the copy incomplete.
        var failure: Int32?
        var isFinishing = false
    }

    /// How long to wait at the end for a slow reader of the copy, in milliseconds.
    private static let patience: Int32 = 2000
    private static let stepOfPatience: Int32 = 100

    private let copiesQueries: Bool

    /// - Parameter copiesQueries: whether the copy keeps the queries of URLs, as the settings decide. The tally always has them.
    /// - Throws: an error if the pipe cannot be made.
    init(in folder: String, copiesQueries: Bool) throws(SystemError) {
        self.copiesQueries = copiesQueries
        path = "\(folder)/access.log"
        guard mkfifo(path, 0o600) == 0 else { throw SystemError("mkfifo", code: errno) }
        // Opening a pipe for writing without waiting fails if it has no reader, so the reading end is opened first.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError("open", code: errno) }
        _ = fcntl(descriptor, F_SETFL, 0)
        pipe = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Reads on its own thread until the log is closed. Must be called after the log is opened: a pipe without a writer is at its end.
    /// - Parameters:
    ///   - copy: a non-blocking descriptor of the file to which every line is copied. The caller owns it and keeps it open until
    ///     `finish`.
    ///   - mask: masks the secrets of URLs in the tally.
    ///   - observer: gets every line, on the thread that reads.
    func collect(copy: Int32?, mask: SecretMask, observer: (@Sendable ([UInt8]) -> Void)?) {
        state.withLock { $0.tally = RequestTally(mask) }
        Thread.detachNewThread {
            var reader = LineReader(self.pipe, limit: RequestTally.lineLimit)
            while let line = try? reader.next() {  // an error ends the log
                guard case .whole(let octets) = line else { continue }
                self.state.withLock { $0.tally.add(octets) }
                observer?(octets)
                guard let copy, self.state.withLock({ $0.failure == nil }) else { continue }
                let line = self.copiesQueries ? octets : Self.withoutQuery(octets)
                let code = self.write(line + [UInt8(ascii: "\n")], to: copy)
                if code != 0 { self.state.withLock { $0.failure = code } }
            }
            self.hasEnded.signal()
        }
    }

    /// - Parameter line: one NDJSON object as the access log writes it, in which quotation marks within strings are escaped.
    static func withoutQuery(_ line: [UInt8]) -> [UInt8] {
        guard let member = line.firstRange(of: Array(#","url":""#.utf8)) else { return line }
        var end = member.upperBound
        while end < line.endIndex, line[end] != UInt8(ascii: "\"") { end += line[end] == UInt8(ascii: "\\") ? 2 : 1 }
        guard end < line.endIndex, let query = line[member.upperBound..<end].firstIndex(of: UInt8(ascii: "?")) else {
            return line
        }
        return Array(line[..<query] + line[end...])
    }

    /// - Returns: 0, or an `errno`.
    private func write(_ octets: [UInt8], to copy: Int32) -> Int32 {
        var rest = octets[...]
        var waited: Int32 = 0
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(copy, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
                waited = 0
                continue
            }
            if count < 0, errno == EINTR { continue }
            guard count < 0, errno == EAGAIN else { return count < 0 ? errno : EIO }
            guard waited < Self.patience else { return ETIMEDOUT }
            var wait = pollfd(fd: copy, events: Int16(POLLOUT), revents: 0)
            poll(&wait, 1, Self.stepOfPatience)
            if state.withLock({ $0.isFinishing }) { waited += Self.stepOfPatience }
        }
        return 0
    }

    /// Waits until the whole log is read. Must be called after the log is closed.
    /// - Returns: the tally, and the error that made the copy incomplete.
    func finish() -> (tally: RequestTally, failure: Int32?) {
        state.withLock { $0.isFinishing = true }
        hasEnded.wait()
        return state.withLock { ($0.tally, $0.failure) }
    }
}
