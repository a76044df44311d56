/// Limits for what a peer sends. A value above a limit ends the connection.
package struct WebSocketLimits: Equatable, Sendable {
    /// Maximum length of a frame's payload in bytes, as received.
    package var frameLength: UInt64 = 16 << 20
    /// Maximum length of a message in bytes, after it is decompressed.
    package var messageLength = 16 << 20
    /// Maximum number of frames in one message. Without this limit, a peer could send empty frames for ever.
    package var frameCount = 1 << 16
    /// Maximum ratio of a message's length to its compressed length. It applies to messages longer than `ratioFloor`.
    package var ratio = 256
    /// Up to this length in bytes, a message may have any ratio.
    package var ratioFloor = 1 << 20

    package init() {}
}
