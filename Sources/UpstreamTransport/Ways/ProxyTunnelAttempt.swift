import EventLoop
import Glibc
import HTTPMessage
import HTTPWire

/// An attempt to open a tunnel through an HTTP proxy with TLS: TLS with the proxy, and CONNECT on it (RFC 9110 §9.3.6). The result is one
/// of a pair of sockets; a `ProxyRelay` has the other one, because TLS to the origin needs a socket. Confined to its loop.
///
/// States and moves: `connecting` → `requesting` (watched, with the rest of the time limit) → `ended`.
final class ProxyTunnelAttempt: ConnectAttempt, ConnectObserver, EventHandler, TimerHandler, BatchHandler {
    private enum State {
        case connecting((any ConnectAttempt)?)
        case requesting(ConnectedPeer, UpstreamTLSChannel, Registration)
        case ended
    }

    private unowned let connector: Connector
    private let loop: EventLoop
    private let target: ConnectTarget
    private let proxy: UpstreamProxy
    private let deadline: MonotonicTime
    private var observer: (any ConnectObserver)?
    private var state = State.connecting(nil)
    private var timer: TimerID?
    private var unsent: [UInt8]
    private var received: [UInt8] = []
    private var parser = ResponseParser()

    private static let headLimit = 64 * 1024

    init(
        _ connector: Connector, on loop: EventLoop, to target: ConnectTarget, through proxy: UpstreamProxy,
        deadline: MonotonicTime, observer: any ConnectObserver
    ) {
        self.connector = connector
        self.loop = loop
        self.target = target
        self.proxy = proxy
        self.deadline = deadline
        self.observer = observer
        let authority = Origin(scheme: .http, host: target.connectedHost, port: target.port).authority
        var head = "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n"
        if !target.via.isEmpty { head += "Via: \(target.via)\r\n" }
        unsent = Array(head.utf8)
        if let authorization = proxy.authorization {
            unsent.append("Proxy-Authorization: ")
            unsent.append(contentsOf: authorization)
            unsent.append("\r\n")
        }
        unsent.append("\r\n")
    }

    func begin(milliseconds: Int) {
        guard let terms = target.tunnelProxyTerms else { return loop.atEndOfBatch(self) }
        let proxied = ConnectTarget(
            host: proxy.host, port: proxy.port, addresses: terms.addresses, trust: terms.trust, identity: terms.identity)
        state = .connecting(connector.connect(to: proxied, milliseconds: milliseconds, observer: self))
    }

    /// Called if no policy is known for the proxy.
    func batchEnded() {
        if case .connecting = state { fail(.noTrustAnchors) }
    }

    func cancel() {
        observer = nil
        if case .connecting(let attempt) = state { attempt?.cancel() }
        end()?.close()
    }

    // MARK: The request

    func didConnect(_ peer: ConnectedPeer) {
        guard let channel = peer.channel else {
            peer.close()
            return fail(.tunnelRefused(status: 0))
        }
        do throws(SystemError) {
            state = .requesting(peer, channel, try loop.register(peer.descriptor, .read, handler: self))
        } catch {
            peer.close()
            return fail(.outOfResources(code: error.code))
        }
        let timer = loop.makeTimer(self)
        loop.setTimer(timer, at: deadline)
        self.timer = timer
        send()
    }

    func didFailToConnect(_ error: TransportError) {
        switch error {
        // The proxy has failed, and not the origin.
        case .tlsFailed, .tlsAlert: fail(.tunnelRefused(status: 0))
        default: fail(error)
        }
    }

    func deadlinePassed(_ timer: TimerID) { fail(.timedOut(.connect)) }

    func ready(_ events: ReadyEvents) {
        if events.isWritable { send() }
        if events.isReadable || events.isBroken { receive() }
    }

    private func send() {
        guard case .requesting(_, let channel, let registration) = state else { return }
        while !unsent.isEmpty {
            switch channel.send(unsent.span) {
            case .bytes(let count): unsent.removeFirst(count)
            case .wouldBlock: return loop.modify(registration, [.read, .write])
            case .failed: return fail(.tunnelRefused(status: 0))
            }
        }
        loop.modify(registration, .read)
        if channel.holdsInput { receive() }
    }

    private func receive() {
        while case .requesting(_, let channel, _) = state {
            let buffer = connector.contentBuffer
            switch channel.receive(into: buffer) {
            case .bytes(let count): received.append(contentsOf: buffer[..<count])
            case .needsMore: continue
            case .wouldBlock: return
            case .ended, .failed: return fail(.tunnelRefused(status: 0))
            }
            read()
        }
    }

    private func read() {
        var head = ResponseHead()
        do throws(ResponseParseError) {
            while let length = try parser.parse(received.span.bytes, into: &head) {
                received.removeFirst(length)
                if head.status.isInformational { continue }
                let status = Int(head.status.code)
                return (200...299).contains(status) ? succeed() : fail(.tunnelRefused(status: status))
            }
        } catch {
            return fail(.tunnelRefused(status: 0))
        }
        if received.count > Self.headLimit { fail(.tunnelRefused(status: 0)) }
    }

    // MARK: End of the attempt

    private func succeed() {
        let early = received
        let observer = observer.take()
        guard let peer = end(), let channel = peer.channel else { return }
        guard let observer else { return peer.close() }
        do throws(SystemError) {
            let descriptor = try ProxyRelay.start(connector, on: loop, channel, of: peer.descriptor, early: early)
            var result = ConnectedPeer(descriptor: descriptor, address: peer.address)
            result.lookUpTime = peer.lookUpTime
            observer.didConnect(result)
        } catch {
            peer.close()
            observer.didFailToConnect(.outOfResources(code: error.code))
        }
    }

    private func fail(_ error: TransportError) {
        let observer = observer.take()
        end()?.close()
        observer?.didFailToConnect(error)
    }

    /// - Returns: the connection to the proxy, which no loop watches now.
    private func end() -> ConnectedPeer? {
        let former = state
        state = .ended
        if let timer { loop.removeTimer(timer) }
        timer = nil
        switch former {
        case .connecting: connector.ended(self)
        case .requesting(let peer, _, let registration):
            loop.deregister(registration)
            connector.ended(self)
            return peer
        // The connector may no longer exist, so it is not used.
        case .ended: break
        }
        return nil
    }
}
