import CLinux
import Glibc
import HTTPMessage

/// A connection to a server, given away for a tunnel: the server has answered 101, or it was opened for a CONNECT. No budget counts it, and
/// its bytes are for another protocol. Confined to the loop of the transport it comes from, and closed by its owner.
package final class SwitchedConnection {
    package enum Received: Equatable {
        case octets(Int), wouldBlock
        /// The server has said that it sends no more.
        case ended
        /// Cut, or an error.
        case failed
    }

    package enum Sent { case octets(Int), wouldBlock, failed }

    /// Watched by nobody.
    package let descriptor: Int32
    /// What came behind the 101.
    package let received: [UInt8]
    /// Counts those inside TLS.
    private let transport: Transport?
    private let channel: UpstreamTLSChannel?
    /// What tells the end inside TLS, as far as it has not left.
    private var endRecords: [UInt8]?
    private var isClosed = false

    init(_ transport: Transport, descriptor: Int32, channel: UpstreamTLSChannel?, received: [UInt8]) {
        self.transport = transport
        self.descriptor = descriptor
        self.channel = channel
        self.received = received
        if channel != nil { transport.switchedCount += 1 }
    }

    /// One that was opened for a tunnel.
    package init(descriptor: Int32) {
        transport = nil
        self.descriptor = descriptor
        channel = nil
        received = []
    }

    deinit { assert(isClosed, "a switched connection must be closed by its owner") }

    package var isSecure: Bool { channel != nil }

    /// To `wouldBlock`, behind which the descriptor becomes readable anew.
    package func receive(into buffer: UnsafeMutableRawBufferPointer) -> Received {
        if let channel {
            return switch channel.receiveAll(into: buffer) {
            case .bytes(let count): .octets(count)
            case .wouldBlock: .wouldBlock
            case .ended: .ended
            case .failed: .failed
            }
        }
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, larder_msg_dontwait)
            if count > 0 { return .octets(count) }
            if count == 0 { return .ended }
            if errno != EINTR { return errno == EAGAIN ? .wouldBlock : .failed }
        }
    }

    /// - Parameter octets: not empty. What is sent after `wouldBlock` begins with the same.
    package func send(_ octets: Span<UInt8>) -> Sent {
        guard let channel else { return sendPlain(octets) }
        return switch channel.send(octets) {
        case .bytes(let count): .octets(count)
        case .wouldBlock: .wouldBlock
        case .failed: .failed
        }
    }

    /// Says that no more is sent, once all has left that was: inside TLS by a close_notify, else by ending this way of the connection.
    /// - Returns: `wouldBlock` where it is to be called again when the descriptor is writable.
    package func endSending() -> Sent {
        guard let channel else {
            return shutdown(descriptor, Int32(SHUT_WR)) == 0 ? .octets(0) : .failed
        }
        var records = endRecords ?? channel.endRecords()
        endRecords = []
        while !records.isEmpty {
            switch sendPlain(records.span) {
            case .octets(let count): records.removeFirst(count)
            case .wouldBlock:
                endRecords = records
                return .wouldBlock
            case .failed: return .failed
            }
        }
        return .octets(0)
    }

    /// Says nothing to the server that `endSending` has not said.
    package func close() {
        if isClosed { return }
        isClosed = true
        guard let channel else {
            Glibc.close(descriptor)
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
