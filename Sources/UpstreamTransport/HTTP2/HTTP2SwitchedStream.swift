import CLarderLinux
import EventLoop
import Glibc
internal import HTTP2Wire
import HTTPMessage

/// Relays a WebSocket between a stream of a server's HTTP/2 connection (RFC 8441) and one of a pair of sockets. The tunnel to the client has
/// the other socket, and uses it like a connection to the server.
///
/// An orderly end of one direction is END_STREAM on the stream, and the end of the data on the socket. A tunnel that closes the socket
/// earlier resets the stream (RFC 8441 §5). Confined to its loop; the loop and the stream keep it alive.
final class HTTP2SwitchedStream: EventHandler {
    private unowned let stream: HTTP2OriginStream
    private let connection: HTTP2OriginConnection
    private let id: HTTP2StreamID
    private let descriptor: Int32
    /// The server's address and port; `nil` if the address is not known.
    let serverAddress: (address: IPAddress, port: UInt16)?
    /// Whether the server's end of the data is not orderly: its stream was reset, or its connection is lost.
    private(set) var isCut = false
    private var registration: Registration?
    /// Bytes of the server that the socket has not accepted.
    private var toTunnel: [UInt8] = []
    /// Bytes of the client that the session has not accepted.
    private var toServer: [UInt8] = []
    private var hasServerEnded = false
    private var hasTunnelEnded = false
    /// Whether the tunnel has closed its socket.
    private var isTunnelClosed = false

    private static let readLength = 16 * 1024

    /// - Returns: the relay, and the socket for the tunnel.
    static func start(
        _ id: HTTP2StreamID, of stream: HTTP2OriginStream, on connection: HTTP2OriginConnection
    ) throws(SystemError) -> (HTTP2SwitchedStream, Int32) {
        var sockets: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | larder_sock_nonblock | larder_sock_cloexec
        guard socketpair(AF_UNIX, kind, 0, &sockets) == 0 else { throw SystemError("socketpair", code: errno) }
        let relay = HTTP2SwitchedStream(id, of: stream, on: connection, descriptor: sockets[0])
        do throws(SystemError) {
            relay.registration = try connection.eventLoop.register(sockets[0], .read, handler: relay)
        } catch {
            for descriptor in sockets { Glibc.close(descriptor) }
            throw error
        }
        return (relay, sockets[1])
    }

    private init(_ id: HTTP2StreamID, of stream: HTTP2OriginStream, on connection: HTTP2OriginConnection, descriptor: Int32) {
        self.id = id
        self.stream = stream
        self.connection = connection
        self.descriptor = descriptor
        serverAddress = connection.peer
    }

    // MARK: From the server

    func receive(_ content: UnsafeRawBufferPointer) {
        toTunnel.append(contentsOf: content)
        write()
        settle()
    }

    func receiveEnd() {
        hasServerEnded = true
        write()
        settle()
    }

    private func write() {
        guard registration != nil else { return }
        if !toTunnel.isEmpty {
            let count = toTunnel.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, larder_msg_nosignal) }
            if count > 0 {
                toTunnel.removeFirst(count)
                stream.consumed(count)
            } else if errno != EAGAIN, errno != EINTR {
                return end(.cancel)
            }
        }
        if toTunnel.isEmpty, hasServerEnded { _ = shutdown(descriptor, Int32(SHUT_WR)) }
    }

    // MARK: From the client

    func ready(_ events: ReadyEvents) {
        if events.isWritable { write() }
        if events.isReadable || events.isBroken { read() }
        settle()
        connection.flushSoon()
    }

    /// Called when the tunnel has closed its socket, which may still have bytes of the client.
    func tunnelClosed() {
        guard registration != nil else { return }
        isTunnelClosed = true
        read()
        settle()
        if registration == nil { return }
        connection.makeFrames()
        end(.cancel)
        connection.flushSoon()
    }

    func windowOpened() {
        pass()
        if toServer.isEmpty { read() }
        settle()
        connection.flushSoon()
    }

    private func read() {
        while registration != nil, toServer.isEmpty, !hasTunnelEnded {
            var count = 0
            toServer.append(addingCapacity: Self.readLength) { span in
                span.withUnsafeMutableBufferPointer { buffer, initialized in
                    count = recv(descriptor, buffer.baseAddress! + initialized, Self.readLength, 0)
                    initialized += max(count, 0)
                }
            }
            if count < 0 {
                if errno == EINTR { continue }
                if errno != EAGAIN { end(.cancel) }
                return
            }
            if count == 0 {
                // A tunnel that does not wait for the server's end was cut off, so that its end is not orderly.
                if isTunnelClosed, !hasServerEnded { return }
                hasTunnelEnded = true
                return pass()
            }
            pass()
        }
    }

    /// Passes waiting bytes to the session, as many as it accepts, and then the end.
    private func pass() {
        guard registration != nil else { return }
        if !toServer.isEmpty {
            guard let count = toServer.withUnsafeBytes({ try? connection.session.submitData(id, $0, end: false) }) else {
                return end(.cancel)
            }
            toServer.removeFirst(count)
        }
        if toServer.isEmpty, hasTunnelEnded { try? connection.session.submitTrailers(id, Fields()) }
    }

    // MARK: End

    private func settle() {
        guard let registration else { return }
        if hasServerEnded, toTunnel.isEmpty, hasTunnelEnded, toServer.isEmpty { return end(nil) }
        var interest = toServer.isEmpty && !hasTunnelEnded ? Interest.read : Interest()
        if !toTunnel.isEmpty { interest.insert(.write) }
        connection.eventLoop.modify(registration, interest)
    }

    /// Called when the server has reset the stream, or the connection is lost: the tunnel gets the bytes that fit, and then a failure.
    func cut() {
        isCut = true
        write()
        end(nil)
    }

    /// - Parameter code: the reason to reset the stream; `nil` if the stream has ended.
    private func end(_ code: HTTP2ErrorCode?) {
        guard let registration else { return }
        self.registration = nil
        connection.eventLoop.close(registration)
        stream.relayEnded(code)
    }
}
