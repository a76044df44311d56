import CCurl
import CLinux
import Glibc
internal import HTTPCaching
import HTTPMessage
import ServerTrust

/// The bytes inside a TLS connection whose server is believed. Confined to its loop.
///
/// It keeps libcurl's handle, which stays in the connector's multi: taken out of it, libcurl would end the connection. Nobody but
/// who reads to `wouldBlock` knows that nothing is left, since the loop does not see what OpenSSL holds.
final class UpstreamTLSChannel {
    enum Received {
        case bytes(Int), wouldBlock
        /// The server has said that it sends no more (close_notify).
        case ended
        /// Cut, or an error: what came may not be the whole (RFC 8446 §6.1).
        case failed
    }

    private let connector: Connector
    private let descriptor: Int32
    /// With its judge, whom OpenSSL may call for as long as there is a connection.
    private let attempt: CurlAttempt
    private var isClosed = false
    /// OpenSSL holds nothing: it was asked for more than the record had that it read last, and reads no further than a record.
    private var isDrained = false

    init(_ connector: Connector, _ attempt: CurlAttempt, descriptor: Int32) {
        self.descriptor = descriptor
        self.connector = connector
        self.attempt = attempt
    }

    /// What was found of the server.
    var verdict: TrustVerdict? { attempt.judge?.verdict }

    /// The verified chain; empty where it ends at no anchor, or nobody asked whether it is this host's.
    var judgedChain: [Certificate] { attempt.judge?.judgedChain ?? [] }

    deinit { assert(isClosed, "a channel must be closed by its owner") }

    /// Of the policy that accepted the server.
    var trustMark: UInt64 { attempt.judge?.mark ?? 0 }

    /// What the server was accepted by, to be kept with what comes of it; `nil` where it is too much.
    private(set) lazy var recordedChain = (attempt.judge?.evidence).flatMap { RecordedChain($0.record) }

    /// - Parameter bytes: not empty. What is sent after `wouldBlock` begins with the same.
    func send(_ bytes: Span<UInt8>) -> UpstreamConnection.SendOutcome {
        var count = 0
        let code = bytes.withUnsafeBytes { curl_easy_send(attempt.easy, $0.baseAddress, $0.count, &count) }
        switch code {
        case CURLE_OK: return .bytes(count)
        case CURLE_AGAIN: return .wouldBlock
        default: return .failed
        }
    }

    /// A record is read whole, or as far as the buffer goes.
    static let recordLength = 16_384

    /// One record at most. `wouldBlock` also behind one that is TLS's own affair: what follows it stirs the loop again.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Received {
        var count = 0
        isDrained = false
        switch curl_easy_recv(attempt.easy, buffer.baseAddress, buffer.count, &count) {
        case CURLE_OK where count > 0:
            isDrained = count < buffer.count
            return .bytes(count)
        // libcurl takes an end that nobody announced for one that somebody did.
        case CURLE_OK: return attempt.judge?.hasServerEnded == true ? .ended : .failed
        case CURLE_AGAIN: return attempt.judge?.isFlooded == true ? .failed : .wouldBlock
        default: return .failed
        }
    }

    /// Reads until there is something, or certainly nothing: for who is told of what comes by edges.
    func receiveAll(into buffer: UnsafeMutableRawBufferPointer) -> Received {
        for _ in 0..<Self.ownRecordLimit {
            let received = receive(into: buffer)
            guard case .wouldBlock = received, !hasNoInput else { return received }
        }
        return .failed
    }

    /// What tells the server that no more is sent, to be put on the socket behind all that was. It may still be read.
    func endRecords() -> [UInt8] { attempt.judge?.endRecords() ?? [] }

    /// Why the server has ended the connection, where it said so: in TLS 1.3 it judges our part of the handshake behind its end.
    var refusal: TransportError? { attempt.judge.flatMap(TransportError.init(alertTo:)) }

    /// The last moment for which the verdict on the server can be relied upon; `nil` where no such moment is to come.
    var reliableUntil: POSIXTime? { attempt.judge?.reliableUntil }

    /// Whether the server has sent nothing for us (tickets of sessions are not), has not ended, and is still believed.
    func isReusable(at now: Timestamp) -> Bool {
        if let end = reliableUntil, now.seconds > end.seconds { return false }
        // Most often nothing has come.
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

    /// So many records of TLS's own affairs may stand before the end of what has come.
    private static let ownRecordLimit = 64

    /// Says that no more is sent, and closes the descriptor, which nobody may watch any more.
    func close() {
        if isClosed { return }
        isClosed = true
        connector.release(attempt)
    }

    /// As `close`, without a word.
    func closeSilently() {
        attempt.judge?.endSilently()
        close()
    }
}
