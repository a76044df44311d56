import EventLoop
import Foundation

/// The access log of one run, read as it is written: counted, and where one is asked for, kept in a file.
///
/// It goes through a named pipe, so that nothing of it piles up on a disk that nobody asked to be written to.
final class TalliedLog: Sendable {
    /// Where the log is to be written.
    let path: String
    private let pipe: FileHandle
    private let tally = Guarded(RequestTally())
    private let hasEnded = DispatchSemaphore(value: 0)

    /// - Throws: where there can be no pipe.
    init(in folder: String) throws(SystemError) {
        path = "\(folder)/access.log"
        guard mkfifo(path, 0o600) == 0 else { throw SystemError("mkfifo", code: errno) }
        // Who writes does not wait for a reader: it has to be there before.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError("open", code: errno) }
        _ = fcntl(descriptor, F_SETFL, 0)
        pipe = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Reads on a thread of its own until the log is closed. Called once it is open: a pipe without a writer is at its end.
    /// - Parameter copy: a descriptor of a file that gets every line; belongs to the caller, who keeps it open until `finish`.
    func collect(copy: Int32?) {
        Thread.detachNewThread {
            var reader = LineReader(self.pipe, limit: RequestTally.lineLimit)
            while let line = try? reader.next() {  // a pipe that cannot be read is at its end
                guard case .whole(let octets) = line else { continue }
                if let copy { _ = Descriptor.write((octets + [UInt8(ascii: "\n")])[...], to: copy) }
                self.tally.withLock { $0.add(octets) }
            }
            self.hasEnded.signal()
        }
    }

    /// What was logged, once all of it was read. Called after the log was closed.
    func finish() -> RequestTally {
        hasEnded.wait()
        return tally.withLock { $0 }
    }
}
