/// The kind of a frame (RFC 6455 §5.2).
package enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Whether the frame is a control frame (RFC 6455 §5.5).
    package var isControl: Bool { rawValue & 0x8 != 0 }
}

/// Which side of a connection reads or writes. Only clients mask their frames (RFC 6455 §5.1).
package enum WebSocketRole: Sendable { case client, server }

/// A whole message (RFC 6455 §5.6).
package enum WebSocketMessage: Equatable, Sendable {
    /// The bytes are valid UTF-8.
    case text([UInt8])
    case binary([UInt8])

    package var bytes: [UInt8] {
        switch self {
        case .text(let bytes), .binary(let bytes): bytes
        }
    }
}

/// The content of a Close frame (RFC 6455 §5.5.1).
package struct WebSocketClosing: Equatable, Sendable {
    package let code: UInt16
    /// The bytes are valid UTF-8, at most 123 bytes.
    package let reason: [UInt8]

    package init(code: UInt16, reason: [UInt8] = []) {
        self.code = code
        self.reason = reason
    }

    /// The maximum length of the reason in bytes: a control frame has at most 125 bytes, and the code takes two.
    package static let reasonLimit = 123

    /// Whether a Close frame may have this code (RFC 6455 §7.4). 1004, 1005, 1006 and 1015 are never sent. The codes up to 1014 are those
    /// that IANA has registered.
    package static func isPermitted(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

/// The head of a frame (RFC 6455 §5.2).
package struct WebSocketFrameHead: Equatable, Sendable {
    package var isFinal: Bool
    /// The bit RSV1: the message is compressed (RFC 7692 §6).
    package var isCompressed: Bool
    package var opcode: WebSocketOpcode
    package var maskingKey: UInt32?
    package var length: UInt64

    package init(
        isFinal: Bool = true, isCompressed: Bool = false, opcode: WebSocketOpcode, maskingKey: UInt32? = nil, length: UInt64
    ) {
        self.isFinal = isFinal
        self.isCompressed = isCompressed
        self.opcode = opcode
        self.maskingKey = maskingKey
        self.length = length
    }

    /// The maximum length of a frame's head in bytes.
    static let maximumLength = 14

    /// How many bytes the head has, from its first two bytes.
    static func length(of second: UInt8) -> Int {
        let lengthBytes = second & 0x7F == 126 ? 2 : second & 0x7F == 127 ? 8 : 0
        return 2 + lengthBytes + (second & 0x80 == 0 ? 0 : 4)
    }

    /// Appends the head to `output`.
    package func write(into output: inout [UInt8]) {
        output.append((isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue)
        let mask: UInt8 = maskingKey == nil ? 0 : 0x80
        switch length {
        case 0...125: output.append(mask | UInt8(length))
        case 126...0xFFFF:
            output.append(mask | 126)
            output.append(UInt8(length >> 8))
            output.append(UInt8(length & 0xFF))
        default:
            output.append(mask | 127)
            for shift in stride(from: UInt64(56), through: 0, by: -8) { output.append(UInt8(length >> shift & 0xFF)) }
        }
        guard let maskingKey else { return }
        for shift in stride(from: UInt32(24), through: 0, by: -8) { output.append(UInt8(maskingKey >> shift & 0xFF)) }
    }
}

/// Applies a masking key (RFC 6455 §5.3). Applying it twice gives the original bytes.
package enum WebSocketMask {
    /// - Parameters:
    ///   - bytes: the bytes from `start` on are changed.
    ///   - offset: the position of the first of these bytes in the frame's payload.
    package static func apply(_ key: UInt32, to bytes: inout [UInt8], from start: Int, at offset: UInt64 = 0) {
        // The key as it is in memory, beginning with the byte for `offset`, twice.
        let turn = UInt32(offset & 3) * 8
        let turned = turn == 0 ? key : key << turn | key >> (32 - turn)
        let word = UInt64(turned) << 32 | UInt64(turned)
        bytes.withUnsafeMutableBytes { buffer in
            var index = start
            while index + 8 <= buffer.count {
                let masked = buffer.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ word.bigEndian
                buffer.storeBytes(of: masked, toByteOffset: index, as: UInt64.self)
                index += 8
            }
            var shift: UInt64 = 56
            while index < buffer.count {
                buffer[index] ^= UInt8(truncatingIfNeeded: word >> shift)
                shift -= 8
                index += 1
            }
        }
    }
}
