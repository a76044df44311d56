import HTTPMessage
public import ServerTrust
import UpstreamTransport

/// Timings and counts of a transfer.
public struct TransferMetrics: Sendable {
    /// One exchange with an origin.
    public struct Exchange: Sendable {
        /// The URI that was requested.
        public let uri: TargetURI
        /// `nil` if no response arrived.
        public let status: Int?
        /// Waiting for a turn and for a connection.
        public let queue: Duration
        /// Zero on a reused connection, as are the next two.
        public let nameLookUp: Duration
        /// Until the connection was established, without name lookup and TLS handshake.
        public let connect: Duration
        /// The TLS handshake.
        public let handshake: Duration
        /// From the connection to the first byte of the response.
        public let firstByte: Duration
        /// From the first byte to the last.
        public let body: Duration
        /// The whole exchange.
        public let total: Duration
        /// Whether the connection was reused.
        public let isConnectionReused: Bool
        /// Whether the transport found a pooled connection dead and sent the request again on another one.
        public let isSentTwice: Bool
        /// As text; `nil` if no connection was made.
        public var remoteAddress: String? { address?.description }
        fileprivate let address: IPAddress?
        /// Bytes on the wire, including heads and framing.
        public let octetsSent: UInt64
        /// As `octetsSent`, for the response.
        public let octetsReceived: UInt64
        /// The verdict that accepted the server, made when its connection was opened; `nil` without TLS, and if no connection
        /// was made. Its `reported` is the failure of pins that are only reported.
        public let trust: TrustVerdict?
    }

    /// The exchanges for redirects, retries and answered challenges, in order.
    public internal(set) var exchanges: [Exchange] = []
    /// From the call to its end, including waits between tries.
    public internal(set) var total: Duration = .zero

    /// How many redirects were followed.
    public internal(set) var redirectCount = 0
    /// How many retries were made.
    public internal(set) var retryCount = 0
}

extension TransferMetrics.Exchange {
    /// - Parameters:
    ///   - waited: before the request was passed to the transport, in microseconds.
    ///   - duration: from then to the end, in microseconds.
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
            isSentTwice: metrics.isRetried, address: metrics.remoteAddress, octetsSent: metrics.bytesSent,
            octetsReceived: metrics.bytesReceived, trust: trust)
    }
}
