import EventLoop
import UpstreamTransport

/// Large bodies for one client alone go by `splice` from the origin's socket to the client's, through a pipe: nobody here looks
/// into them, and so they need not come into this process.
extension ExchangeDriver {
    /// Bodies shorter than this are not worth a pipe.
    private static let divertedLength: UInt64 = 1 << 20

    /// Called when the head has been written and the body goes to the client as it is.
    func divertIfLarge() {
        // Inside TLS there is nothing that the kernel could move.
        guard case .http = originScheme, fetch.mode == .direct, !delivery.isChunked, exchange.request.method != .head,
            connection?.channel.isSecured == false, case .known(let length) = exchange.upstream.body,
            length >= Self.divertedLength,
            let upstream = fetch.upstream, let pipe = Pipe()
        else { return }
        delivery.pipe = pipe
        upstream.divertBody(into: pipe.writeEnd, atMost: Pipe.capacity)
    }

    func exchange(_ upstream: OriginExchange, didDivertBody count: Int) {
        fetch.receivedCount += UInt64(count)
        guard let connection, let pipe = delivery.pipe else { return }
        delivery.sentCount += UInt64(count)
        connection.output.appendPiped(count, from: pipe)
        connection.flush()
        // It is filled anew when it is empty, so that "would block" always speaks of the origin's socket.
        if self.connection?.output.isEmpty == false { pauseUpstream() }
    }
}
