import HTTPMessage

/// Writes frames (RFC 6455 §5). Confined to its owner.
package final class WebSocketWriter {
    private let role: WebSocketRole
    private let deflater: MessageDeflater?
    private let fragmentLength: Int
    private let makeKey: () -> UInt32

    /// - Parameters:
    ///   - role: our own side.
    ///   - compression: the negotiated parameters; `nil` without compression.
    ///   - fragmentLength: a longer payload is sent in several frames.
    ///   - makeKey: returns an unpredictable masking key (RFC 6455 §5.3, §10.3). Only called for a client.
    package init(
        _ role: WebSocketRole, compression: DeflateParameters? = nil, fragmentLength: Int = .max, makeKey: @escaping () -> UInt32
    ) {
        self.role = role
        self.fragmentLength = max(1, fragmentLength)
        self.makeKey = makeKey
        deflater = compression.flatMap {
            role == .client
                ? MessageDeflater(windowBits: $0.clientWindowBits, keepsContext: $0.clientKeepsContext)
                : MessageDeflater(windowBits: $0.serverWindowBits, keepsContext: $0.serverKeepsContext)
        }
    }

    /// Appends the frames of a message.
    /// - Parameter compresses: whether the message may be compressed, if compression was negotiated.
    package func write(_ message: WebSocketMessage, compresses: Bool = true, into output: inout [UInt8]) {
        var opcode: WebSocketOpcode
        switch message {
        case .text: opcode = .text
        case .binary: opcode = .binary
        }
        let deflater = compresses ? deflater : nil
        let payload = deflater?.deflated(message.bytes.span) ?? message.bytes
        var isCompressed = deflater != nil
        var offset = 0
        repeat {
            let end = payload.count - offset > fragmentLength ? offset + fragmentLength : payload.count
            let head = WebSocketFrameHead(
                isFinal: end == payload.count, isCompressed: isCompressed, opcode: opcode,
                maskingKey: role == .client ? makeKey() : nil, length: UInt64(end - offset))
            Self.write(head, payload.span.extracting(offset..<end), into: &output)
            (opcode, isCompressed) = (.continuation, false)
            offset = end
        } while offset < payload.count
    }

    /// Appends a control frame.
    /// - Parameters:
    ///   - payload: at most 125 bytes.
    ///   - key: the masking key of a client.
    package static func write(
        _ opcode: WebSocketOpcode, _ payload: [UInt8] = [], maskingKey key: UInt32?, into output: inout [UInt8]
    ) {
        precondition(opcode.isControl && payload.count <= 125, "a control frame has at most 125 bytes")
        write(WebSocketFrameHead(opcode: opcode, maskingKey: key, length: UInt64(payload.count)), payload.span, into: &output)
    }

    /// The payload of a Close frame.
    package static func payload(of closing: WebSocketClosing) -> [UInt8] {
        [UInt8(closing.code >> 8), UInt8(closing.code & 0xFF)] + closing.reason
    }

    /// Appends a frame with any head.
    package static func write(_ head: WebSocketFrameHead, _ payload: Span<UInt8>, into output: inout [UInt8]) {
        output.reserveCapacity(output.count + payload.count + WebSocketFrameHead.maximumLength)
        head.write(into: &output)
        let start = output.count
        output.append(payload)
        if let key = head.maskingKey { WebSocketMask.apply(key, to: &output, from: start) }
    }
}
