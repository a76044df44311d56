import CommandSupport
import Foundation
import TextCoding

/// An output that is not a file: standard output, a pipe, a device. Content is written to it only when all of it is received and verified.
package enum FetchOutput: Sendable, Equatable {
    case standardOutput
    case path(String)
    /// Discards the content.
    case null

    /// The name for messages.
    var name: String {
        switch self {
        case .standardOutput: "-"
        case .path(let path): path
        case .null: "/dev/null"
        }
    }

    /// - Parameter path: the argument of `-o`.
    /// - Returns: `nil` if the path is a file, or cannot be written to.
    package init?(_ path: String) {
        if ["-", "/dev/stdout", "/dev/fd/1"].contains(path) {
            self = .standardOutput
            return
        }
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        var null = stat()
        switch facts.st_mode & S_IFMT {
        case S_IFCHR where stat("/dev/null", &null) == 0 && null.st_rdev == facts.st_rdev: self = .null
        case S_IFCHR, S_IFIFO: self = .path(path)
        default: return nil
        }
    }

    private static let waitMilliseconds: Int32 = 100

    /// - Throws: an error also if the task is cancelled while it waits for a reader.
    func write(_ part: PartFile) throws(FetchFailure) {
        if self == .null { return }
        let descriptor = try opened()
        defer { if descriptor != 1 { close(descriptor) } }
        let step = Self.stepLength(of: descriptor)
        var offset: UInt64 = 0
        while true {
            let octets = try part.read(at: offset, atMost: FileDigest.pieceLength)
            if octets.isEmpty { return }
            try write(octets[...], to: descriptor, step: step)
            offset += UInt64(octets.count)
        }
    }

    private func opened() throws(FetchFailure) -> Int32 {
        guard case .path(let path) = self else { return 1 }
        while true {
            if Task.isCancelled { throw .interrupted }
            let descriptor = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
            if descriptor >= 0 { return descriptor }
            // ENXIO: the path is a pipe without a reader. Wait for one.
            guard errno == ENXIO else { throw failure(errno) }
            poll(nil, 0, Self.waitMilliseconds)
        }
    }

    /// The number of bytes that one write accepts without blocking if the output accepts any.
    private static func stepLength(of descriptor: Int32) -> Int {
        var facts = stat()
        let isFile = fstat(descriptor, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
        return isFile ? FileDigest.pieceLength : 4096
    }

    private func write(_ octets: ArraySlice<UInt8>, to descriptor: Int32, step: Int) throws(FetchFailure) {
        var octets = octets
        while !octets.isEmpty {
            if Task.isCancelled { throw .interrupted }
            var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            if poll(&room, 1, Self.waitMilliseconds) == 0 { continue }
            let count = octets.prefix(step).withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, [EINTR, EAGAIN].contains(errno) { continue }
            guard count > 0 else { throw failure(count < 0 ? errno : EIO) }
            octets = octets.dropFirst(count)
        }
    }

    private func failure(_ code: Int32) -> FetchFailure {
        // The reader has closed the pipe: exit as if the signal had ended the process.
        if self == .standardOutput, code == EPIPE { Terminal.exit(128 + SIGPIPE) }
        return .file(self == .standardOutput ? "standard output" : printable(name, limit: 4096), "write", code)
    }
}
