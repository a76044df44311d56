import CLinux
import EventLoop
import HTTPMessage

/// The admin socket's server: HTTP/1.1 with JSON, on its own thread, separate from all code that serves clients of the proxy.
///
/// It listens only on its Unix socket, which is accessible to its owner alone: no request to the proxy reaches it.
package final class AdminServer: Sendable {
    private let socket: AdminSocket
    private let thread: LoopThread

    /// Serves on a listening socket, until `stop`.
    package init(
        _ socket: AdminSocket, routes: [AdminRoute], limits: AdminLimits = AdminLimits(),
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(SystemError) {
        self.socket = socket
        thread = try LoopThread(name: "admin") { loop in
            let listener = AdminListener(loop, routes: routes, limits: limits)
            do throws(SystemError) {
                try listener.listen(on: socket.descriptor)
                loop.owner = listener
            } catch {
                warn("the admin socket is not available: \(error)")
            }
        }
    }

    /// Closes all connections, ends the thread and removes the socket. Call it once.
    package func stop() {
        thread.handle.post { loop in
            (loop.owner as? AdminListener)?.closeAll()
            loop.owner = nil
            loop.stop()
        }
        thread.join()
        socket.close()
    }
}
