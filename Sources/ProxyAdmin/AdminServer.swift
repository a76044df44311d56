import CLarderLinux
import EventLoop
import HTTPMessage
import ProxyServer

/// The admin socket's server: HTTP/1.1 with JSON, on its own thread, separate from all code that serves clients of the proxy.
///
/// It listens only on its Unix socket, which is accessible to its owner alone: no request to the proxy reaches it. Further servers
/// of this type can offer the routes for monitoring, and the page, on TCP sockets. The proxy forwards no request to these sockets either.
package final class AdminServer: Sendable {
    private let closeSocket: @Sendable () -> Void
    private let thread: LoopThread

    /// Serves on a listening socket, until `stop`.
    /// - Parameter alongside: begins further work on the server's loop.
    package convenience init(
        _ socket: AdminSocket, routes: [AdminRoute], limits: AdminLimits = AdminLimits(),
        alongside: @escaping @Sendable (EventLoop) -> Void = { _ in }, warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(SystemError) {
        try self.init(
            "admin", socket.descriptor, .owner, routes, limits, { warn("the admin socket is not available: \($0)") },
            closing: { socket.close() }, alongside: alongside)
    }

    /// Serves every client that can connect to a listening TCP socket, until `stop`.
    /// - Parameter routes: only routes that reveal no secret and change nothing.
    package convenience init(
        forMonitoring socket: ListeningSocket, routes: [AdminRoute], limits: AdminLimits = AdminLimits(),
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(SystemError) {
        try self.init(
            "metrics", socket.descriptor, .everyone, routes, limits, { warn("metrics.listen is not available: \($0)") },
            closing: { socket.close() })
    }

    /// Serves the page on a listening TCP socket, until `stop`.
    /// - Parameters:
    ///   - routes: all routes; those that are not for the page are left out.
    ///   - unused: called on the server's thread each time when no client was connected for `limits.unused`; `nil` if the listener stays
    ///     open.
    package convenience init(
        page socket: ListeningSocket, access: PageAccess, routes: [AdminRoute], limits: AdminLimits = .ofPage,
        unused: (@Sendable () -> Void)? = nil, alongside: @escaping @Sendable (EventLoop) -> Void = { _ in },
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(SystemError) {
        try self.init(
            "page", socket.descriptor, .page(access), routes.compactMap(\.forPage) + PageFiles.routes, limits,
            { warn("the page is not available: \($0)") }, closing: { socket.close() }, unused: unused, alongside: alongside)
    }

    /// Begins again to count the time in which a page's listener has no client.
    package func watchUse() { thread.handle.post { ($0.owner as? AdminListener)?.watchUse() } }

    private init(
        _ name: StaticString, _ descriptor: Int32, _ clients: AdminListener.Clients, _ routes: [AdminRoute],
        _ limits: AdminLimits,
        _ warn: @escaping @Sendable (SystemError) -> Void, closing closeSocket: @escaping @Sendable () -> Void,
        unused: (@Sendable () -> Void)? = nil, alongside: @escaping @Sendable (EventLoop) -> Void = { _ in }
    ) throws(SystemError) {
        self.closeSocket = closeSocket
        thread = try LoopThread(name: "\(name)") { loop in
            let listener = AdminListener(loop, clients, routes: routes, limits: limits, unused: unused)
            do throws(SystemError) {
                try listener.listen(on: descriptor)
                loop.owner = listener
                alongside(loop)
            } catch {
                warn(error)
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
        closeSocket()
    }
}
