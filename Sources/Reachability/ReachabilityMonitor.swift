import CLarderLinux
import EventLoop
import Glibc

/// Reports whether this machine has a network, and each change of this status, from the kernel's netlink messages. It does not poll.
///
/// It watches from `init` to `stop`, on its own thread, which sleeps until the kernel sends a message. It sees the network
/// namespace of the thread that created it.
public final class ReachabilityMonitor: Sendable {
    private let board: StatusBoard
    private let thread: LoopThread

    /// Starts watching. The status is `unknown` until the kernel has answered, which takes a few milliseconds at most.
    public convenience init() throws(ReachabilityError) { try self.init(onChange: { _ in }) }

    /// - Parameter onChange: receives each status in order, the first one included, on the monitor's thread. It must not call `stop`.
    package init(onChange: @escaping @Sendable (ReachabilityStatus) -> Void) throws(ReachabilityError) {
        let board = StatusBoard(onChange: onChange)
        self.board = board
        do throws(SystemError) {
            let socket = try NetlinkSocket()
            thread = try LoopThread(name: "reachability") { loop in
                loop.owner = NetworkWatch(loop, socket: socket, board: board)
            }
        } catch {
            throw ReachabilityError(error)
        }
    }

    deinit { stop() }

    /// The current status.
    public var status: ReachabilityStatus { board.status }

    /// The status as soon as it is known, then each change in order, until `stop`.
    ///
    /// Each caller gets its own stream. A stream buffers the latest `StatusBoard.unreadLimit` unread changes.
    public func statuses() -> AsyncStream<ReachabilityStatus> { board.statuses() }

    /// Reports this status, whatever the kernel reports meanwhile; `nil` returns to the kernel's status.
    public func force(_ status: ReachabilityStatus?) {
        thread.handle.post { loop in (loop.owner as? NetworkWatch)?.force(status) }
    }

    /// Stops watching and ends every stream, and waits until the descriptors are closed and the thread has ended. After that
    /// the status is `unknown`.
    public func stop() {
        guard board.end() else { return }
        thread.handle.post { loop in
            (loop.owner as? NetworkWatch)?.close()
            loop.owner = nil
            loop.stop()
        }
        thread.join()
    }
}
