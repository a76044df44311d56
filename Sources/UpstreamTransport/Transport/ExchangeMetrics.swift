import EventLoop
import HTTPMessage

/// Timings and counts of an exchange, for logs and traces. Times are in microseconds.
package struct ExchangeMetrics: Equatable, Sendable {
    /// The HTTP version in which the request was sent.
    package var version = HTTPVersion.http11
    package var isConnectionReused = false
    package var isRetried = false
    package var openedAt = MonotonicTime(nanoseconds: 0)
    /// Time spent waiting because limits were reached.
    package var queueTime = 0
    /// The time for name lookup and connecting; zero on a reused connection.
    package var connectTime = 0
    /// The parts of `connectTime` for the name lookup and the TLS handshake.
    package var lookUpTime = 0
    package var handshakeTime = 0
    /// The time from `open` to the response's first byte.
    package var firstByteTime = 0
    package var remoteAddress: IPAddress?
    /// The port of the upstream proxy, if there is one, otherwise the origin's port.
    package var remotePort: UInt16 = 0
    /// The position of the parent that the request was sent to; -1 without parents.
    package var parentMember = -1
    /// The mark of the trust policy that accepted the server (`TrustPolicy.mark`); 0 without TLS.
    package var trustMark: UInt64 = 0
    package var bytesReceived: UInt64 = 0
    package var bytesSent: UInt64 = 0

    package init() {}
}
