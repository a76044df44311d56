import HTTP2Wire

/// RFC 9113 §3 to §5.
extension ConformanceCase {
    static let connections: [ConformanceCase] = [
        ConformanceCase(
            section: "3.4", sentence: "A client's preface and SETTINGS begin a connection", start: .server,
            bytes: Frame.preface + Frame.settings().bytes, expected: .accepted, heads: 0),
        ConformanceCase(
            section: "3.4", sentence: "A preface with another byte is a connection error", start: .server,
            bytes: Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r!".utf8), expected: .connectionError(.protocolError), heads: 0),
        ConformanceCase(
            section: "3.4", sentence: "A request of HTTP/1.1 is a connection error", start: .server,
            bytes: Array("GET / HTTP/1.1\r\n\r\n".utf8), expected: .connectionError(.protocolError), heads: 0),
        ConformanceCase(
            section: "3.4", sentence: "A client's preface without SETTINGS is a connection error", start: .server,
            bytes: Frame.preface + Frame.headers(1, FieldBlock.get).bytes, expected: .connectionError(.protocolError), heads: 0),
        ConformanceCase(
            section: "3.4", sentence: "A server whose first frame is not SETTINGS fails", start: .client,
            bytes: Frame.ping().bytes, expected: .connectionError(.protocolError), heads: 0),
        ConformanceCase(
            section: "3.4", sentence: "A server's first SETTINGS frame can be empty", start: .client,
            bytes: Frame.settings().bytes,
            expected: .accepted, heads: 0),
        ConformanceCase(
            section: "3.4", sentence: "A server's first SETTINGS frame cannot be an acknowledgement", start: .client,
            bytes: Frame.settingsAcknowledgement.bytes, expected: .connectionError(.protocolError), heads: 0),
    ]

    static let frames: [ConformanceCase] = [
        server(
            "4.1", "A frame of an unknown type is ignored",
            [Frame(type: 0x20, stream: 1, payload: [1, 2, 3]), .headers(1, FieldBlock.get)], .accepted, heads: 1),
        server(
            "4.1", "A frame of an unknown type on the connection is ignored",
            [Frame(type: 0xFF, flags: 0xFF, payload: []), .headers(1, FieldBlock.get)], .accepted, heads: 1),
        server(
            "4.1", "Flags without a meaning are ignored",
            [.headers(1, FieldBlock.get, flags: 0xD2 & ~Frame.padded & ~Frame.priority)], .accepted, heads: 1),
        server("4.1", "Flags of PING without a meaning are ignored", [.ping(flags: 0xFE)], .accepted),
        server(
            "4.1", "The reserved bit of the stream identifier is ignored", [.headers(0x8000_0001, FieldBlock.get)], .accepted,
            heads: 1),
        server(
            "4.2", "A DATA frame of 16,384 bytes is accepted",
            [.headers(1, FieldBlock.post, end: false), .data(1, count: 16_384)], .accepted),
        server(
            "4.2", "A DATA frame of 16,385 bytes is a frame size error",
            [.headers(1, FieldBlock.post, end: false), .data(1, count: 16_385)], .connectionError(.frameSizeError)),
        server(
            "4.2", "A HEADERS frame above the size limit is a connection error",
            [.headers(1, FieldBlock.get + [("a", String(repeating: "a", count: 16_384))])], .connectionError(.frameSizeError),
            heads: 0),
        server(
            "4.2", "A frame of an unknown type above the size limit is a connection error",
            [Frame(type: 0x20, payload: Array(repeating: 0, count: 16_385))], .connectionError(.frameSizeError)),
        server(
            "4.2", "A HEADERS frame too small for its padding length is a connection error",
            [Frame(type: 1, flags: Frame.padded | Frame.endHeaders, stream: 1)], .connectionError(.frameSizeError), heads: 0),
        server(
            "4.2", "A HEADERS frame too small for its priority is a connection error",
            [Frame(type: 1, flags: Frame.priority | Frame.endHeaders, stream: 1, payload: [0, 0])],
            .connectionError(.frameSizeError), heads: 0),
        server(
            "4.2", "A DATA frame too small for its padding length is an error",
            [.headers(1, FieldBlock.post, end: false), Frame(type: 0, flags: Frame.padded, stream: 1)],
            .connectionError(.frameSizeError)),
        server(
            "4.3", "A frame of another stream inside a field block is a connection error",
            [
                .headers(1, block: FieldBlock.literal(FieldBlock.get), flags: 0), .headers(3, FieldBlock.get),
            ], .connectionError(.protocolError), heads: 0),
        server(
            "4.3", "PING inside a field block is a connection error",
            [.headers(1, block: FieldBlock.literal(FieldBlock.get), flags: 0), .ping()], .connectionError(.protocolError),
            heads: 0),
        server(
            "4.3", "A frame of an unknown type inside a field block is a connection error",
            [.headers(1, block: FieldBlock.literal(FieldBlock.get), flags: 0), Frame(type: 0x20)],
            .connectionError(.protocolError), heads: 0),
        block("4.3", "A field block that cannot be decoded is a connection error", [0x80], .connectionError(.compressionError)),
    ]

    static let streams: [ConformanceCase] = [
        server("5.1", "DATA on an idle stream is a connection error", [.data(1, "a")], .connectionError(.protocolError)),
        server("5.1", "RST_STREAM on an idle stream is a connection error", [.reset(1)], .connectionError(.protocolError)),
        server(
            "5.1", "WINDOW_UPDATE on an idle stream is a connection error", [.windowUpdate(1, 1)],
            .connectionError(.protocolError)),
        server(
            "5.1", "CONTINUATION on an idle stream is a connection error", [.continuation(1, flags: Frame.endHeaders)],
            .connectionError(.protocolError)),
        server(
            "5.1", "PRIORITY on an idle stream is accepted", [.priority(1), .headers(1, FieldBlock.get)], .accepted, heads: 1),
        server(
            "5.1", "DATA after END_STREAM is an error of type STREAM_CLOSED",
            [.headers(1, FieldBlock.get), .data(1, "a", flags: Frame.endStream)], .connectionError(.streamClosed), heads: 1),
        server(
            "5.1", "HEADERS after END_STREAM is an error of type STREAM_CLOSED",
            [.headers(1, FieldBlock.get), .headers(1, FieldBlock.get)], .connectionError(.streamClosed), heads: 1),
        server(
            "5.1", "WINDOW_UPDATE after END_STREAM is accepted", [.headers(1, FieldBlock.get), .windowUpdate(1, 1)], .accepted,
            heads: 1),
        server("5.1", "PRIORITY after END_STREAM is accepted", [.headers(1, FieldBlock.get), .priority(1)], .accepted, heads: 1),
        server(
            "5.1", "RST_STREAM after END_STREAM is accepted", [.headers(1, FieldBlock.get), .reset(1)], .accepted, heads: 1),
        server(
            "5.1", "PRIORITY on a closed stream is accepted", [.headers(1, FieldBlock.get), .reset(1), .priority(1)], .accepted),
        server(
            "5.1", "WINDOW_UPDATE on a closed stream is accepted",
            [.headers(1, FieldBlock.get), .reset(1), .windowUpdate(1, 1)], .accepted),
        server(
            "5.1", "A second RST_STREAM is accepted", [.headers(1, FieldBlock.get), .reset(1), .reset(1)], .accepted, heads: 1),
        server(
            "5.1", "DATA on a stream that the client has reset is an error of type STREAM_CLOSED",
            [.headers(1, FieldBlock.post, end: false), .reset(1), .data(1, "a")], .connectionError(.streamClosed), heads: 1),
        server(
            "5.1", "HEADERS on a stream that the client has reset is an error of type STREAM_CLOSED",
            [.headers(1, FieldBlock.post, end: false), .reset(1), .headers(1, FieldBlock.get)],
            .connectionError(.streamClosed), heads: 1),
        server(
            "5.1.1", "A request on an even stream is a connection error", [.headers(2, FieldBlock.get)],
            .connectionError(.protocolError), heads: 0),
        // A later stream has closed the stream implicitly. RFC 9113 wants a connection error, but names no code for a closed stream here.
        server(
            "5.1.1", "A request below an earlier stream is a connection error",
            [.headers(5, FieldBlock.get), .headers(3, FieldBlock.get)], .connectionError(.streamClosed), heads: 1),
        server(
            "5.1.1", "Stream identifiers can be skipped", [.headers(1, FieldBlock.get), .headers(99, FieldBlock.get)], .accepted,
            heads: 2),
        client(
            "5.1.1", "A response on a stream without a request is a connection error", [.headers(3, FieldBlock.ok)],
            .connectionError(.protocolError), heads: 0),
        client(
            "5.1.1", "HEADERS on a stream of the server is a connection error", [.headers(2, FieldBlock.ok)],
            .connectionError(.protocolError), heads: 0),
        server(
            "5.1.2", "A request above the concurrency limit is an error",
            (0...100).map { .headers(UInt32($0) * 2 + 1, FieldBlock.get) }, .connectionError(.protocolError), heads: 100),
        server(
            "5.1.2", "As many requests as the concurrency limit are accepted",
            (0..<100).map { .headers(UInt32($0) * 2 + 1, FieldBlock.get) }, .accepted, heads: 100),
        server(
            "5.3.2", "The priority of HEADERS is ignored",
            [
                .headers(
                    1, block: [0, 0, 0, 0, 16] + FieldBlock.literal(FieldBlock.get),
                    flags: Frame.priority | Frame.endHeaders | Frame.endStream)
            ],
            .accepted, heads: 1),
        server(
            "5.4.1", "Frames after a connection error have no effect", [.ping("1"), .headers(1, FieldBlock.get)],
            .connectionError(.frameSizeError), heads: 0),
        server(
            "5.4.2", "RST_STREAM is not answered with RST_STREAM", [.headers(1, FieldBlock.get), .reset(1, 0x99)], .accepted,
            heads: 1),
        server(
            "5.5", "An unknown frame type on a closed stream is ignored",
            [.headers(1, FieldBlock.get), .reset(1), Frame(type: 0x55, stream: 1, payload: [1])], .accepted, heads: 1),
    ]
}
