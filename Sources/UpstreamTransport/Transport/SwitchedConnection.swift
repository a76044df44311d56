import CLarderLinux
import Glibc
import HTTPMessage

/// A connection to a server that was handed to a tunnel: the server answered 101, or the connection was opened for a CONNECT.
/// It is not counted in the budgets, and its bytes belong to another protocol. Confined to the loop of its transport; its owner
/// closes it.
package final class SwitchedConnection {
    package enum Received: Equatable {
        case octets(Int), wouldBlock
        /// The server has ended its sending direction.
        case ended
        /// The connection broke, or an error occurred.
        case failed
    }

    package enum Sent { case octets(Int), wouldBlock, failed }

    /// The connected socket; no loop watches it yet.
    package let descriptor: Int32
    /// The bytes received after the 101.
    package let received: [UInt8]
    /// The relay that has the other end of `descriptor`; `nil` if `descriptor` is connected to the server itself.
    let relay: HTTP2SwitchedStream?
    /// The transport, which counts its switched connections inside TLS.
    private let transport: Transport?
    private let channel: UpstreamTLSChannel?
    private var isClosed = false

    init(_ transport: Transport, descriptor: Int32, channel: UpstreamTLSChannel?, received: [UInt8]) {
        self.transport = transport
        self.descriptor = descriptor
        self.channel = channel
        self.received = received
        relay = nil
        if channel != nil { transport.switchedCount += 1 }
    }

    /// Takes a connection that was opened for a tunnel.
    package convenience init(descriptor: Int32) { self.init(descriptor: descriptor, relayedBy: nil) }

    /// Takes one of a pair of sockets. The relay passes the bytes on to the server, on a stream of an HTTP/2 connection.
    init(descriptor: Int32, relayedBy relay: HTTP2SwitchedStream?) {
        transport = nil
        self.relay = relay
        self.descriptor = descriptor
        channel = nil
        received = []
    }

    deinit { assert(isClosed, "a switched connection must be closed by its owner") }

    /// Whether the bytes must pass through `receive` and `send`: the kernel cannot move them between two sockets, because it knows neither
    /// TLS nor how a relayed connection ends.
    package var isManaged: Bool { channel != nil || relay != nil }

    /// Receives until `wouldBlock`, after which the descriptor signals readability again.
    package func receive(into buffer: UnsafeMutableRawBufferPointer) -> Received {
        if let channel { return receive(from: channel, into: buffer) }
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, larder_msg_dontwait)
            if count > 0 { return .octets(count) }
            if count == 0 { return relay?.isCut == true ? .failed : .ended }
            if errno != EINTR { return errno == EAGAIN ? .wouldBlock : .failed }
        }
    }

    private func receive(from channel: UpstreamTLSChannel, into buffer: UnsafeMutableRawBufferPointer) -> Received {
        for _ in 0..<Self.readsInTurn {
            switch channel.receive(into: buffer) {
            case .bytes(let count): return .octets(count)
            case .needsMore: continue
            case .wouldBlock: return .wouldBlock
            case .ended: return .ended
            case .failed: return .failed
            }
        }
        return .failed
    }

    /// The maximum number of reads in one call that bring only records without application data. After that the connection counts
    /// as failed.
    private static let readsInTurn = 64

    /// - Parameter octets: the bytes to send; not empty. After `wouldBlock` the next call must begin with the same bytes.
    package func send(_ octets: Span<UInt8>) -> Sent {
        guard let channel else { return sendPlain(octets) }
        return Sent(channel.send(octets))
    }

    /// Ends our sending direction after all bytes were sent: inside TLS with a close_notify, otherwise by shutting down the sending side.
    /// - Returns: `wouldBlock` if it must be called again when the descriptor is writable.
    package func endSending() -> Sent {
        guard let channel else {
            return shutdown(descriptor, Int32(SHUT_WR)) == 0 ? .octets(0) : .failed
        }
        return Sent(channel.endSending())
    }

    /// Closes the connection. Only `endSending` announces the end to the server: this method does not.
    package func close() {
        if isClosed { return }
        isClosed = true
        guard let channel else {
            Glibc.close(descriptor)
            relay?.tunnelClosed()
            return
        }
        channel.closeSilently()
        transport?.switchedCount -= 1
    }

    private func sendPlain(_ octets: Span<UInt8>) -> Sent {
        while true {
            let count = octets.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, larder_msg_nosignal | larder_msg_dontwait)
            }
            if count >= 0 { return .octets(count) }
            if errno != EINTR { return errno == EAGAIN ? .wouldBlock : .failed }
        }
    }
}

extension SwitchedConnection.Sent {
    fileprivate init(_ outcome: SendOutcome) {
        self =
            switch outcome {
            case .bytes(let count): .octets(count)
            case .wouldBlock: .wouldBlock
            case .failed: .failed
            }
    }
}
