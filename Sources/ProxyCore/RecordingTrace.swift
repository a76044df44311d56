/// How recordings were involved in an exchange.
package enum RecordingTrace: Equatable, Sendable {
    /// The response came from a recording.
    /// - Parameter layer: the index of the replayed recording.
    case replayed(layer: UInt8)
    /// No recording matched.
    case missed
    /// The exchange was recorded.
    /// - Parameter isContentHeld: whether the request's content was held whole before it was forwarded; otherwise only its digest is
    ///   recorded.
    case recorded(isContentHeld: Bool)
}
