import CLarderLinux
import Glibc

/// Messages to a loop from any thread. The first message of a burst wakes the loop; the others find it awake.
final class Mailbox: Sendable {
    typealias Message = @Sendable (EventLoop) -> Void

    private struct Contents {
        var messages: [Message] = []
        var isClosed = false
    }

    /// An eventfd, watched edge-triggered: each write is an edge, and the counter is never read.
    let descriptor: Int32
    private let contents = Guarded(Contents())

    init() throws(SystemError) {
        descriptor = eventfd(0, larder_efd_nonblock | larder_efd_cloexec)
        if descriptor < 0 { throw SystemError("eventfd", code: errno) }
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// - Returns: `false` if the loop has ended; the message is then dropped.
    @discardableResult
    func post(_ message: @escaping Message) -> Bool {
        let (accepted, isFirst) = contents.withLock { contents in
            if contents.isClosed { return (false, false) }
            contents.messages.append(message)
            return (true, contents.messages.count == 1)
        }
        if isFirst { wake() }
        return accepted
    }

    func collect() -> [Message] {
        // A message posted after `messages` was emptied here wakes the loop again.
        contents.withLock { contents in
            let messages = contents.messages
            contents.messages = []
            return messages
        }
    }

    func close() {
        // Messages may own objects whose deinit takes other locks, so the messages are released only after this lock.
        let dropped = contents.withLock { contents in
            contents.isClosed = true
            let messages = contents.messages
            contents.messages = []
            return messages
        }
        withExtendedLifetime(dropped) {}
    }

    private func wake() {
        var one: UInt64 = 1
        // The write cannot fail in practice: only 2^64 bursts would overflow the counter, which is never read.
        _ = write(descriptor, &one, 8)
    }
}
