public import ServerTrust

/// Hears what happens in a session. Called on the tasks and loops where it happens: what takes long is done elsewhere.
public protocol EventMonitor: Sendable {
    /// Something has happened.
    func sessionDid(_ event: SessionEvent)
}

/// Something that happened to a transfer.
public struct SessionEvent: Sendable {
    /// What it was.
    public enum Kind: Sendable {
        /// The first of each transfer.
        case began(HTTPMethod, TargetURI)
        /// An exchange has its turn.
        case exchangeBegan(TargetURI)
        /// The server has none of its pins, and the policy only reports that (`PinSet.Enforcement`). Sent before the response arrives,
        /// once for each exchange.
        case pinMismatchReported(TargetURI, TrustFailure)
        /// An exchange is over, with what it met.
        case exchangeEnded(TransferMetrics.Exchange)
        /// A redirect is followed.
        case redirected(status: Int, from: TargetURI, to: TargetURI)
        /// An origin or a proxy asks for credentials, and gets them in another exchange.
        case challengeAnswered(status: Int, scheme: String)
        /// The request is about to be sent again, after a failure with this code or a response.
        case retrying(tries: Int, after: Duration, SessionError.Code?)
        /// A response comes from the cache, or is kept there.
        case reused(TargetURI)
        /// A response was kept.
        case stored(TargetURI)
        /// The last of each transfer, and one for each.
        case completed(SessionError?, TransferMetrics)
    }

    /// `TransferSnapshot.number`.
    public let transfer: UInt64
    /// What it was.
    public let kind: Kind
}

/// Events as a sequence. Readers that are slow lose the oldest ones, and hold nobody up.
public final class EventStream: EventMonitor {
    /// To be read by one task.
    public let events: AsyncStream<SessionEvent>
    private let continuation: AsyncStream<SessionEvent>.Continuation

    /// - Parameter capacity: how many events wait at most.
    public init(capacity: Int = 1024) {
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(capacity))
    }

    public func sessionDid(_ event: SessionEvent) { continuation.yield(event) }

    /// Ends the sequence.
    public func finish() { continuation.finish() }
}
