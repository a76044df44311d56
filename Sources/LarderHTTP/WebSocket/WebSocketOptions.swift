internal import WebSocketWire

/// How a WebSocket is opened and used.
public struct WebSocketOptions: Equatable, Sendable {
    /// The application's protocols, best first (RFC 6455 §1.9): tokens, each at most once. The server chooses one, or none.
    public var subprotocols: [String] = []
    /// What is offered for the compression of messages (RFC 7692); `nil`: nothing. The server may refuse it.
    public var compression: Compression? = Compression()
    /// Limits for what the server sends.
    public var limits = Limits()
    /// A longer message is sent in frames of this many bytes.
    public var fragmentLength = Int.max
    /// How often the session sends a ping. If nothing arrives from the server until the next ping is due, the connection fails with
    /// `timeout`. Zero: never.
    public var pingInterval: Duration = .zero
    /// How long closing waits for the server: for its Close frame, and then for the end of the connection.
    public var closeTimeout: Duration = .seconds(10)

    /// The default options.
    public init() {}

    /// The parameters of `permessage-deflate` (RFC 7692 §7.1).
    public struct Compression: Equatable, Sendable {
        /// Whether our messages are compressed with the earlier ones as context: better compression for about 256 KiB of memory.
        public var clientKeepsContext = true
        /// Whether the server may do so, for about 40 KiB of memory here.
        public var serverKeepsContext = true
        /// The size of our window as a power of two: 9 to 15.
        public var clientWindowBits = 15
        /// The size of the server's window as a power of two: 8 to 15.
        public var serverWindowBits = 15

        /// Both sides keep their context, in windows of 32 KiB.
        public init() {}

        var offer: DeflateOffer {
            var offer = DeflateOffer()
            offer.clientKeepsContext = clientKeepsContext
            offer.serverKeepsContext = serverKeepsContext
            offer.clientWindowBits = min(max(clientWindowBits, 9), 15)
            offer.serverWindowBits = min(max(serverWindowBits, 8), 15)
            return offer
        }
    }

    /// Limits for what the server sends. A value above a limit closes the connection with the code 1009, and reading throws
    /// `body_too_large`. The exception is `unreadLength`, which only stops reading.
    public struct Limits: Equatable, Sendable {
        /// Maximum length of a message in bytes, after it is decompressed.
        public var messageLength = 16 << 20
        /// Maximum length of one frame in bytes, as received.
        public var frameLength = 16 << 20
        /// Maximum number of frames in one message.
        public var framesPerMessage = 1 << 16
        /// Maximum ratio of a message's length to its compressed length. It applies to messages of more than 1 MiB.
        public var compressionRatio = 256
        /// Reading from the server stops when this many bytes of messages are unread. One more message may exceed the limit.
        public var unreadLength = 1 << 20

        /// The default limits.
        public init() {}

        var onWire: WebSocketLimits {
            var limits = WebSocketLimits()
            limits.messageLength = max(0, messageLength)
            limits.frameLength = UInt64(max(0, frameLength))
            limits.frameCount = framesPerMessage
            limits.ratio = max(1, compressionRatio)
            return limits
        }
    }
}
