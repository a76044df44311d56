import Glibc
import HTTPMessage
import ProxyCore
import UpstreamTransport

/// What the kernel does of a delivery.
enum KernelRelay {
    /// Bodies shorter than this fit into any buffer.
    private static let boundedBodyLength: UInt64 = 1 << 20
    /// Bodies shorter than this are not worth a pipe.
    private static let divertedLength: UInt64 = 1 << 20

    /// Called when the head has been written and the body goes to the client as it is. Large bodies for one client alone go by
    /// `splice` from the origin's socket to the client's, through a pipe: nobody here looks into them, and so they need not come
    /// into this process.
    /// - Returns: the pipe, for a body that goes through one.
    static func divert(_ mode: OriginFetch.Mode, isChunked: Bool, for driver: ExchangeDriver) -> Pipe? {
        // Inside TLS there is nothing that the kernel could move.
        guard case .http = Origin.Scheme(of: driver.exchange), mode == .direct, !isChunked, driver.exchange.delivery.sendsContent,
            let connection = driver.connection, !connection.channel.isSecured,
            case .known(let length) = driver.exchange.upstream.body, length >= Self.divertedLength,
            let upstream = driver.fetch.upstream, let pipe = Pipe()
        else { return nil }
        upstream.divertBody(into: pipe.writeEnd, atMost: Pipe.capacity)
        return pipe
    }

    /// Called when the head of a body has been written that the origin is sending. What the kernel holds of it for a client that leaves
    /// has come in vain, and may come twice: its buffers, which grow to megabytes by themselves, are kept small where the way is short.
    static func boundBuffer(for driver: ExchangeDriver) {
        guard let connection = driver.connection, driver.peer.address.isLoopback else { return }
        switch driver.exchange.delivery.length {
        case .none: return
        case .known(let length) where length < Self.boundedBodyLength: return
        case .known, .unknown: break
        }
        // The kernel takes the double of it.
        var bound = Int32(driver.worker.settings.proxyLimits.relayWindow / 2)
        _ = setsockopt(connection.descriptor, SOL_SOCKET, SO_SNDBUF, &bound, socklen_t(MemoryLayout<Int32>.size))
    }
}
