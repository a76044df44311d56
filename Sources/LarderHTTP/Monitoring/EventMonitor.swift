public import ServerTrust

/// Receives the events of a session. Each call is made on the task or loop of the event, so it must return quickly.
public protocol EventMonitor: Sendable {
    /// An event has happened.
    func sessionDid(_ event: SessionEvent)
}

/// An event of a transfer.
public struct SessionEvent: Sendable {
    /// The kind of event.
    public enum Kind: Sendable {
        /// The first event of each transfer.
        case began(HTTPMethod, TargetURI)
        /// An exchange begins, because the limits on exchanges in flight allow it now.
        case exchangeBegan(TargetURI)
        /// The server's keys match none of its pins, and the policy only reports that (`PinSet.Enforcement`). Sent before the
        /// response arrives, once for each exchange.
        case pinMismatchReported(TargetURI, TrustFailure)
        /// An exchange has ended, with its timings and counts.
        case exchangeEnded(TransferMetrics.Exchange)
        /// A redirect is followed.
        case redirected(status: Int, from: TargetURI, to: TargetURI)
        /// An origin or a proxy requested credentials; the session sends them in another exchange.
        case challengeAnswered(status: Int, scheme: String)
        /// The request is about to be sent again after this wait: because of a failure with this code, or because of a response (`nil`).
        case retrying(tries: Int, after: Duration, SessionError.Code?)
        /// A stored response is served.
        case reused(TargetURI)
        /// A response was stored.
        case stored(TargetURI)
        /// The last event of each transfer, exactly once.
        case completed(SessionError?, TransferMetrics)
    }

    /// The number of the transfer (`TransferSnapshot.number`).
    public let transfer: UInt64
    /// The kind of event.
    public let kind: Kind
}

/// Events as a sequence. A slow reader loses the oldest events, and does not delay transfers.
public final class EventStream: EventMonitor {
    /// The events; only one task may read them.
    public let events: AsyncStream<SessionEvent>
    private let continuation: AsyncStream<SessionEvent>.Continuation

    /// - Parameter capacity: how many events are buffered at most.
    public init(capacity: Int = 1024) {
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(capacity))
    }

    public func sessionDid(_ event: SessionEvent) { continuation.yield(event) }

    /// Ends the sequence.
    public func finish() { continuation.finish() }
}
