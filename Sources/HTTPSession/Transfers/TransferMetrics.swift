import HTTPMessage
public import ServerTrust
import UpstreamTransport

/// What a transfer met on its way.
public struct TransferMetrics: Sendable {
    /// One exchange with an origin.
    public struct Exchange: Sendable {
        /// What was asked for.
        public let uri: TargetURI
        /// `nil` where no response came.
        public let status: Int?
        /// Waiting for a turn and for a connection.
        public let queue: Duration
        /// Zero on a connection that was used before, as the next two.
        public let nameLookUp: Duration
        /// Until the connection stood, without the name and the handshake.
        public let connect: Duration
        /// Of TLS.
        public let handshake: Duration
        /// From the connection to the first byte of the response.
        public let firstByte: Duration
        /// From the first byte to the last.
        public let body: Duration
        /// All of it.
        public let total: Duration
        /// The connection was there before.
        public let isConnectionReused: Bool
        /// The transport found a pooled connection dead and sent the request on another.
        public let isSentTwice: Bool
        /// As text; `nil` where nothing was connected to.
        public var remoteAddress: String? { address?.description }
        fileprivate let address: IPAddress?
        /// Bytes on the wire, heads and framing included.
        public let octetsSent: UInt64
        /// As `octetsSent`, of the response.
        public let octetsReceived: UInt64
        /// The verdict that let the server be used, made when its connection was opened; `nil` without TLS, and where no connection was
        /// made. `reported` in it holds the failure of pins that are only reported.
        public let trust: TrustVerdict?
    }

    /// Redirects, tries and answered challenges, in their order.
    public internal(set) var exchanges: [Exchange] = []
    /// From the call to its end, waits between tries included.
    public internal(set) var total: Duration = .zero

    /// Redirects that were followed.
    public internal(set) var redirectCount = 0
    /// Tries after the first.
    public internal(set) var retryCount = 0
}

extension TransferMetrics.Exchange {
    /// - Parameters:
    ///   - waited: before the transport was asked, in microseconds.
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
