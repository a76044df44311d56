import CLarderLinux
import Glibc
internal import HTTPCaching
import HTTPMessage
import ServerTrust
import TLSChannel

/// The bytes inside a TLS connection with a trusted server. Confined to its loop.
///
/// All records that have arrived are decrypted at once, so only the socket has bytes that are not read yet.
final class UpstreamTLSChannel {
    enum Received {
        case bytes(Int), wouldBlock
        /// Records without application data arrived; there may be more.
        case needsMore
        /// The server has announced the end of its data (close_notify).
        case ended
        /// The connection broke, or an error occurred: the received bytes may be incomplete (RFC 8446 §6.1).
        case failed
    }

    @exclusivity(unchecked) private var channel: ByteChannel
    private let judge: HandshakeJudge
    private let buffers: RecordBuffers
    /// Bytes that arrived with the end of the handshake, before anything was sent.
    @exclusivity(unchecked) private var early: [UInt8]
    /// The number of the caller's bytes in records that the kernel has not accepted.
    @exclusivity(unchecked) private var sealedCount = 0
    private var hasAnnouncedEnd = false
    /// Whether the handshake chose HTTP/2 (RFC 7301).
    let isForHTTP2: Bool
    private var isClosed = false

    /// - Parameters:
    ///   - channel: a channel with an open session.
    ///   - judge: has reached its verdict on the server.
    init(
        _ channel: ByteChannel, isForHTTP2: Bool, judgedBy judge: HandshakeJudge, through buffers: RecordBuffers, early: [UInt8]
    ) {
        self.isForHTTP2 = isForHTTP2
        self.channel = channel
        self.judge = judge
        self.buffers = buffers
        self.early = early
    }

    deinit { assert(isClosed, "a channel must be closed by its owner") }

    /// The verdict on the server.
    var verdict: TrustVerdict? { judge.verdict }

    /// The verified chain; empty if it does not end at an anchor, or if the policy does not validate the host.
    var judgedChain: [Certificate] { judge.judgedChain }

    /// The mark of the policy that accepted the server.
    var trustMark: UInt64 { judge.mark }

    /// The certificate chain and the other evidence by which the server was accepted, to be stored with its responses; `nil` if it is too
    /// large.
    private(set) lazy var recordedChain = judge.evidence.flatMap { RecordedChain($0.record) }

    /// Why the server closed the connection, if it sent an alert: in TLS 1.3 it checks the client's part of the handshake after
    /// the handshake has ended.
    var refusal: TransportError? { TransportError(alertTo: judge) }

    /// The last second for which the verdict on the server can be relied on; `nil` if there is no such limit.
    var reliableUntil: POSIXTime? { judge.reliableUntil }

    // MARK: Sending

    /// The maximum number of the caller's bytes that one call of `send` encrypts.
    private static let sendLimit = 64 * 1024

    /// - Parameter bytes: the bytes to send; not empty. After `wouldBlock` the next call must begin with the same bytes.
    func send(_ bytes: Span<UInt8>) -> SendOutcome {
        if sealedCount == 0 {
            lendStorage()
            let count = min(bytes.count, Self.sendLimit)
            guard bytes.extracting(first: count).withUnsafeBytes({ channel.seal($0) }) else { return .failed }
            sealedCount = count
        }
        switch sendRecords() {
        case .drained: break
        case .blocked: return .wouldBlock
        case .failed: return .failed
        }
        let count = sealedCount
        sealedCount = 0
        return .bytes(count)
    }

    /// Announces the end of our data with a close_notify (RFC 8446 §6.1). The channel can still be read.
    /// - Returns: `wouldBlock` if it must be called again when the descriptor is writable.
    func endSending() -> SendOutcome {
        if !hasAnnouncedEnd { channel.end() }
        hasAnnouncedEnd = true
        return switch sendRecords() {
        case .drained: .bytes(0)
        case .blocked: .wouldBlock
        case .failed: .failed
        }
    }

    /// Sends TLS's own messages, if the kernel accepts them. The next call of `send` reports a failure.
    func flush() {
        if !isClosed, channel.unsentCount > 0, sealedCount == 0 { _ = sendRecords() }
    }

    private func sendRecords() -> ByteChannel.Sent {
        var total: UInt64 = 0
        let sent = channel.sendRecords(counting: &total)
        if sent == .drained { takeBackStorage() }
        return sent
    }

    private func lendStorage() {
        channel.withRecordStorage { if $0.capacity == 0 { swap(&$0, &buffers.output) } }
    }

    /// An idle connection keeps no storage for records.
    private func takeBackStorage() {
        channel.withRecordStorage { if buffers.output.capacity == 0 { swap(&$0, &buffers.output) } else { $0 = [] } }
    }

    // MARK: Receiving

    /// Whether `receive` has something to report that no event of the descriptor will signal.
    var holdsInput: Bool { !early.isEmpty || channel.isOver }

    /// - Parameter buffer: the buffer for the data, with space for `RecordBuffers.contentLength` bytes.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Received {
        if !early.isEmpty { return takeEarly(into: buffer) }
        let received =
            channel.isOver
            ? channel.receiveRest(into: buffer, through: buffers) : channel.receive(into: buffer, through: buffers)
        // Sends TLS's replies, for example to key updates. `isFlooded` limits the number of messages that get a reply.
        flush()
        if judge.isFlooded { return .failed }
        return switch received {
        case .bytes(let count): .bytes(count)
        case .needsMore: .needsMore
        case .wouldBlock: .wouldBlock
        case .ended: .ended
        case .cut, .failed: .failed
        }
    }

    private func takeEarly(into buffer: UnsafeMutableRawBufferPointer) -> Received {
        let count = min(early.count, buffer.count)
        buffer.copyBytes(from: early[..<count])
        early.removeFirst(count)
        return .bytes(count)
    }

    /// Whether the server has sent no data (session tickets do not count), has not closed, and is still trusted.
    func isReusable(at now: Timestamp) -> Bool {
        if let end = reliableUntil, now.seconds > end.seconds { return false }
        for _ in 0..<Self.ownRecordLimit {
            if holdsInput { return false }
            // In the usual case nothing has arrived, and nothing is read.
            if hasNoInput { return !channel.isWithinRecord }
            var byte: UInt8 = 0
            switch withUnsafeMutableBytes(of: &byte, { receive(into: $0) }) {
            case .wouldBlock, .needsMore: continue
            case .bytes, .ended, .failed: return false
            }
        }
        return false
    }

    private var hasNoInput: Bool {
        var byte: UInt8 = 0
        return recv(channel.descriptor, &byte, 1, larder_msg_peek | larder_msg_dontwait) < 0 && errno == EAGAIN
    }

    /// The maximum number of reads for TLS's own records from a connection without a request. A connection that needs more reads is not
    /// reused.
    private static let ownRecordLimit = 64

    // MARK: End of the connection

    /// Announces the end of our data with a close_notify, and closes the descriptor. No loop may still watch the descriptor.
    func close() {
        if isClosed { return }
        _ = endSending()
        closeSilently()
    }

    /// Closes the descriptor without announcing the end: the server knows that the data it received may be incomplete.
    func closeSilently() {
        if isClosed { return }
        isClosed = true
        Glibc.close(channel.descriptor)
    }
}
