import EventLoop
import Glibc
import HTTPMessage
import ProxyCore
import UpstreamTransport

/// The part of a body's delivery that the kernel performs.
enum KernelRelay {
    /// Bodies with fewer bytes than this fit into any socket buffer.
    private static let boundedBodyLength: UInt64 = 1 << 20
    /// For bodies with fewer bytes than this, a pipe costs more than it saves.
    private static let divertedLength: UInt64 = 1 << 20

    /// Splices a large body from the origin's socket to the client's socket, through a pipe, if only one client receives the body. No code
    /// of Larder reads such a body, so it need not be copied into this process. Called after the head was written, if the body goes to the
    /// client unchanged.
    /// - Returns: the pipe; `nil` if the body does not go through one.
    static func divert(_ mode: OriginFetch.Mode, isChunked: Bool, for driver: ExchangeDriver) -> KernelPipe? {
        // With TLS, the kernel cannot move the bytes.
        guard case .http = Origin.Scheme(of: driver.exchange), mode == .direct, !isChunked, driver.exchange.delivery.sendsContent,
            let client = driver.client, client.takesSplicedBody,
            case .known(let length) = driver.exchange.upstream.body, length >= Self.divertedLength,
            let upstream = driver.fetch.upstream, let pipe = KernelPipe()
        else { return nil }
        upstream.divertBody(into: pipe.writeEnd, atMost: KernelPipe.capacity)
        return pipe
    }

    /// Limits the socket's send buffer for a body in flight; called after its head was written. If a client leaves, the bytes in
    /// the kernel's buffer for it are lost, and may have to be fetched a second time. The buffers grow to megabytes by
    /// themselves, so they are kept small for clients on this machine.
    static func boundBuffer(for driver: ExchangeDriver) {
        guard let socket = driver.client?.socket, driver.peer.address.isLoopback else { return }
        switch driver.exchange.delivery.length {
        case .none: return
        case .known(let length) where length < Self.boundedBodyLength: return
        case .known, .unknown: break
        }
        // The kernel doubles the value that is set here.
        var bound = Int32(driver.worker.settings.proxyLimits.relayWindow / 2)
        _ = setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bound, socklen_t(MemoryLayout<Int32>.size))
    }
}
