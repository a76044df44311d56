import CLarderLinux
import EventLoop
import Glibc

/// Accepts the clients of the admin socket, up to the limits. Confined to the admin thread.
final class AdminListener: EventHandler, TimerHandler {
    enum Clients {
        /// The clients of a Unix socket. Only the socket's owner and root are served, and only if the Host field has an expected value.
        case owner
        /// The clients of a TCP socket: all that can connect.
        case everyone
        /// The browsers on this machine that have a link to the page.
        case page(PageAccess)

        /// Whether the Host field may have any name.
        var permitEveryName: Bool { if case .everyone = self { true } else { false } }

        /// Fields that every response has.
        var fields: [(name: StaticString, value: String)] { if case .page = self { PageAccess.fields } else { [] } }
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
    private var idleTimer: TimerID?
    /// Called each time when no client was connected for `AdminLimits.unused`.
    private let unused: (@Sendable () -> Void)?
    /// How long no client is accepted after an error that may last (no descriptors, no memory), in milliseconds.
    private static let pause = 200

    init(
        _ loop: EventLoop, _ clients: Clients, routes: [AdminRoute], limits: AdminLimits, unused: (@Sendable () -> Void)? = nil
    ) {
        self.unused = unused
        self.loop = loop
        self.clients = clients
        self.routes = routes
        self.limits = limits
    }

    func listen(on descriptor: Int32) throws(SystemError) {
        self.descriptor = descriptor
        registration = try loop.register(descriptor, .read, handler: self)
        timer = loop.makeTimer(self)
        if unused != nil {
            idleTimer = loop.makeTimer(self)
            watchUse()
        }
    }

    /// Begins to count the time without a client.
    func watchUse() {
        if let idleTimer, connections.isEmpty { loop.setTimer(idleTimer, afterMilliseconds: limits.unused) }
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
        if timer == idleTimer {
            unused?()
            return
        }
        if let registration { loop.modify(registration, .read) }
    }

    /// Whether the client's user is that of this process, or root. The mode of the socket excludes other users; this check also excludes
    /// them if the mode was changed (threat T08).
    private func isPermitted(_ client: Int32) -> Bool {
        guard case .owner = clients else { return true }
        let user = larder_peer_user(client)
        return user == 0 || user == Int64(geteuid())
    }

    private func admit(_ connection: AdminConnection) {
        if let idleTimer { loop.cancelTimer(idleTimer) }
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
        watchUse()
    }

    func closeAll() {
        if let registration { loop.deregister(registration) }
        registration = nil
        if let timer { loop.removeTimer(timer) }
        timer = nil
        if let idleTimer { loop.removeTimer(idleTimer) }
        idleTimer = nil
        for connection in Array(connections.values) { connection.close() }
    }
}
