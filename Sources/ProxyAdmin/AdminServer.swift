import CLinux
import EventLoop
import HTTPMessage

/// The admin socket's server: HTTP/1.1 with JSON, on a thread of its own, apart from everything that serves clients of the proxy.
///
/// It hears nothing but its Unix socket, which is open to its owner alone: no request to the proxy ever reaches it.
package final class AdminServer: Sendable {
    private let socket: AdminSocket
    private let thread: LoopThread

    /// Serves on a socket that listens already, until `stop`.
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

    /// Ends every connection and the thread, and takes the socket away. Call it once.
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
