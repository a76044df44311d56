import CLarderLinux
import EventLoop
import Glibc
import HTTP2Wire
import HTTPMessage

/// A stream that becomes a tunnel: by CONNECT (RFC 9113 §8.5), or for a WebSocket by extended CONNECT (RFC 8441).
///
/// A pair of sockets connects the stream with an HTTP/1 connection of its own. That connection handles the request like that of any client:
/// rules, interception and tunnels are the same. The stream translates the heads, and then passes on bytes in both directions.
///
/// Confined to its loop; the loop and its connection keep it alive.
final class HTTP2TunnelStream: HTTP2StreamHandler, EventHandler {
    let id: HTTP2StreamID
    private unowned let connection: HTTP2Connection
    private let session: HTTP2Session
    private let loop: EventLoop
    private let descriptor: Int32
    private var registration: Registration?
    private var response = WrittenResponse()
    private var isTunnel = false
    /// Bytes of the response or of the tunnel that the session has not accepted.
    private var toClient: [UInt8] = []
    /// How many of the next bytes to the client are the content of a response.
    private var contentCount = 0
    private var hasEnded = false
    /// Bytes that the inner connection has not accepted, and the number of the client's data bytes that still count against its
    /// flow-control window.
    private var toProxy: [UInt8] = []
    private var unreleasedCount = 0
    private var hasClientEnded = false

    private static let readLength = 16 * 1024
    /// Always `nil`: the inner connection and its tunnel have their own time limits.
    var waitsSince: MonotonicTime? { nil }

    static func start(
        _ id: HTTP2StreamID, for head: borrowing RequestHead, extendedConnect: Extent?, on connection: HTTP2Connection
    ) {
        var sockets: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | larder_sock_nonblock | larder_sock_cloexec
        guard connection.worker.acceptsInnerConnection, socketpair(AF_UNIX, kind, 0, &sockets) == 0 else {
            // The error code says that the client may send the request again (RFC 9113 §8.7).
            return connection.session.reset(id, .refusedStream)
        }
        let stream = HTTP2TunnelStream(id, on: connection, descriptor: sockets[0])
        do throws(SystemError) {
            stream.registration = try stream.loop.register(sockets[0], .read, handler: stream)
        } catch {
            closeDescriptor(sockets[0])
            closeDescriptor(sockets[1])
            return connection.session.reset(id, .refusedStream)
        }
        connection.add(stream)
        stream.response.method = extendedConnect == nil ? .connect : .get
        TunnelRequest.write(head, protocol: extendedConnect, into: &stream.toProxy)
        stream.flush()
        connection.worker.adoptInner(descriptor: sockets[1], of: connection)
    }

    private init(_ id: HTTP2StreamID, on connection: HTTP2Connection, descriptor: Int32) {
        self.id = id
        self.connection = connection
        self.descriptor = descriptor
        session = connection.session
        loop = connection.loop
    }

    // MARK: From the client

    func receive(_ data: UnsafeRawBufferPointer) {
        unreleasedCount += data.count
        toProxy.append(contentsOf: data)
        flush()
    }

    /// Ignores trailers, because a tunnel has none.
    func receive(trailers: consuming Fields) {}

    func receiveEnd() {
        hasClientEnded = true
        flush()
    }

    /// Writes waiting bytes to the inner connection.
    func flush() {
        guard registration != nil else { return }
        if !toProxy.isEmpty {
            let count = toProxy.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, larder_msg_nosignal) }
            // A failure is found by the next read.
            if count > 0 { toProxy.removeFirst(count) }
            let released = unreleasedCount - min(unreleasedCount, toProxy.count)
            unreleasedCount -= released
            if released > 0 {
                session.consumed(id, released)
                connection.flushSoon()
            }
        }
        if toProxy.isEmpty, hasClientEnded { _ = shutdown(descriptor, Int32(SHUT_WR)) }
        settle()
    }

    // MARK: To the client

    func ready(_ events: ReadyEvents) {
        if events.isWritable { flush() }
        if events.isReadable || events.isBroken { read() }
        connection.flushSoon()
    }

    func windowOpened() {
        pass()
        if toClient.isEmpty { read() }
        connection.flushSoon()
    }

    private func read() {
        while registration != nil, toClient.isEmpty, !hasEnded {
            let start = toClient.count
            var count = 0
            toClient.append(addingCapacity: Self.readLength) { span in
                span.withUnsafeMutableBufferPointer { buffer, initialized in
                    count = recv(descriptor, buffer.baseAddress! + initialized, Self.readLength, 0)
                    initialized += max(count, 0)
                }
            }
            if count < 0 {
                if errno == EINTR { continue }
                if errno != EAGAIN { cut() }
                return settle()
            }
            if count == 0, toClient.count == start {
                end()
                return settle()
            }
            pass()
        }
        settle()
    }

    /// Passes waiting bytes to the session, as many as it accepts.
    private func pass() {
        let bytes = toClient
        toClient.removeAll(keepingCapacity: true)
        var offset = 0
        bytes.withUnsafeBytes { bytes in
            while offset < bytes.count, registration != nil {
                if isTunnel || contentCount > 0 {
                    let length = isTunnel ? bytes.count - offset : min(contentCount, bytes.count - offset)
                    let piece = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])
                    guard let count = try? session.submitData(id, piece, end: false) else { return cut() }
                    offset += count
                    if !isTunnel { contentCount -= count }
                    if count < length { return }
                    continue
                }
                switch response.next(RawSpan(_unsafeBytes: bytes), from: &offset) {
                case .head(let isAlone): submitHead(isAlone: isAlone)
                case .content(let range):
                    offset = range.lowerBound
                    contentCount = range.count
                case .needsMore, .ended: return
                case nil: return cut()
                }
            }
        }
        toClient.append(contentsOf: bytes[offset...])
        if !isTunnel, contentCount == 0, response.hasEnded, !hasEnded { end() }
    }

    private func submitHead(isAlone: Bool) {
        let status = response.head.status
        do throws(HTTP2SubmitError) {
            if status == .switchingProtocols || (response.method == .connect && status.isSuccessful) {
                isTunnel = true
                var head = ResponseHead()
                for line in response.head.fields.lines where line.known != .upgrade && line.known != .connection {
                    let name = response.head.fields.name(of: line)
                    // HTTP/2 does not use Sec-WebSocket-Accept (RFC 8441 §5).
                    if name.equalsIgnoringCase("sec-websocket-accept") { continue }
                    head.fields.append(name: name, value: response.head.fields.value(of: line))
                }
                try session.submitResponse(id, head, endStream: false)
            } else if status.isInformational {
                try session.submitInformational(id, response.head)
            } else {
                try session.submitResponse(id, response.head, endStream: isAlone)
                if isAlone {
                    hasEnded = true
                    connection.streamFinished(self, resetsRest: !hasClientEnded)
                }
            }
        } catch {
            cut()
        }
    }

    private func end() {
        if !isTunnel, !response.hasEnded { return cut() }
        hasEnded = true
        try? session.submitTrailers(id, Fields())
        connection.streamFinished(self, resetsRest: !isTunnel && !hasClientEnded)
    }

    /// Ends the tunnel, because the client or the inner connection was cut off (RFC 9113 §8.5).
    private func cut() {
        if registration == nil { return }
        session.reset(id, .connectError)
        connection.streamFinished(self, resetsRest: false)
        closed()
    }

    private func settle() {
        guard let registration else { return }
        var interest = toClient.isEmpty && !hasEnded ? Interest.read : Interest()
        if !toProxy.isEmpty { interest.insert(.write) }
        loop.modify(registration, interest)
    }

    func deadlinePassed() {}

    func closed() {
        guard let registration else { return }
        self.registration = nil
        loop.close(registration)
    }
}
