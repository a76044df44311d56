import CLarderLinux
import Glibc
import TLSChannel
import UpstreamTransport

/// One end of a relay: a socket, optionally with TLS. It keeps bytes that the peer has not accepted.
protocol RelayEnd: AnyObject {
    /// Reads until `wouldBlock`, after which the descriptor reports new input.
    /// - Returns: `nil` if the bytes read contain nothing for the other side: there may be more.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> SwitchedConnection.Received?
    /// Accepts all bytes. Only called if nothing is waiting.
    func send(_ octets: Span<UInt8>)
    /// Writes waiting bytes.
    func flush() -> OutputQueue.Result
    /// Ends sending. Only called if nothing is waiting. If it returns `blocked`, it must be called again.
    func endSending() -> OutputQueue.Result
    /// Whether nothing waits to be written.
    var isEmptied: Bool { get }
}

/// The end of a relay at the client. It uses the channel and the output of the client's connection.
final class ClientRelayEnd: RelayEnd {
    private var channel: ByteChannel
    private var output: OutputQueue
    /// The loop's buffers for TLS records.
    private let buffers: RecordBuffers
    /// Whether an end without close_notify is a failure (RFC 8446 §6.1), or is passed on like any other end.
    private let expectsNotifiedEnd: Bool
    /// Whether the channel may still have received content that it has not reported. The reader of the original request may
    /// have left some.
    private var mayHoldMore = true
    private var hasEnded = false

    init(_ channel: ByteChannel, _ output: OutputQueue, through buffers: RecordBuffers, expectsNotifiedEnd: Bool) {
        self.channel = channel
        self.expectsNotifiedEnd = expectsNotifiedEnd
        self.output = output
        self.buffers = buffers
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> SwitchedConnection.Received? {
        if mayHoldMore {
            mayHoldMore = false
            if let received = told(channel.receiveRest(into: buffer, through: buffers)) { return received }
        }
        return told(channel.receive(into: buffer, through: buffers))
    }

    private func told(_ received: ByteChannel.Received) -> SwitchedConnection.Received? {
        // Sends TLS's own replies at once; their amount is limited. The next write reports a failure.
        if channel.unsentCount > 0 { _ = output.write(to: &channel) }
        if channel.unsentCount > ClientConnection.answersLimit { return .failed }
        switch received {
        case .bytes(let count):
            mayHoldMore = true
            return .octets(count)
        case .needsMore: return nil
        case .wouldBlock: return .wouldBlock
        case .ended: return .ended
        case .cut: return expectsNotifiedEnd ? .failed : .ended
        case .failed: return .failed
        }
    }

    func send(_ octets: Span<UInt8>) { output.write(octets, to: &channel) }

    func flush() -> OutputQueue.Result { output.write(to: &channel) }

    var isEmptied: Bool { output.isEmpty }

    func endSending() -> OutputQueue.Result {
        guard channel.isSecured else { return shutdown(channel.descriptor, Int32(SHUT_WR)) == 0 ? .drained : .failed }
        if !hasEnded { channel.end() }
        hasEnded = true
        return flush()
    }
}

/// The end of a relay at the origin.
final class OriginRelayEnd: RelayEnd {
    private let connection: SwitchedConnection
    private var waiting: [UInt8] = []
    private var offset = 0

    init(_ connection: SwitchedConnection) { self.connection = connection }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> SwitchedConnection.Received? { connection.receive(into: buffer) }

    func send(_ octets: Span<UInt8>) {
        var sent = 0
        while sent < octets.count, case .octets(let count) = connection.send(octets.extracting(sent...)) { sent += count }
        // The next write reports a failure.
        waiting.append(octets.extracting(sent...))
    }

    var isEmptied: Bool { offset == waiting.count }

    func flush() -> OutputQueue.Result {
        while offset < waiting.count {
            switch connection.send(waiting.span.extracting(offset...)) {
            case .octets(let count): offset += count
            case .wouldBlock: return .blocked
            case .failed: return .failed
            }
        }
        waiting.removeAll(keepingCapacity: true)
        offset = 0
        return .drained
    }

    func endSending() -> OutputQueue.Result {
        switch connection.endSending() {
        case .octets: .drained
        case .wouldBlock: .blocked
        case .failed: .failed
        }
    }
}
