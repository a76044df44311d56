@testable import WebSocketWire

/// Cases from RFC 7692 §7: compressed messages. The bytes of 7.2.3 are the RFC's own examples.
enum CompressionCases {
    static let all = examples + rules + limits

    static let agreed = DeflateParameters()
    static let alone: DeflateParameters = {
        var parameters = DeflateParameters()
        parameters.serverKeepsContext = false
        parameters.clientKeepsContext = false
        return parameters
    }()
    private static func window(_ bits: Int) -> DeflateParameters {
        var parameters = DeflateParameters()
        parameters.serverWindowBits = bits
        parameters.clientWindowBits = bits
        return parameters
    }

    private static let hello = hex("f2 48 cd c9 c9 07 00")

    static let examples: [ReadCase] = [
        .reads("7692-7.2.3.1.1", "a compressed message", hex("c1 07 f2 48 cd c9 c9 07 00"), [text("Hello")], compression: agreed),
        .reads(
            "7692-7.2.3.1.2", "in two fragments", hex("41 03 f2 48 cd 80 04 c9 c9 07 00"), [text("Hello")], compression: agreed),
        .reads(
            "7692-7.2.3.2.1", "the context of the first message", hex("c1 07 f2 48 cd c9 c9 07 00 c1 05 f2 00 11 00 00"),
            [text("Hello"), text("Hello")], compression: agreed),
        .reads(
            "7692-7.2.3.3.1", "a block without compression", hex("c1 0b 00 05 00 fa ff 48 65 6c 6c 6f 00"), [text("Hello")],
            compression: agreed),
        .reads("7692-7.2.3.4.1", "a final block", hex("c1 08 f3 48 cd c9 c9 07 00 00"), [text("Hello")], compression: agreed),
        .reads(
            "7692-7.2.3.5.1", "two blocks", hex("c1 0d f2 48 05 00 00 00 ff ff ca c9 c9 07 00"), [text("Hello")],
            compression: agreed),
        .reads("7692-7.2.3.6.1", "an empty message", hex("c1 01 00"), [text("")], compression: agreed),
    ]

    static let rules: [ReadCase] = [
        .reads(
            "7692-6.1", "a message that is not compressed", frame(1, Array("Hello".utf8)), [text("Hello")], compression: agreed),
        .reads(
            "7692-6.2", "both kinds in turn", frame(1, hello, reserved: 4) + frame(1, [65]) + frame(1, hello, reserved: 4),
            [text("Hello"), text("A"), text("Hello")], compression: agreed),
        .rejects(
            "7692-6.3", "RSV1 in a continuation", frame(1, hello, isFinal: false, reserved: 4) + frame(0, [], reserved: 4),
            .reservedBit, compression: agreed),
        .rejects("7692-6.4", "RSV1 in a ping", frame(9, [], reserved: 4), .reservedBit, compression: agreed),
        .rejects("7692-6.5", "RSV1 in a pong", frame(10, [], reserved: 4), .reservedBit, compression: agreed),
        .rejects("7692-6.6", "RSV2", frame(1, hello, reserved: 6), .reservedBit, compression: agreed),
        .rejects("7692-6.7", "RSV1 without an agreement", frame(1, hello, reserved: 4), .reservedBit),
        .reads(
            "7692-6.8", "a ping within a compressed message",
            frame(1, Array(hello[..<3]), isFinal: false, reserved: 4) + frame(9, [1]) + frame(0, Array(hello[3...])),
            [.ping([1]), text("Hello")],
            compression: agreed),
        .reads("7692-6.9", "one byte in each fragment", fragments(hello), [text("Hello")], compression: agreed),
        .reads(
            "7692-6.10", "a masked message of a client", frame(2, hello, reserved: 4, key: [1, 2, 3, 4]),
            [binary(Array("Hello".utf8))], role: .server, compression: agreed),
        .rejects(
            "7692-7.1.1.1", "context although the server gave it up", hex("c1 07 f2 48 cd c9 c9 07 00 c1 05 f2 00 11 00 00"),
            .malformedCompression,
            after: [text("Hello")], compression: alone),
        .reads(
            "7692-7.1.1.2", "two messages without context", frame(1, hello, reserved: 4) + frame(1, hello, reserved: 4),
            [text("Hello"), text("Hello")],
            compression: alone),
        .reads(
            "7692-7.2.3.4.2", "context after a final block",
            frame(1, hex("f3 48 cd c9 c9 07 00 00"), reserved: 4) + frame(1, hex("f2 00 11 00 00"), reserved: 4),
            [text("Hello"), text("Hello")], compression: agreed),
        .reads("7692-7.2.2.1", "a window of 256 bytes", frame(1, hello, reserved: 4), [text("Hello")], compression: window(8)),
        .reads("7692-7.2.2.2", "a window of 1 KiB", frame(1, hello, reserved: 4), [text("Hello")], compression: window(10)),
        .rejects("7692-7.2.2.3", "no compressed data", frame(1, [], reserved: 4), .malformedCompression, compression: agreed),
        .rejects(
            "7692-7.2.2.4", "bytes that are not compressed", frame(1, Array("Hello".utf8), reserved: 4), .malformedCompression,
            compression: agreed),
        .rejects(
            "7692-7.2.2.5", "a reserved kind of block", frame(1, [0x07], reserved: 4), .malformedCompression, compression: agreed),
        .rejects(
            "7692-7.2.2.6", "half of the compressed data", frame(1, Array(hello[..<4]), reserved: 4), .malformedCompression,
            compression: agreed),
        .rejects(
            "7692-7.2.2.7", "a distance beyond the beginning", frame(1, hex("f2 00 11 00 00"), reserved: 4),
            .malformedCompression, compression: agreed),
        .rejects(
            "7692-7.2.2.8", "a stored block with a wrong length", frame(1, hex("00 05 00 00 00"), reserved: 4),
            .malformedCompression, compression: agreed),
        .rejects(
            "7692-7.2.2.9", "a text that is not UTF-8 when it is decompressed", frame(1, stored([0xFF]), reserved: 4),
            .malformedText, compression: agreed),
        .rejects(
            "7692-7.2.2.10", "a text that ends within a character", frame(1, stored([0xE2, 0x82]), reserved: 4), .malformedText,
            compression: agreed),
        .reads(
            "7692-7.2.2.11", "bytes that are not UTF-8 in a binary message", frame(2, stored([0xFF]), reserved: 4),
            [binary([0xFF])], compression: agreed),
        .reads(
            "7692-7.2.2.12", "a character in two frames",
            frame(1, Array(stored([0xC3, 0xA9])[..<6]), isFinal: false, reserved: 4)
                + frame(0, Array(stored([0xC3, 0xA9])[6...])), [text("é")],
            compression: agreed),
    ]

    /// A block without compression, and the beginning of the empty block that ends a message.
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        let count = UInt8(bytes.count)
        return [0, count, 0, ~count, 0xFF] + bytes + [0]
    }

    private static func fragments(_ bytes: [UInt8]) -> [UInt8] {
        bytes.indices.flatMap { index in
            frame(index == 0 ? 1 : 0, [bytes[index]], isFinal: index == bytes.count - 1, reserved: index == 0 ? 4 : 0)
        }
    }

    private static func limited(_ change: (inout WebSocketLimits) -> Void) -> WebSocketLimits {
        var limits = WebSocketLimits()
        change(&limits)
        return limits
    }

    /// Zero bytes, compressed by the module's own writer.
    private static func zeros(_ count: Int) -> [UInt8] {
        MessageDeflater(windowBits: 15, keepsContext: true)!.deflated([UInt8](repeating: 0, count: count).span)
    }

    static let limits: [ReadCase] = [
        .reads(
            "7692-8.1", "as long as the limit when it is decompressed", frame(1, hello, reserved: 4), [text("Hello")],
            compression: agreed,
            limits: limited { $0.messageLength = 5 }),
        .rejects(
            "7692-8.2", "longer than the limit when it is decompressed", frame(1, hello, reserved: 4), .messageTooLong,
            compression: agreed,
            limits: limited { $0.messageLength = 4 }),
        .rejects("7692-8.3", "16 MiB in 16 KiB", frame(2, zeros(1 << 24), reserved: 4), .expandsTooMuch, compression: agreed),
        .reads(
            "7692-8.4", "a high ratio below 1 MiB", frame(2, zeros(1 << 20), reserved: 4),
            [binary([UInt8](repeating: 0, count: 1 << 20))],
            compression: agreed),
        .reads(
            "7692-8.5", "a high ratio that the limit permits", frame(2, zeros(1 << 21), reserved: 4),
            [binary([UInt8](repeating: 0, count: 1 << 21))],
            compression: agreed, limits: limited { $0.ratio = 1100 }),
        .rejects(
            "7692-8.6", "a compressed frame above the limit", frame(1, hello, reserved: 4), .frameTooLong, compression: agreed,
            limits: limited { $0.frameLength = 6 }),
    ]
}
