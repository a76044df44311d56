internal import HTTPCaching
import HTTPMessage
import ServerTrust

/// Carries an exchange to its server. It is a connection that only this exchange uses (HTTP/1.1), or a stream of a connection that
/// exchanges share (HTTP/2). Confined to its loop.
protocol RequestCarrier: AnyObject {
    /// The HTTP version in which the request is sent.
    var version: HTTPVersion { get }
    var remoteAddress: IPAddress? { get }
    /// The mark of the policy that accepted the server; 0 without TLS.
    var trustMark: UInt64 { get }
    /// The server's certificate chain with its other evidence, as it is recorded; `nil` without TLS.
    var recordedChain: RecordedChain? { get }
    var verdict: TrustVerdict? { get }
    var judgedChain: [Certificate] { get }
    /// Whether the connection has carried an exchange before.
    var hasCarried: Bool { get }
    /// Why the server closed the connection, if it sent an alert.
    var refusal: TransportError? { get }

    /// Starts waiting for the response to the exchange's request.
    func begin(_ exchange: UpstreamExchange)

    /// Sends a part of the request, in the format of HTTP/1.1: the head, whole, then the content in the framing of the request.
    func send(_ bytes: Span<UInt8>) -> SendOutcome

    /// Whether the carrier calls `flush` of the exchange when more can be sent.
    func setWriting(_ isWriting: Bool)

    func setPaused(_ paused: Bool)

    /// Ends the exchange's use of the connection before the response is complete. The exchange is not notified.
    func close()
}

enum SendOutcome {
    /// This many bytes, at least one, were accepted.
    case bytes(Int)
    case wouldBlock, failed
}
