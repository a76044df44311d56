import CCurl
import CLinux
import Glibc
internal import HTTPCaching
import HTTPMessage
import ServerTrust

/// The bytes inside a TLS connection with a trusted server. Confined to its loop.
///
/// It keeps libcurl's handle, which stays in the connector's multi handle: removing it would end the connection. Only reading
/// up to `wouldBlock` shows that nothing is left, since the loop does not see the bytes inside OpenSSL.
final class UpstreamTLSChannel {
    enum Received {
        case bytes(Int), wouldBlock
        /// The server has announced the end of its data (close_notify).
        case ended
        /// The connection broke, or an error occurred: the received bytes may be incomplete (RFC 8446 §6.1).
        case failed
    }

    private let connector: Connector
    private let descriptor: Int32
    /// Keeps its judge, which OpenSSL may call as long as the connection exists.
    private let attempt: CurlAttempt
    private var isClosed = false
    /// OpenSSL holds no bytes: more was requested than its last record contained, and it reads only one record at a time.
    private var isDrained = false

    init(_ connector: Connector, _ attempt: CurlAttempt, descriptor: Int32) {
        self.descriptor = descriptor
        self.connector = connector
        self.attempt = attempt
    }

    /// The verdict on the server.
    var verdict: TrustVerdict? { attempt.judge?.verdict }

    /// The verified chain; empty if it does not end at an anchor, or if the policy does not validate the host.
    var judgedChain: [Certificate] { attempt.judge?.judgedChain ?? [] }

    deinit { assert(isClosed, "a channel must be closed by its owner") }

    /// The mark of the policy that accepted the server.
    var trustMark: UInt64 { attempt.judge?.mark ?? 0 }

    /// The evidence that the server was accepted with, to be stored with its responses; `nil` if it is too large.
    private(set) lazy var recordedChain = (attempt.judge?.evidence).flatMap { RecordedChain($0.record) }

    /// - Parameter bytes: not empty. After `wouldBlock` the next call must begin with the same bytes.
    func send(_ bytes: Span<UInt8>) -> UpstreamConnection.SendOutcome {
        var count = 0
        let code = bytes.withUnsafeBytes { curl_easy_send(attempt.easy, $0.baseAddress, $0.count, &count) }
        switch code {
        case CURLE_OK: return .bytes(count)
        case CURLE_AGAIN: return .wouldBlock
        default: return .failed
        }
    }

    /// A record is read whole, or as far as the buffer allows.
    static let recordLength = 16_384

    /// Receives at most one record. Also returns `wouldBlock` after a record without application data; data after it wakes the
    /// loop again.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Received {
        var count = 0
        isDrained = false
        switch curl_easy_recv(attempt.easy, buffer.baseAddress, buffer.count, &count) {
        case CURLE_OK where count > 0:
            isDrained = count < buffer.count
            return .bytes(count)
        // libcurl reports an unannounced end like an announced one.
        case CURLE_OK: return attempt.judge?.hasServerEnded == true ? .ended : .failed
        case CURLE_AGAIN: return attempt.judge?.isFlooded == true ? .failed : .wouldBlock
        default: return .failed
        }
    }

    /// Reads until there are bytes, or certainly none: for callers with edge-triggered events.
    func receiveAll(into buffer: UnsafeMutableRawBufferPointer) -> Received {
        for _ in 0..<Self.ownRecordLimit {
            let received = receive(into: buffer)
            guard case .wouldBlock = received, !hasNoInput else { return received }
        }
        return .failed
    }

    /// The records that announce our end, to be sent on the socket after all other bytes. The channel can still be read.
    func endRecords() -> [UInt8] { attempt.judge?.endRecords() ?? [] }

    /// Why the server closed the connection, if it sent an alert: in TLS 1.3 it checks the client's part of the handshake after
    /// the handshake has ended.
    var refusal: TransportError? { attempt.judge.flatMap(TransportError.init(alertTo:)) }

    /// The last second for which the verdict on the server can be relied on; `nil` if there is no such limit.
    var reliableUntil: POSIXTime? { attempt.judge?.reliableUntil }

    /// Whether the server has sent no data (session tickets do not count), has not closed, and is still trusted.
    func isReusable(at now: Timestamp) -> Bool {
        if let end = reliableUntil, now.seconds > end.seconds { return false }
        // Usually nothing has arrived.
        if isDrained, hasNoInput { return true }
        for _ in 0..<Self.ownRecordLimit {
            var byte: UInt8 = 0
            guard case .wouldBlock = withUnsafeMutableBytes(of: &byte, { receive(into: $0) }) else { return false }
            if hasNoInput { return true }
        }
        return false
    }

    private var hasNoInput: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, larder_msg_peek | larder_msg_dontwait) < 0 && errno == EAGAIN
    }

    /// How many records without application data may precede the end of the received bytes.
    private static let ownRecordLimit = 64

    /// Announces our end, and closes the descriptor, which no loop may watch any more.
    func close() {
        if isClosed { return }
        isClosed = true
        connector.release(attempt)
    }

    /// As `close`, without announcing the end.
    func closeSilently() {
        attempt.judge?.endSilently()
        close()
    }
}
