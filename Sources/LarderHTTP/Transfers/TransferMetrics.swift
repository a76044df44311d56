import HTTPMessage
public import ServerTrust
import UpstreamTransport

/// Timings and counts of a transfer.
public struct TransferMetrics: Sendable {
    /// One exchange with an origin.
    public struct Exchange: Sendable {
        /// The URI that was requested.
        public let uri: TargetURI
        /// The status of the response; `nil` if no response arrived.
        public let status: Int?
        /// The wait until the exchange could begin and had a connection.
        public let queue: Duration
        /// The duration of the name lookup; zero on a reused connection.
        public let nameLookUp: Duration
        /// The time to establish the connection, without name lookup and TLS handshake; zero on a reused connection.
        public let connect: Duration
        /// The duration of the TLS handshake; zero on a reused connection.
        public let handshake: Duration
        /// The time from the connection to the first byte of the response.
        public let firstByte: Duration
        /// The time from the first byte of the response to the last.
        public let body: Duration
        /// The duration of the whole exchange.
        public let total: Duration
        /// Whether the connection was reused.
        public let isConnectionReused: Bool
        /// The version in which the request was sent, such as `HTTP/2` or `HTTP/1.1`; `nil` if no connection was made.
        public let version: String?
        /// Whether the transport found a pooled connection dead and sent the request again on a new one.
        public let isSentTwice: Bool
        /// The remote address as text; `nil` if no connection was made.
        public var remoteAddress: String? { address?.description }
        fileprivate let address: IPAddress?
        /// Bytes of the request on the wire, including heads and framing.
        public let octetsSent: UInt64
        /// Bytes of the response on the wire, including heads and framing.
        public let octetsReceived: UInt64
        /// The verdict that accepted the server, made when its connection was opened; `nil` without TLS, and if no connection
        /// was made. Its property `reported` is a failed pin check that the policy only reports.
        public let trust: TrustVerdict?
    }

    /// The exchanges for redirects, retries and answered challenges, in order.
    public internal(set) var exchanges: [Exchange] = []
    /// The time from the call to its end, including waits between tries.
    public internal(set) var total: Duration = .zero

    /// How many redirects were followed.
    public internal(set) var redirectCount = 0
    /// How many retries were made.
    public internal(set) var retryCount = 0
}

extension TransferMetrics.Exchange {
    /// - Parameters:
    ///   - waited: the time before the request was passed to the transport, in microseconds.
    ///   - duration: the time from then to the end, in microseconds.
    init(uri: TargetURI, status: Int?, waited: Int, duration: Int, _ metrics: ExchangeMetrics, trust: TrustVerdict?) {
        let connecting = metrics.lookUpTime + metrics.handshakeTime
        let before = metrics.queueTime + metrics.connectTime
        let firstByte = max(0, metrics.firstByteTime - before)
        self.init(
            uri: uri, status: status, queue: .microseconds(counted: waited + metrics.queueTime),
            nameLookUp: .microseconds(counted: metrics.lookUpTime),
            connect: .microseconds(counted: max(0, metrics.connectTime - connecting)),
            handshake: .microseconds(counted: metrics.handshakeTime), firstByte: .microseconds(counted: firstByte),
            body: .microseconds(counted: metrics.firstByteTime > 0 ? max(0, duration - before - firstByte) : 0),
            total: .microseconds(counted: waited + duration), isConnectionReused: metrics.isConnectionReused,
            version: metrics.remoteAddress == nil ? nil : metrics.version == .http2 ? "HTTP/2" : "HTTP/1.1",
            isSentTwice: metrics.isRetried, address: metrics.remoteAddress, octetsSent: metrics.bytesSent,
            octetsReceived: metrics.bytesReceived, trust: trust)
    }
}
