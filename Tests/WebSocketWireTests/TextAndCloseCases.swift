@testable import WebSocketWire

/// Cases from RFC 6455 §7.4 (codes of Close frames) and §8.1 (texts are UTF-8).
enum TextAndCloseCases {
    static let all = codes + reasons + valid + invalid + pieces

    private static func close(_ code: Int, _ reason: [UInt8] = []) -> [UInt8] {
        frame(8, [UInt8(code >> 8), UInt8(code & 0xFF)] + reason)
    }

    static let codes: [ReadCase] =
        [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999].map { code in
            .reads("7.4.1/\(code)", "a code that may be sent", close(code), [.close(WebSocketClosing(code: UInt16(code)))])
        }
        + [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535].map { code in
            .rejects("7.4.2/\(code)", "a code that is never sent", close(code), .malformedClose)
        }

    private static let longest = [UInt8](repeating: 0x78, count: 123)

    static let reasons: [ReadCase] = [
        .reads(
            "7.1.6.1", "a reason", close(1000, Array("bye".utf8)),
            [.close(WebSocketClosing(code: 1000, reason: Array("bye".utf8)))]),
        .reads("7.1.6.2", "the longest reason", close(1001, longest), [.close(WebSocketClosing(code: 1001, reason: longest))]),
        .rejects("7.1.6.3", "a reason that is not UTF-8", close(1000, [0xFF]), .malformedText),
        .rejects("7.1.6.4", "a reason that ends within a character", close(1000, [0xE2, 0x82]), .malformedText),
        .rejects("7.1.6.5", "one byte", frame(8, [3]), .malformedClose),
    ]

    static let valid: [ReadCase] = [
        ("ASCII", "48 65 6c 6c 6f"), ("a zero byte", "00"), ("two bytes", "c2 80 df bf"), ("three bytes", "e0 a0 80 ef bf bf"),
        ("before and after the surrogates", "ed 9f bf ee 80 80"), ("four bytes", "f0 90 80 80 f4 8f bf bf"),
        ("Greek", "ce ba e1 bd b9 cf 83"),
        ("a noncharacter", "ef bf be"), ("a byte order mark", "ef bb bf 41"), ("an emoji", "f0 9f 98 80"),
        ("U+D7FF", "ed 9f bf"), ("U+10000", "f0 90 80 80"),
    ].enumerated().map { index, item in
        .reads("8.1.\(index + 1)", item.0, frame(1, hex(item.1)), [.message(.text(hex(item.1)))])
    }

    static let invalid: [ReadCase] = [
        ("a continuation alone", "80"), ("two continuations", "bf bf"), ("a beginning alone", "c2"),
        ("a beginning before ASCII", "c2 41"),
        ("half of three bytes", "e2 82"), ("half of four bytes", "f0 9f 98"), ("overlong, two bytes", "c0 af"),
        ("overlong, C1", "c1 bf"),
        ("overlong, three bytes", "e0 80 af"), ("overlong, three bytes, the last", "e0 9f bf"),
        ("overlong, four bytes", "f0 80 80 af"),
        ("overlong, four bytes, the last", "f0 8f bf bf"), ("five bytes", "f8 88 80 80 80"), ("six bytes", "fc 84 80 80 80 80"),
        ("the first surrogate", "ed a0 80"), ("the last surrogate", "ed bf bf"), ("a pair of surrogates", "ed a1 81 ed b0 80"),
        ("above U+10FFFF", "f4 90 80 80"), ("F5", "f5 80 80 80"), ("FE", "fe"), ("FF", "ff"),
        ("ASCII within a character", "e2 41 82"),
        ("a good beginning, then FF", "ce ba ff 64"),
    ].enumerated().map { index, item in
        .rejects("8.1.\(index + 21)", item.0, frame(1, hex(item.1)), .malformedText)
    }

    static let pieces: [ReadCase] = [
        .reads(
            "8.1.51", "a character in two frames", frame(1, [0xE2, 0x82], isFinal: false) + frame(0, [0xAC]),
            [.message(.text([0xE2, 0x82, 0xAC]))]),
        .reads(
            "8.1.52", "a character in four frames",
            frame(1, [0xF0], isFinal: false) + frame(0, [0x9F], isFinal: false) + frame(0, [0x98], isFinal: false)
                + frame(0, [0x80]),
            [.message(.text([0xF0, 0x9F, 0x98, 0x80]))]),
        .rejects("8.1.53", "the fault is found before the message ends", frame(1, [0xC0], isFinal: false), .malformedText),
        .rejects(
            "8.1.54", "the fault is found before the frame ends", frame(1, [0x41, 0xFF, 0x41, 0x41]).dropLast(2), .malformedText),
        .rejects(
            "8.1.55", "a character that the last frame does not end", frame(1, [0xE2], isFinal: false) + frame(0, [0x82]),
            .malformedText),
        .reads("8.1.56", "bytes that are not UTF-8 in a binary message", frame(2, [0xFF, 0xC0]), [binary([0xFF, 0xC0])]),
    ]
}
