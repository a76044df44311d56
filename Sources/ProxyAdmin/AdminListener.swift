import CLinux
import EventLoop
import Glibc

/// Accepts the clients of the admin socket, up to the limits. Confined to the admin thread.
final class AdminListener: EventHandler, TimerHandler {
    enum Clients {
        /// The clients of a Unix socket. Only the socket's owner and root are served, and only if the Host field has an expected value.
        case owner
        /// The clients of a TCP socket: all that can connect.
        case everyone
    }

    let loop: EventLoop
    let clients: Clients
    let routes: [AdminRoute]
    let limits: AdminLimits
    private var descriptor: Int32 = -1
    private var registration: Registration?
    private var connections: [ObjectIdentifier: AdminConnection] = [:]
    private var turnedAwayCount = 0
    private var timer: TimerID?
    /// How long no client is accepted after an error that may last (no descriptors, no memory), in milliseconds.
    private static let pause = 200

    init(_ loop: EventLoop, _ clients: Clients, routes: [AdminRoute], limits: AdminLimits) {
        self.loop = loop
        self.clients = clients
        self.routes = routes
        self.limits = limits
    }

    func listen(on descriptor: Int32) throws(SystemError) {
        self.descriptor = descriptor
        registration = try loop.register(descriptor, .read, handler: self)
        timer = loop.makeTimer(self)
    }

    func ready(_ events: ReadyEvents) {
        while true {
            let client = accept4(descriptor, nil, nil, larder_sock_nonblock | larder_sock_cloexec)
            guard client >= 0 else { return acceptFailed(errno) }
            guard isPermitted(client), let connection = try? AdminConnection(self, descriptor: client) else {
                _ = Glibc.close(client)
                continue
            }
            admit(connection)
        }
    }

    /// Accepting pauses. Otherwise the waiting clients would wake this thread again at once, as long as the error lasts.
    private func acceptFailed(_ error: Int32) {
        if error == EAGAIN { return }
        if let registration { loop.modify(registration, Interest()) }
        if let timer { loop.setTimer(timer, afterMilliseconds: Self.pause) }
    }

    func deadlinePassed(_ timer: TimerID) {
        if let registration { loop.modify(registration, .read) }
    }

    /// Whether the client's user is that of this process, or root. The mode of the socket excludes other users; this check also excludes
    /// them if the mode was changed (threat T08).
    private func isPermitted(_ client: Int32) -> Bool {
        if clients == .everyone { return true }
        let user = larder_peer_user(client)
        return user == 0 || user == Int64(geteuid())
    }

    private func admit(_ connection: AdminConnection) {
        let servedCount = connections.count - turnedAwayCount
        if servedCount < limits.clients {
            connections[ObjectIdentifier(connection)] = connection
        } else if turnedAwayCount < limits.refusals {
            turnedAwayCount += 1
            connections[ObjectIdentifier(connection)] = connection
            connection.turnAway()
        } else {
            connection.close()
        }
    }

    func connectionClosed(_ connection: AdminConnection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        if connection.isTurnedAway { turnedAwayCount -= 1 }
    }

    func closeAll() {
        if let registration { loop.deregister(registration) }
        registration = nil
        if let timer { loop.removeTimer(timer) }
        timer = nil
        for connection in Array(connections.values) { connection.close() }
    }
}
