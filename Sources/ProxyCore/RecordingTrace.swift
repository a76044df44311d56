/// What recordings had to do with an exchange.
package enum RecordingTrace: Equatable, Sendable {
    /// One of them was the answer.
    /// - Parameter layer: in which of those that are replayed it stands.
    case replayed(layer: UInt8)
    /// None of them was.
    case missed
    /// The exchange became one.
    /// - Parameter isContentHeld: the request's content was held whole before it went out; else its digest alone is recorded.
    case recorded(isContentHeld: Bool)
}
