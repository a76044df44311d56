import HTTP2Wire

/// RFC 9113 §6.
extension ConformanceCase {
    private static let open = Frame.headers(1, FieldBlock.post, end: false)

    static let data: [ConformanceCase] = [
        server("6.1", "DATA on stream 0 is a connection error", [.data(0, "a")], .connectionError(.protocolError)),
        server(
            "6.1", "Padding as long as the payload is a connection error",
            [open, Frame(type: 0, flags: Frame.padded, stream: 1, payload: [4, 1, 2, 3])], .connectionError(.protocolError)),
        server(
            "6.1", "Padding that fills the payload is accepted",
            [open, Frame(type: 0, flags: Frame.padded, stream: 1, payload: [3, 0, 0, 0])], .accepted),
        server("6.1", "DATA without content is accepted", [open, .data(1)], .accepted),
        client(
            "6.1", "DATA on a stream before its response head is an error", [.data(1, "a")], .connectionError(.protocolError),
            heads: 0),
    ]

    static let headers: [ConformanceCase] = [
        server(
            "6.2", "HEADERS on stream 0 is a connection error", [.headers(0, FieldBlock.get)], .connectionError(.protocolError)),
        server(
            "6.2", "Padding as long as the payload is a connection error",
            [.headers(1, block: [4, 0, 0, 0], flags: Frame.padded | Frame.endHeaders)], .connectionError(.protocolError), heads: 0
        ),
        server(
            "6.2", "Padding and priority longer than the payload are a connection error",
            [.headers(1, block: [1, 0, 0, 0, 0, 16], flags: Frame.padded | Frame.priority | Frame.endHeaders)],
            .connectionError(.protocolError), heads: 0),
        server(
            "6.2", "Padding is not part of the field block",
            [
                .headers(
                    1, block: [2] + FieldBlock.literal(FieldBlock.get) + [0, 0],
                    flags: Frame.padded | Frame.endHeaders | Frame.endStream)
            ], .accepted, heads: 1),
        server(
            "6.2", "DATA inside a field block is a connection error",
            [.headers(1, block: FieldBlock.literal(FieldBlock.post), flags: 0), .data(1, "a")], .connectionError(.protocolError),
            heads: 0),
    ]

    static let priorityAndReset: [ConformanceCase] = [
        server("6.3", "PRIORITY on stream 0 is a connection error", [.priority(0)], .connectionError(.protocolError)),
        server(
            "6.3", "PRIORITY of 4 bytes is an error of type FRAME_SIZE_ERROR",
            [open, Frame(type: 2, stream: 1, payload: [0, 0, 0, 0])], .connectionError(.frameSizeError)),
        server("6.4", "RST_STREAM on stream 0 is a connection error", [.reset(0)], .connectionError(.protocolError)),
        server(
            "6.4", "RST_STREAM of 3 bytes is a connection error", [open, Frame(type: 3, stream: 1, payload: [0, 0, 0])],
            .connectionError(.frameSizeError)),
        server(
            "6.4", "RST_STREAM of 5 bytes is a connection error", [open, Frame(type: 3, stream: 1, payload: [0, 0, 0, 0, 0])],
            .connectionError(.frameSizeError)),
        client("6.4", "RST_STREAM on an idle stream is a connection error", [.reset(3)], .connectionError(.protocolError)),
        server("7", "An unknown error code has no special effect", [open, .reset(1, 0xFFFF_FFFF)], .accepted, heads: 1),
        server("7", "GOAWAY with an unknown error code has no special effect", [.goAway(last: 0, 0x1234)], .accepted),
    ]

    static let settings: [ConformanceCase] = [
        server(
            "6.5", "An acknowledgement with a payload is a connection error",
            [.settings([(id: 3, value: 1)], flags: Frame.acknowledgement)], .connectionError(.frameSizeError)),
        server(
            "6.5", "SETTINGS on a stream is a connection error", [Frame(type: 4, stream: 1)], .connectionError(.protocolError)),
        server(
            "6.5", "SETTINGS of 5 bytes is a connection error", [Frame(type: 4, payload: [0, 3, 0, 0, 0])],
            .connectionError(.frameSizeError)),
        server(
            "6.5", "SETTINGS of 7 bytes is a connection error", [Frame(type: 4, payload: [0, 3, 0, 0, 0, 1, 0])],
            .connectionError(.frameSizeError)),
        server("6.5.2", "ENABLE_PUSH of 0 is accepted", [.settings([(id: 2, value: 0)])], .accepted),
        server("6.5.2", "ENABLE_PUSH of 1 from a client is accepted", [.settings([(id: 2, value: 1)])], .accepted),
        server(
            "6.5.2", "ENABLE_PUSH of 2 is a connection error", [.settings([(id: 2, value: 2)])], .connectionError(.protocolError)),
        client(
            "6.5.2", "ENABLE_PUSH of 1 from a server is a connection error", [.settings([(id: 2, value: 1)])],
            .connectionError(.protocolError)),
        server(
            "6.5.2", "INITIAL_WINDOW_SIZE of 2^31-1 is accepted", [.settings([(id: 4, value: 0x7FFF_FFFF)])], .accepted),
        server(
            "6.5.2", "INITIAL_WINDOW_SIZE of 2^31 is a flow-control error", [.settings([(id: 4, value: 0x8000_0000)])],
            .connectionError(.flowControlError)),
        server("6.5.2", "MAX_FRAME_SIZE of 16,384 is accepted", [.settings([(id: 5, value: 16_384)])], .accepted),
        server(
            "6.5.2", "MAX_FRAME_SIZE of 16,383 is a connection error", [.settings([(id: 5, value: 16_383)])],
            .connectionError(.protocolError)),
        server("6.5.2", "MAX_FRAME_SIZE of 2^24-1 is accepted", [.settings([(id: 5, value: 0xFF_FFFF)])], .accepted),
        server(
            "6.5.2", "MAX_FRAME_SIZE of 2^24 is a connection error", [.settings([(id: 5, value: 0x100_0000)])],
            .connectionError(.protocolError)),
        server("6.5.2", "An unknown setting is ignored", [.settings([(id: 0xABCD, value: 7)])], .accepted),
        server("6.5.2", "HEADER_TABLE_SIZE of 0 is accepted", [.settings([(id: 1, value: 0)])], .accepted),
        server("6.5.2", "MAX_CONCURRENT_STREAMS of 0 is accepted", [.settings([(id: 3, value: 0)])], .accepted),
        server(
            "6.5.3", "The last of two values of one setting counts",
            [.settings([(id: 2, value: 1), (id: 2, value: 0)])], .accepted),
        client("RFC 8441 3", "ENABLE_CONNECT_PROTOCOL of 1 is accepted", [.settings([(id: 8, value: 1)])], .accepted),
        client(
            "RFC 8441 3", "ENABLE_CONNECT_PROTOCOL of 2 is a connection error", [.settings([(id: 8, value: 2)])],
            .connectionError(.protocolError)),
        client(
            "RFC 8441 3", "ENABLE_CONNECT_PROTOCOL cannot go back to 0",
            [.settings([(id: 8, value: 1)]), .settings([(id: 8, value: 0)])], .connectionError(.protocolError)),
        server(
            "RFC 9218 2.1", "NO_RFC7540_PRIORITIES of 2 is a connection error", [.settings([(id: 9, value: 2)])],
            .connectionError(.protocolError)),
    ]

    static let pushAndPing: [ConformanceCase] = [
        client(
            "6.6", "PUSH_PROMISE after ENABLE_PUSH of 0 is a connection error", [.pushPromise(1, promised: 2)],
            .connectionError(.protocolError)),
        client(
            "6.6", "PUSH_PROMISE on stream 0 is a connection error", [.pushPromise(0, promised: 2)],
            .connectionError(.protocolError)),
        server(
            "8.4", "PUSH_PROMISE of a client is a connection error", [open, .pushPromise(1, promised: 2)],
            .connectionError(.protocolError)),
        server("6.7", "PING is accepted", [.ping()], .accepted),
        server(
            "6.7", "An acknowledgement of a PING that was not sent is accepted", [.ping(flags: Frame.acknowledgement)], .accepted),
        server(
            "6.7", "PING on a stream is a connection error", [Frame(type: 6, stream: 1, payload: Array("12345678".utf8))],
            .connectionError(.protocolError)),
        server("6.7", "PING of 7 bytes is a connection error", [.ping("1234567")], .connectionError(.frameSizeError)),
        server("6.7", "PING of 9 bytes is a connection error", [.ping("123456789")], .connectionError(.frameSizeError)),
    ]

    static let goAwayAndWindows: [ConformanceCase] = [
        server(
            "6.8", "GOAWAY on a stream is a connection error", [Frame(type: 7, stream: 1, payload: [0, 0, 0, 0, 0, 0, 0, 0])],
            .connectionError(.protocolError)),
        server(
            "6.8", "GOAWAY of 7 bytes is a connection error", [Frame(type: 7, payload: [0, 0, 0, 0, 0, 0, 0])],
            .connectionError(.frameSizeError)),
        server(
            "6.8", "GOAWAY with debug data is accepted", [Frame(type: 7, payload: [0, 0, 0, 0, 0, 0, 0, 0, 65, 66])], .accepted),
        client(
            "6.8", "A GOAWAY with a higher last stream than before is an error",
            [.goAway(last: 1), .goAway(last: 3)], .connectionError(.protocolError)),
        client(
            "6.8", "A GOAWAY with a lower last stream than before is accepted", [.goAway(last: 0x7FFF_FFFF), .goAway(last: 1)],
            .accepted),
        server(
            "6.9", "An increment of 0 on the connection is a connection error", [.windowUpdate(0, 0)],
            .connectionError(.protocolError)),
        server(
            "6.9", "An increment of 0 on a stream is an error", [open, .windowUpdate(1, 0)], .connectionError(.protocolError)),
        server(
            "6.9", "WINDOW_UPDATE of 3 bytes is a connection error", [Frame(type: 8, payload: [0, 0, 1])],
            .connectionError(.frameSizeError)),
        server("6.9", "The reserved bit of the increment is ignored", [.windowUpdate(0, 0x8000_0001)], .accepted),
        server(
            "6.9.1", "A connection window above 2^31-1 ends the connection", [.windowUpdate(0, 0x7FFF_FFFF)],
            .connectionError(.flowControlError)),
        server(
            "6.9.1", "A stream window above 2^31-1 ends the stream", [open, .windowUpdate(1, 0x7FFF_FFFF)],
            .streamError(1, .flowControlError)),
        // RFC 9113 wants a connection error. libnghttp2 resets the streams whose windows are too large.
        server(
            "6.9.2", "A change of INITIAL_WINDOW_SIZE that makes a window too large ends the stream",
            [open, .windowUpdate(1, 0x7FFF_0000), .settings([(id: 4, value: 0x7FFF_FFFF)])], .streamError(1, .flowControlError)),
        server(
            "6.9.1", "Content beyond the stream window is a flow-control error",
            [open] + (0...16).map { _ in .data(1, count: 16_384) }, .streamError(1, .flowControlError)),
        server(
            "6.9.1", "Content that fills the stream window is accepted",
            [open] + (0..<16).map { _ in .data(1, count: 16_384) }, .accepted),
    ]

    static let continuations: [ConformanceCase] = [
        server(
            "6.10", "CONTINUATION ends the field block of HEADERS",
            [
                .headers(1, block: FieldBlock.literal(Array(FieldBlock.get[..<2])), flags: Frame.endStream),
                .continuation(1, block: FieldBlock.literal(Array(FieldBlock.get[2...])), flags: Frame.endHeaders),
            ], .accepted, heads: 1),
        server(
            "6.10", "CONTINUATION can be empty",
            [
                .headers(1, block: FieldBlock.literal(FieldBlock.get), flags: Frame.endStream), .continuation(1),
                .continuation(1, flags: Frame.endHeaders),
            ], .accepted, heads: 1),
        server(
            "6.10", "A field can be cut between frames",
            [
                .headers(1, block: Array(FieldBlock.literal(FieldBlock.get).prefix(5)), flags: Frame.endStream),
                .continuation(1, block: Array(FieldBlock.literal(FieldBlock.get).dropFirst(5)), flags: Frame.endHeaders),
            ], .accepted, heads: 1),
        server(
            "6.10", "CONTINUATION on stream 0 is a connection error", [.continuation(0, flags: Frame.endHeaders)],
            .connectionError(.protocolError)),
        server(
            "6.10", "CONTINUATION of another stream is a connection error",
            [
                .headers(1, block: FieldBlock.literal(FieldBlock.get), flags: Frame.endStream),
                .continuation(3, flags: Frame.endHeaders),
            ], .connectionError(.protocolError), heads: 0),
        server(
            "6.10", "CONTINUATION after END_HEADERS is a connection error",
            [open, .continuation(1, flags: Frame.endHeaders)], .connectionError(.protocolError)),
        server(
            "6.10", "CONTINUATION after DATA is a connection error",
            [open, .data(1, "a"), .continuation(1, flags: Frame.endHeaders)], .connectionError(.protocolError)),
    ]
}
