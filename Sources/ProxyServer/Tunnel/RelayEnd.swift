import CLinux
import Glibc
import TLSChannel
import UpstreamTransport

/// One end of a relay: a socket, perhaps with TLS on it. It keeps what the peer has not taken.
protocol RelayEnd: AnyObject {
    /// To `wouldBlock`, behind which the descriptor becomes readable anew.
    /// - Returns: `nil` where something was read that holds nothing for the other side: there may be more.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> SwitchedConnection.Received?
    /// Takes all of it. Called when nothing waits.
    func send(_ octets: Span<UInt8>)
    /// Writes what waits.
    func flush() -> OutputQueue.Result
    /// Says that no more is sent, once nothing waits. Where it is `blocked`, to be called again.
    func endSending() -> OutputQueue.Result
    /// Nothing waits to be written.
    var isEmptied: Bool { get }
}

/// The client, by what its connection had to read and write with.
final class ClientRelayEnd: RelayEnd {
    private var channel: ByteChannel
    private var output: OutputQueue
    /// The loop's.
    private let buffers: RecordBuffers
    /// Whether the end of the connection without a close_notify is a failure (RFC 8446 §6.1), or passed on as any end is.
    private let expectsNotifiedEnd: Bool
    /// There may be more in what came than was told, also to the reader of the request that has led here.
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
        // What TLS answers by itself leaves at once, and nobody has more and more of it made. A failure shows with the next write.
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

/// The origin.
final class OriginRelayEnd: RelayEnd {
    private let connection: SwitchedConnection
    private var waiting: [UInt8] = []
    private var offset = 0

    init(_ connection: SwitchedConnection) { self.connection = connection }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> SwitchedConnection.Received? { connection.receive(into: buffer) }

    func send(_ octets: Span<UInt8>) {
        var sent = 0
        while sent < octets.count, case .octets(let count) = connection.send(octets.extracting(sent...)) { sent += count }
        // A failure shows with the next write.
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
