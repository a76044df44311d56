import EventLoop
import HTTPMessage
import ProxyCore

/// The client's side of its exchanges: an HTTP/1 connection, or a stream of an HTTP/2 connection. An exchange's driver reads the request's
/// content from it, and writes the response to `output` as HTTP/1.1 (RFC 9112); a stream translates the response into frames.
///
/// Confined to its loop.
class ExchangeClient {
    // Strong `let`s avoid retain and release on every use. The worker releases the connection when it closes.
    final let worker: LoopWorker
    final let loop: EventLoop
    final let peer: PeerAddress
    @exclusivity(unchecked) final var output = OutputQueue()
    /// Whether the client connected to an origin's address, without knowing of the proxy, and Larder accepted the connection.
    final var isTransparent = false
    /// The authenticated user name, if it applies to all requests on the connection.
    @exclusivity(unchecked) final var user: [UInt8] = []
    /// The names in the client's certificate, as in `TLSSession.clientNames`.
    @exclusivity(unchecked) final var certificateNames: [[UInt8]] = []
    /// The authority of requests inside a tunnel.
    @exclusivity(unchecked) final var tunnel: TunnelAuthority? {
        didSet { isInside = tunnel != nil }
    }
    /// Whether `tunnel` is set, as a stored flag.
    @exclusivity(unchecked) final private(set) var isInside = false
    /// Whether the connection closes after the current response.
    final var closesWhenDrained = false

    init(_ worker: LoopWorker, peer: PeerAddress) {
        self.worker = worker
        loop = worker.loop
        self.peer = peer
    }

    /// The socket; `nil` if other exchanges use it too, as in HTTP/2.
    var socket: Int32? { nil }
    /// Whether the kernel can move a body to the socket.
    var takesSplicedBody: Bool { false }

    /// Whether the rest of a request's content is read and discarded after the response, because another request may follow on the same
    /// connection.
    var drainsContent: Bool { true }

    /// Writes waiting output. As long as all of it is accepted, lets the driver make more.
    func flush() {}

    /// Like `flush`, but at the end of the batch, together with the output of the client's other events.
    func flushSoon() {}

    /// Writes waiting output, then `bytes`, without copying what is accepted at once.
    func write(_ bytes: Span<UInt8>) { output.buffer.append(bytes) }

    /// Gives the driver the received bytes of the request's content; `body` returns the number of bytes consumed.
    func withInput(_ body: (RawSpan) -> Int) {}

    /// Called when the driver's exchange has ended. Its response may still be in the output.
    func exchangeEnded(keepsConnection: Bool) {}

    /// Called when the response will break off because of this fault, before `abort` or `exchangeEnded`.
    func noteCut(by fault: Fault) {}

    /// Ends the response so that the client cannot take an incomplete message for a complete one.
    func abort() {}
}
