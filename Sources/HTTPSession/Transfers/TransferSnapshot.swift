/// A transfer as it was at a moment.
public struct TransferSnapshot: Sendable {
    /// How far a transfer is.
    public enum Phase: String, Sendable {
        /// For its turn, for another try, or for the caller's own code.
        case waiting
        /// A request is on its way, and no response is there.
        case sending
        /// The body comes.
        case receiving
        case ended
    }

    /// Unique in its session.
    public let number: UInt64
    /// Of the request as it was given.
    public internal(set) var method = HTTPMethod.get
    /// The one that is asked at present; `nil` before it begins.
    public internal(set) var uri: TargetURI?
    /// How far it is.
    public internal(set) var phase = Phase.waiting
    /// Its place among those that wait.
    public internal(set) var priority = HTTPRequest.Priority.normal
    /// Whether it is stopped.
    public internal(set) var isSuspended = false
    /// Its bytes.
    public internal(set) var progress = TransferProgress()

    init(number: UInt64) { self.number = number }
}
