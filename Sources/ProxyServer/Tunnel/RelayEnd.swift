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
}

/// The client, by what its connection had to write with.
final class ClientRelayEnd: RelayEnd {
    private let descriptor: Int32
    private var output: OutputQueue
    /// The loop's, for records before they are taken apart.
    private let records: UnsafeMutableRawBufferPointer
    /// There may be more in what came than was told, also to who read the request that has led here.
    private var mayHoldMore = true
    private var hasEnded = false

    init(_ descriptor: Int32, _ output: OutputQueue, records: UnsafeMutableRawBufferPointer) {
        self.descriptor = descriptor
        self.output = output
        self.records = records
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> SwitchedConnection.Received? {
        guard let session = output.session else {
            let count = read(into: buffer)
            return count > 0 ? .octets(count) : count == 0 ? .ended : errno == EAGAIN ? .wouldBlock : .failed
        }
        if mayHoldMore {
            mayHoldMore = false
            if let received = take(UnsafeRawBufferPointer(start: nil, count: 0), of: session, into: buffer) { return received }
        }
        let count = read(into: records)
        if count < 0 { return errno == EAGAIN ? .wouldBlock : .failed }
        // Without a word before it, the end may be a cut (RFC 8446 §6.1).
        if count == 0 { return .failed }
        return take(UnsafeRawBufferPointer(rebasing: records[..<count]), of: session, into: buffer)
    }

    private func read(into target: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let count = recv(descriptor, target.baseAddress, target.count, 0)
            if count >= 0 || errno != EINTR { return count }
        }
    }

    private func take(
        _ octets: UnsafeRawBufferPointer, of session: ServerTLSSession, into buffer: UnsafeMutableRawBufferPointer
    ) -> SwitchedConnection.Received? {
        let received = session.receive(octets, into: buffer)
        // What TLS answers by itself leaves at once, and nobody has more and more of it made. A failure shows with the next write.
        if !session.output.isEmpty { _ = output.write(to: descriptor) }
        if session.output.count > ClientConnection.answersLimit { return .failed }
        switch received {
        case .octets(let count):
            mayHoldMore = true
            return .octets(count)
        case .needsMore: return nil
        case .ended: return .ended
        case .failed: return .failed
        }
    }

    func send(_ octets: Span<UInt8>) { output.write(octets, to: descriptor) }

    func flush() -> OutputQueue.Result { output.write(to: descriptor) }

    func endSending() -> OutputQueue.Result {
        guard let session = output.session else { return shutdown(descriptor, Int32(SHUT_WR)) == 0 ? .drained : .failed }
        if !hasEnded { session.end() }
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
