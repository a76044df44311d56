internal import WebSocketWire

/// A WebSocket connection to a server (RFC 6455): a sequence of the server's messages, and methods that send.
///
///     let socket = try await session.webSocket("wss://api.example/feed")
///     try await socket.send("subscribe")
///     for try await message in socket { … }
///
/// The sequence ends when the server closes the connection with a Close frame, which `closing` then has. It throws if the connection is
/// lost, if the server violates the protocol or a limit, and if the transfer is cancelled. Only one task may read. Messages can be sent
/// from any task; messages that are sent at the same time are not mixed.
///
/// The server is read no faster than the task reads: with `WebSocketOptions.Limits.unreadLength` bytes unread, the session stops
/// reading. It answers pings by itself, unless it has stopped reading. Releasing the last reference closes the connection.
public final class WebSocket: Sendable {
    /// The subprotocol that the server has chosen from `WebSocketOptions.subprotocols`; `nil` if it chose none.
    public let subprotocol: String?
    /// Whether messages may be compressed in both directions (RFC 7692).
    public let isCompressed: Bool
    /// The URI that the connection was opened with, after all redirects. Its scheme is http or https.
    public let uri: TargetURI
    /// The fields of the server's response.
    public let fields: SessionFields

    private let channel: WebSocketChannel
    private let sender: WebSocketSender
    /// Keeps alive the threads that carry the messages.
    private let session: HTTPSession

    init(_ opened: WebSocketOpening.Opened, _ arrived: TransferTask.OpenResponse, _ session: HTTPSession) {
        subprotocol = opened.subprotocol
        isCompressed = opened.compression != nil
        uri = arrived.uri
        fields = arrived.fields
        channel = opened.channel
        sender = WebSocketSender(opened.channel, opened.compression, fragmentLength: opened.fragmentLength)
        self.session = session
    }

    deinit { channel.close(.goingAway, "") }

    // MARK: Sending

    /// Sends a message, and returns when the kernel has all of its bytes.
    /// - Parameters:
    ///   - message: the message.
    ///   - compresses: `false` sends the message without compression. Do so for a message with a secret beside text that another person
    ///     has chosen, because its compressed length would show whether they are alike.
    /// - Throws: `websocket_closed` once the connection is closed or closing; `cancelled` if the task is cancelled, after which the
    ///   message may still be sent.
    public func send(_ message: Message, compresses: Bool = true) async throws(SessionError) {
        try await sender.send(message.onWire, compresses: compresses)
    }

    /// Sends a text message.
    public func send(_ text: String) async throws(SessionError) { try await send(.text(text)) }

    /// Sends a ping, and waits for the pong.
    /// - Throws: as `send`.
    public func ping() async throws(SessionError) { try await channel.ping() }

    /// Closes the connection: sends a Close frame, and waits for the server's. After `WebSocketOptions.closeTimeout` it waits no longer.
    ///
    /// Messages that arrive after this call are not delivered. A second call only waits.
    /// - Parameters:
    ///   - code: why the connection ends (RFC 6455 §7.4).
    ///   - reason: for the server's log; after 123 bytes it is cut off.
    /// - Returns: the server's Close frame; `nil` if there was none.
    @discardableResult
    public func close(_ code: CloseCode = .normal, reason: String = "") async -> Closing? {
        channel.close(code, reason)
        await channel.end()
        return closing
    }

    /// The server's Close frame; `nil` as long as there is none.
    public var closing: Closing? { channel.closing }
}

extension WebSocket: AsyncSequence {
    public typealias Element = Message
    public typealias Failure = SessionError

    /// Returns the server's messages in order.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let socket: WebSocket

        /// The next message; `nil` once the server has closed the connection. Cancelling the task throws `cancelled`, and no message is
        /// lost: the next call returns it.
        public mutating func next() async throws(SessionError) -> Message? { try await socket.channel.next() }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(socket: self) }
}

extension WebSocket {
    /// A message (RFC 6455 §5.6).
    public enum Message: Equatable, Sendable {
        /// Text, as UTF-8.
        case text(String)
        /// Bytes.
        case binary([UInt8])

        var onWire: WebSocketMessage {
            switch self {
            case .text(let text): .text(Array(text.utf8))
            case .binary(let bytes): .binary(bytes)
            }
        }

        init(_ message: WebSocketMessage) {
            switch message {
            case .text(let bytes): self = .text(String(decoding: bytes, as: UTF8.self))
            case .binary(let bytes): self = .binary(bytes)
            }
        }
    }

    /// The content of a Close frame (RFC 6455 §5.5.1).
    public struct Closing: Equatable, Sendable {
        /// Why the server closes the connection; `noStatus` if the frame has no code.
        public let code: CloseCode
        /// A text for logs; may be empty.
        public let reason: String

        init(_ closing: WebSocketClosing?) {
            code = CloseCode(unchecked: closing?.code ?? 1005)
            reason = String(decoding: closing?.reason ?? [], as: UTF8.self)
        }
    }

    /// Why a connection is closed (RFC 6455 §7.4.1).
    public struct CloseCode: Hashable, Sendable {
        /// The code as a number.
        public let rawValue: UInt16

        /// A code that a Close frame may have: 1000 to 1003, 1007 to 1014, and 3000 to 4999 for libraries and applications.
        /// - Returns: `nil` for any other number.
        public init?(_ rawValue: UInt16) {
            guard WebSocketClosing.isPermitted(rawValue) else { return nil }
            self.rawValue = rawValue
        }

        init(unchecked rawValue: UInt16) { self.rawValue = rawValue }

        /// 1000: the purpose of the connection is fulfilled.
        public static let normal = CloseCode(unchecked: 1000)
        /// 1001: the server goes down, or the client has left.
        public static let goingAway = CloseCode(unchecked: 1001)
        /// 1002: the peer violated the protocol.
        public static let protocolError = CloseCode(unchecked: 1002)
        /// 1003: the kind of a message is not accepted.
        public static let unsupportedData = CloseCode(unchecked: 1003)
        /// 1005, in a `Closing` only: the Close frame has no code.
        public static let noStatus = CloseCode(unchecked: 1005)
        /// 1007: the content of a message does not fit its kind, such as text that is not UTF-8.
        public static let invalidPayload = CloseCode(unchecked: 1007)
        /// 1008: a message violates a policy.
        public static let policyViolation = CloseCode(unchecked: 1008)
        /// 1009: a message is too long.
        public static let messageTooBig = CloseCode(unchecked: 1009)
        /// 1011: the server cannot fulfil the request.
        public static let internalError = CloseCode(unchecked: 1011)
    }
}

extension WebSocket {
    var unreadLength: Int { channel.unreadLength }

    /// Ends the transfer when the connection ends; cancelling the transfer ends the connection.
    func observe(by scope: TransferScope) {
        let channel = channel
        scope.transfer.enter(.receiving)
        if !scope.transfer.arm({ channel.cancel(.cancelled) }) { channel.cancel(.cancelled) }
        channel.whenOver { scope.end($0) }
    }
}
