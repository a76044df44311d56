/// Why a peer's bytes are rejected. Each fault has the code with which the connection is closed (RFC 6455 §7.4.1).
package enum WebSocketFault: String, Error, Sendable, CaseIterable {
    /// A reserved bit is set that no negotiated extension uses (§5.2).
    case reservedBit = "reserved_bit"
    case reservedOpcode = "reserved_opcode"
    /// A control frame is fragmented (§5.5).
    case fragmentedControl = "fragmented_control_frame"
    /// A control frame has more than 125 bytes (§5.5).
    case longControl = "long_control_frame"
    /// The length is not written in as few bytes as possible, or its first bit is set (§5.2).
    case malformedLength = "malformed_length"
    /// A client's frame is not masked, or a server's frame is (§5.1).
    case wrongMask = "wrong_mask"
    /// A continuation frame without a message that it continues (§5.4).
    case unexpectedContinuation = "unexpected_continuation"
    /// A new message within a message (§5.4).
    case interruptedMessage = "interrupted_message"
    /// A Close frame with one byte, or with a code that is never sent (§7.4).
    case malformedClose = "malformed_close"
    /// Text, or the reason of a Close frame, is not UTF-8 (§8.1).
    case malformedText = "malformed_text"
    /// The compressed data is invalid (RFC 7692 §7.2.2).
    case malformedCompression = "malformed_compression"
    case frameTooLong = "frame_too_long"
    case messageTooLong = "message_too_long"
    case tooManyFrames = "too_many_frames"
    /// The message is much longer than its compressed form.
    case expandsTooMuch = "expands_too_much"

    /// The code of the Close frame that answers the fault.
    package var closeCode: UInt16 {
        switch self {
        case .reservedBit, .reservedOpcode, .fragmentedControl, .longControl, .malformedLength, .wrongMask,
            .unexpectedContinuation,
            .interruptedMessage, .malformedClose:
            1002
        case .malformedText, .malformedCompression: 1007
        case .frameTooLong, .messageTooLong, .tooManyFrames, .expandsTooMuch: 1009
        }
    }

    /// Whether the peer exceeded a limit, and did not violate the protocol.
    package var isLimit: Bool { closeCode == 1009 }
}
