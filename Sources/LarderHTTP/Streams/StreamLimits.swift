/// Limits for bodies that are read piece by piece. A longer piece fails with `body_too_large`.
public struct StreamLimits: Equatable, Sendable {
    /// Maximum length of a line in bytes, without its end.
    public var lineLength = 1 << 20
    /// Maximum length of an element of a JSON array in bytes.
    public var elementLength = 16 << 20
    /// Maximum length of an event in bytes: its type, its ID and its data.
    public var eventLength = 1 << 20

    /// The default limits.
    public init() {}
}

extension SessionError {
    init(_ fault: StreamFault) {
        switch fault {
        case .tooLong(let limit): self.init(.bodyTooLarge, "a piece of the body has more than \(limit) bytes")
        case .malformedArray(let offset): self.init(.malformedJSON, "the body is not a JSON array (offset \(offset))")
        }
    }
}
