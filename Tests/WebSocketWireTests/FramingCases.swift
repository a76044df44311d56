@testable import WebSocketWire

/// Cases from RFC 6455 §5: frames, masks, fragments and control frames.
enum FramingCases {
    private static let hello = Array("Hello".utf8)
    private static let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
    private static let many = [UInt8](repeating: 7, count: 125)

    static let all = examples + heads + masks + fragments + controls + limits

    static let examples: [ReadCase] = [
        .reads("5.7.1", "a text in one frame", hex("81 05 48 65 6c 6c 6f"), [text("Hello")]),
        .reads("5.7.2", "a masked text", hex("81 85 37 fa 21 3d 7f 9f 4d 51 58"), [text("Hello")], role: .server),
        .reads("5.7.3", "a text in two frames", hex("01 03 48 65 6c 80 02 6c 6f"), [text("Hello")]),
        .reads("5.7.4", "a ping with a body", hex("89 05 48 65 6c 6c 6f"), [.ping(hello)]),
        .reads("5.7.5", "a masked pong", hex("8a 85 37 fa 21 3d 7f 9f 4d 51 58"), [.pong(hello)], role: .server),
        .reads("5.7.6", "256 bytes", hex("82 7E 01 00") + pattern(256), [binary(pattern(256))]),
        .reads("5.7.7", "64 KiB", hex("82 7F 00 00 00 00 00 01 00 00") + pattern(65_536), [binary(pattern(65_536))]),
    ]

    static func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) } }

    static let heads: [ReadCase] =
        [
            .reads("5.2.1", "no bytes", [], []),
            .reads("5.2.2", "an empty text", hex("81 00"), [text("")]),
            .reads("5.2.3", "an empty binary message", hex("82 00"), [binary([])]),
            .reads("5.2.4", "125 bytes, with the short length", frame(2, many), [binary(many)]),
            .reads("5.2.5", "126 bytes, with two bytes of length", frame(2, pattern(126)), [binary(pattern(126))]),
            .reads("5.2.6", "65,535 bytes", frame(2, pattern(65_535)), [binary(pattern(65_535))]),
            .reads(
                "5.2.7", "several messages", frame(1, hello) + frame(2, [1]) + frame(1), [text("Hello"), binary([1]), text("")]),
            .reads("5.2.8", "half a head", [0x82], []),
            .reads("5.2.9", "half a length", hex("82 7E 01"), []),
            .reads("5.2.10", "half a payload", frame(2, hello).dropLast(), []),
            .rejects("5.2.11", "RSV1 without an extension", frame(1, hello, reserved: 4), .reservedBit),
            .rejects("5.2.12", "RSV2", frame(1, hello, reserved: 2), .reservedBit),
            .rejects("5.2.13", "RSV3", frame(1, hello, reserved: 1), .reservedBit),
            .rejects("5.2.14", "all reserved bits, in a ping", frame(9, [], reserved: 7), .reservedBit),
            .rejects("5.2.15", "RSV1 in a Close frame", frame(8, [], reserved: 4), .reservedBit),
            .rejects(
                "5.2.16", "a reserved bit after a message", frame(1, hello) + frame(1, reserved: 1), .reservedBit,
                after: [text("Hello")]),
            .rejects("5.2.17", "125 bytes with two bytes of length", hex("82 7E 00 7D") + many, .malformedLength),
            .rejects("5.2.18", "no bytes with two bytes of length", hex("82 7E 00 00"), .malformedLength),
            .rejects("5.2.19", "65,535 bytes with eight bytes of length", hex("82 7F 00 00 00 00 00 00 FF FF"), .malformedLength),
            .rejects("5.2.20", "a length with the first bit", hex("82 7F 80 00 00 00 00 00 00 00"), .malformedLength),
        ]
        + (3...7).map { opcode in
            .rejects("5.2.\(18 + opcode)", "the reserved opcode \(opcode)", frame(UInt8(opcode), hello), .reservedOpcode)
        }
        + (11...15).map { opcode in
            .rejects("5.2.\(15 + opcode)", "the reserved control opcode \(opcode)", frame(UInt8(opcode)), .reservedOpcode)
        }

    static let masks: [ReadCase] = [
        .rejects("5.1.1", "a masked frame of a server", frame(1, hello, key: key), .wrongMask),
        .rejects("5.1.2", "a frame of a client without a mask", frame(1, hello), .wrongMask, role: .server),
        .rejects("5.1.3", "a masked ping of a server", frame(9, [], key: key), .wrongMask),
        .rejects("5.1.4", "a Close frame of a client without a mask", frame(8), .wrongMask, role: .server),
        .reads("5.3.1", "the key 0", frame(2, hello, key: [0, 0, 0, 0]), [binary(hello)], role: .server),
        .reads("5.3.2", "an empty masked frame", frame(2, [], key: key), [binary([])], role: .server),
        .reads("5.3.3", "1 byte", frame(2, [9], key: key), [binary([9])], role: .server),
        .reads("5.3.4", "1,001 bytes", frame(2, pattern(1001), key: key), [binary(pattern(1001))], role: .server),
        .reads(
            "5.3.5", "another key in each fragment",
            frame(2, pattern(13), isFinal: false, key: key) + frame(0, [1, 2, 3], key: [9, 8, 7, 6]),
            [binary(pattern(13) + [1, 2, 3])], role: .server),
    ]

    static let fragments: [ReadCase] = [
        .reads(
            "5.4.1", "three fragments", frame(1, [65], isFinal: false) + frame(0, [66], isFinal: false) + frame(0, [67]),
            [text("ABC")]),
        .reads("5.4.2", "empty fragments", frame(1, isFinal: false) + frame(0, isFinal: false) + frame(0), [text("")]),
        .reads(
            "5.4.3", "a ping between fragments", frame(2, [1], isFinal: false) + frame(9, [5]) + frame(0, [2]),
            [.ping([5]), binary([1, 2])]),
        .reads(
            "5.4.4", "a pong between fragments", frame(1, [65], isFinal: false) + frame(10) + frame(0, [66]),
            [.pong([]), text("AB")]),
        .reads(
            "5.4.5", "two messages in fragments",
            frame(1, [65], isFinal: false) + frame(0, [66]) + frame(2, [1], isFinal: false) + frame(0, [2]),
            [text("AB"), binary([1, 2])]),
        .reads("5.4.6", "a Close frame between fragments", frame(1, [65], isFinal: false) + frame(8), [.close(nil)]),
        .reads("5.4.7", "a message that does not end", frame(1, [65], isFinal: false), []),
        .rejects("5.4.8", "a continuation of nothing", frame(0, hello), .unexpectedContinuation),
        .rejects("5.4.9", "a continuation of nothing, not final", frame(0, hello, isFinal: false), .unexpectedContinuation),
        .rejects(
            "5.4.10", "a continuation after a message", frame(1, hello) + frame(0, [65]), .unexpectedContinuation,
            after: [text("Hello")]),
        .rejects("5.4.11", "a text within a text", frame(1, [65], isFinal: false) + frame(1, [66]), .interruptedMessage),
        .rejects(
            "5.4.12", "a binary message within a text", frame(1, [65], isFinal: false) + frame(2, [66]), .interruptedMessage),
        .rejects(
            "5.4.13", "a text after a ping within a message", frame(2, [1], isFinal: false) + frame(9) + frame(1),
            .interruptedMessage,
            after: [.ping([])]),
        .rejects("5.4.14", "RSV1 in a continuation", frame(1, [65], isFinal: false) + frame(0, [66], reserved: 4), .reservedBit),
    ]

    static let controls: [ReadCase] = [
        .reads("5.5.1", "an empty ping", frame(9), [.ping([])]),
        .reads("5.5.2", "a ping of 125 bytes", frame(9, many), [.ping(many)]),
        .reads("5.5.3", "a pong without a ping", frame(10, hello), [.pong(hello)]),
        .reads("5.5.4", "a ping that is not text", frame(9, [0xFF, 0xFE]), [.ping([0xFF, 0xFE])]),
        .reads("5.5.5", "ten pings", (0..<10).flatMap { frame(9, [$0]) }, (0..<10).map { .ping([$0]) }),
        .rejects("5.5.6", "a ping of 126 bytes", frame(9, pattern(126)), .longControl),
        .rejects("5.5.7", "a pong with eight bytes of length", hex("8A 7F"), .longControl),
        .rejects("5.5.8", "a Close frame of 126 bytes", frame(8, [3, 232] + pattern(124)), .longControl),
        .rejects("5.5.9", "a fragmented ping", frame(9, isFinal: false), .fragmentedControl),
        .rejects("5.5.10", "a fragmented pong", frame(10, isFinal: false), .fragmentedControl),
        .rejects("5.5.11", "a fragmented Close frame", frame(8, isFinal: false), .fragmentedControl),
        .reads("5.5.12", "an empty Close frame", frame(8), [.close(nil)]),
        .reads("5.5.13", "bytes after a Close frame", frame(8) + frame(1, hello) + [0xFF, 0xFF], [.close(nil)]),
        .reads("5.5.14", "a message and a Close frame", frame(1, hello) + frame(8), [text("Hello"), .close(nil)]),
    ]

    private static func limited(_ change: (inout WebSocketLimits) -> Void) -> WebSocketLimits {
        var limits = WebSocketLimits()
        change(&limits)
        return limits
    }
    private static let short = limited { $0.messageLength = 10 }
    private static let shortFrames = limited { $0.frameLength = 10 }
    private static let few = limited { $0.frameCount = 3 }

    static let limits: [ReadCase] = [
        .reads("10.4.1", "a message at the limit", frame(2, pattern(10)), [binary(pattern(10))], limits: short),
        .rejects("10.4.2", "a message above the limit, at its head", hex("82 0B"), .messageTooLong, limits: short),
        .reads(
            "10.4.3", "fragments at the limit", frame(2, pattern(9), isFinal: false) + frame(0, [1]), [binary(pattern(9) + [1])],
            limits: short),
        .rejects(
            "10.4.4", "fragments above the limit", frame(2, pattern(9), isFinal: false) + frame(0, [1, 2]), .messageTooLong,
            limits: short),
        .reads("10.4.5", "a frame at the limit", frame(2, pattern(10)), [binary(pattern(10))], limits: shortFrames),
        .rejects("10.4.6", "a frame above the limit, at its head", hex("82 0B"), .frameTooLong, limits: shortFrames),
        .rejects("10.4.7", "the longest frame", hex("82 7F 7F FF FF FF FF FF FF FF"), .frameTooLong),
        .reads("10.4.8", "a ping above the limits for messages", frame(9, pattern(20)), [.ping(pattern(20))], limits: short),
        .reads(
            "10.4.9", "as many frames as the limit", frame(2, isFinal: false) + frame(0, isFinal: false) + frame(0), [binary([])],
            limits: few),
        .rejects(
            "10.4.10", "more frames than the limit",
            frame(2, isFinal: false) + frame(0, isFinal: false) + frame(0, isFinal: false) + frame(0),
            .tooManyFrames, limits: few),
        .reads(
            "10.4.11", "the count begins again", frame(2) + frame(2) + frame(2) + frame(2),
            [binary([]), binary([]), binary([]), binary([])], limits: few),
    ]
}
