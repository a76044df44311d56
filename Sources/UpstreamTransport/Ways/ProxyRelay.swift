import CLarderLinux
import EventLoop
import Glibc
import TLSChannel

/// Copies bytes between the TLS connection to a proxy, which carries a tunnel, and one of a pair of sockets. The user of the tunnel has the
/// other socket. The order of an end is kept: a close_notify becomes the end of the data, and the other way round. A broken direction
/// closes both. Confined to its loop; its connector keeps it until it ends.
final class ProxyRelay: BatchHandler {
    private unowned let connector: Connector
    private let loop: EventLoop
    private let channel: UpstreamTLSChannel
    private let proxySide: Side
    private let userSide: Side
    /// Bytes of the proxy that the socket has not accepted, and bytes of the user that TLS has not accepted.
    private var toUser: [UInt8]
    private var toProxy: [UInt8] = []
    private var hasProxyEnded = false
    private var hasUserEnded = false
    private var isProxyTold = false
    private var isUserTold = false
    private var isPlanned = false
    private var isClosed = false

    private static let readLength = 64 * 1024
    /// The maximum number of reads in one turn, so that no tunnel delays the others.
    private static let readsInTurn = 16

    /// One descriptor, with its events.
    private final class Side: EventHandler {
        let descriptor: Int32
        var registration: Registration?
        weak var relay: ProxyRelay?
        init(_ descriptor: Int32) { self.descriptor = descriptor }
        func ready(_ events: ReadyEvents) { relay?.turn(isBroken: events.isBroken && self === relay?.userSide) }
    }

    /// - Parameters:
    ///   - descriptor: the descriptor of `channel`, which no loop watches.
    ///   - early: the first bytes of the tunnel, which arrived with the proxy's response.
    /// - Returns: the socket for the user of the tunnel.
    static func start(
        _ connector: Connector, on loop: EventLoop, _ channel: UpstreamTLSChannel, of descriptor: Int32, early: [UInt8]
    ) throws(SystemError) -> Int32 {
        var sockets: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | larder_sock_nonblock | larder_sock_cloexec
        guard socketpair(AF_UNIX, kind, 0, &sockets) == 0 else { throw SystemError("socketpair", code: errno) }
        let relay = ProxyRelay(connector, loop, channel, descriptor, sockets[0], early)
        do throws(SystemError) {
            relay.userSide.registration = try loop.register(sockets[0], .read, handler: relay.userSide)
            relay.proxySide.registration = try loop.register(descriptor, .read, handler: relay.proxySide)
        } catch {
            if let registration = relay.userSide.registration { loop.deregister(registration) }
            for socket in sockets { Glibc.close(socket) }
            throw error
        }
        connector.keep(relay)
        relay.plan()
        return sockets[1]
    }

    private init(
        _ connector: Connector, _ loop: EventLoop, _ channel: UpstreamTLSChannel, _ proxy: Int32, _ user: Int32, _ early: [UInt8]
    ) {
        self.connector = connector
        self.loop = loop
        self.channel = channel
        toUser = early
        proxySide = Side(proxy)
        userSide = Side(user)
        proxySide.relay = self
        userSide.relay = self
    }

    func close() {
        if isClosed { return }
        isClosed = true
        for side in [proxySide, userSide] { if let registration = side.registration { loop.deregister(registration) } }
        Glibc.close(userSide.descriptor)
        channel.closeSilently()
        connector.ended(self)
    }

    func batchEnded() {
        isPlanned = false
        if !isClosed { turn(isBroken: false) }
    }

    private func plan() {
        if isPlanned { return }
        isPlanned = true
        loop.atEndOfBatch(self)
    }

    /// - Parameter isBroken: whether the user has closed its socket.
    private func turn(isBroken: Bool) {
        guard passToUser(), passToProxy() else { return close() }
        // The bytes that the user sent before it closed have been passed on as far as the proxy accepted them.
        if isBroken || isUserTold && isProxyTold { return close() }
        var ofProxy = Interest()
        var ofUser = Interest()
        if toUser.isEmpty, !hasProxyEnded { ofProxy.insert(.read) }
        if !toProxy.isEmpty || hasUserEnded && !isProxyTold { ofProxy.insert(.write) }
        if toProxy.isEmpty, !hasUserEnded { ofUser.insert(.read) }
        if !toUser.isEmpty { ofUser.insert(.write) }
        if let registration = proxySide.registration { loop.modify(registration, ofProxy) }
        if let registration = userSide.registration { loop.modify(registration, ofUser) }
    }

    /// - Returns: `false` if the connection is broken.
    private func passToUser() -> Bool {
        for _ in 0..<Self.readsInTurn {
            if !toUser.isEmpty {
                let count = toUser.withUnsafeBytes { send(userSide.descriptor, $0.baseAddress, $0.count, larder_msg_nosignal) }
                if count < 0 { return errno == EAGAIN || errno == EINTR }
                toUser.removeFirst(count)
                if !toUser.isEmpty { return true }
            }
            if hasProxyEnded {
                if !isUserTold { _ = shutdown(userSide.descriptor, Int32(SHUT_WR)) }
                isUserTold = true
                return true
            }
            let buffer = connector.contentBuffer
            switch channel.receive(into: buffer) {
            case .bytes(let count): toUser.append(contentsOf: buffer[..<count])
            case .needsMore: continue
            case .wouldBlock: return true
            case .ended: hasProxyEnded = true
            case .failed: return false
            }
        }
        // More may have arrived, which no event signals.
        plan()
        return true
    }

    private func passToProxy() -> Bool {
        for _ in 0..<Self.readsInTurn {
            if !toProxy.isEmpty {
                switch channel.send(toProxy.span) {
                case .bytes(let count): toProxy.removeFirst(count)
                case .wouldBlock: return true
                case .failed: return false
                }
                if !toProxy.isEmpty { continue }
            }
            if hasUserEnded {
                if isProxyTold { return true }
                switch channel.endSending() {
                case .bytes: isProxyTold = true
                case .wouldBlock: break
                case .failed: return false
                }
                return true
            }
            var count = 0
            toProxy.append(addingCapacity: Self.readLength) { span in
                span.withUnsafeMutableBufferPointer { buffer, initialized in
                    count = recv(userSide.descriptor, buffer.baseAddress! + initialized, Self.readLength, 0)
                    initialized += max(count, 0)
                }
            }
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            if count == 0 { hasUserEnded = true }
        }
        plan()
        return true
    }
}
