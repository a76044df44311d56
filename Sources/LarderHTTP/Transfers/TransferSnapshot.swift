/// The state of a transfer at one moment.
public struct TransferSnapshot: Sendable {
    /// The phase of a transfer.
    public enum Phase: String, Sendable {
        /// Waiting to begin, to retry, or for the caller's own code.
        case waiting
        /// A request is being sent, and no response has arrived.
        case sending
        /// The body is being received.
        case receiving
        case ended
    }

    /// The transfer's number, unique in its session.
    public let number: UInt64
    /// The method of the caller's request.
    public internal(set) var method = HTTPMethod.get
    /// The URI of the current request; `nil` before the transfer begins.
    public internal(set) var uri: TargetURI?
    /// The current phase.
    public internal(set) var phase = Phase.waiting
    /// The priority among waiting transfers.
    public internal(set) var priority = SessionRequest.Priority.normal
    /// Whether the transfer is suspended.
    public internal(set) var isSuspended = false
    /// The progress in bytes.
    public internal(set) var progress = TransferProgress()

    init(number: UInt64) { self.number = number }
}
