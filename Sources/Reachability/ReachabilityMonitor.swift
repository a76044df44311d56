import CLinux
import EventLoop
import Glibc

/// Tells whether this machine has a network, and each change of that, from what the kernel says over netlink. Nothing is polled.
///
/// It watches from `init` to `stop`, on a thread of its own, which sleeps until the kernel has something to say. It sees the network namespace of
/// the thread that made it.
public final class ReachabilityMonitor: Sendable {
    private let board: StatusBoard
    private let thread: LoopThread

    /// Begins to watch. The status is `unknown` until the kernel has answered, which takes a few milliseconds at most.
    public convenience init() throws(ReachabilityError) { try self.init(onChange: { _ in }) }

    /// - Parameter onChange: Hears each status in order, the first like a change, on the monitor's thread. It may not call `stop`.
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

    /// The status as it is now.
    public var status: ReachabilityStatus { board.status }

    /// The status as soon as it is known, then each change in the order in which they came, until `stop`.
    ///
    /// Each caller has a stream of its own. Who does not read it finds the latest changes there, `StatusBoard.unreadLimit` of them at most.
    public func statuses() -> AsyncStream<ReachabilityStatus> { board.statuses() }

    /// Has this status told, whatever the kernel says meanwhile; `nil` has the kernel's word count again.
    public func force(_ status: ReachabilityStatus?) {
        thread.handle.post { loop in (loop.owner as? NetworkWatch)?.force(status) }
    }

    /// Ends the watch and every stream, and waits until its descriptors are closed and its thread is gone. The status is `unknown` from then on.
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
