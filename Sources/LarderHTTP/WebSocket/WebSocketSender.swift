internal import WebSocketWire

/// Compresses, frames and posts the messages of one WebSocket, one after another. An actor, because compressing a long message takes too
/// long to hold a lock, and the frames must leave in the order in which they were compressed.
actor WebSocketSender {
    private let channel: WebSocketChannel
    private let writer: WebSocketWriter

    init(_ channel: WebSocketChannel, _ compression: DeflateParameters?, fragmentLength: Int) {
        self.channel = channel
        writer = WebSocketWriter(.client, compression: compression, fragmentLength: fragmentLength) {
            // The system's generator, which cannot be predicted (RFC 6455 §10.3).
            UInt32.random(in: .min ... .max)
        }
    }

    nonisolated func send(_ message: WebSocketMessage, compresses: Bool) async throws(SessionError) {
        try await channel.awaitSending(await post(message, compresses))
    }

    /// - Returns: the wakeup that is sent when the message is sent; `nil` if the connection is closed.
    private func post(_ message: WebSocketMessage, _ compresses: Bool) -> Wakeup<WebSocketChannel.Sent>? {
        guard channel.isOpen else { return nil }
        var frames: [UInt8] = []
        writer.write(message, compresses: compresses, into: &frames)
        return channel.post(frames)
    }
}
