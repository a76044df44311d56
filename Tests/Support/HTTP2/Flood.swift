/// Frames of one kind, of which a connection permits a number in 10 s (docs/http2.md).
package struct Flood: Sendable, CustomStringConvertible {
    package let description: String
    /// How many of them a connection permits, besides those of the settings exchange.
    package let limit: Int
    /// Whether the recipient ends a stream because of each, by a reset or a response.
    package let endsStreams: Bool
    /// Sent before.
    package let before: [Frame]
    /// The frames that count once.
    private let frames: @Sendable (UInt32) -> [Frame]

    /// As many as three limits permit.
    package var excessive: [[Frame]] { (1...UInt32(3 * limit)).map(frames) }

    /// As many as the limit.
    package var permitted: [[Frame]] { (1...UInt32(limit)).map(frames) }

    private init(
        _ description: String, limit: Int, before: [Frame], endsStreams: Bool = false,
        _ frames: @escaping @Sendable (UInt32) -> [Frame]
    ) {
        self.description = description
        self.limit = limit
        self.endsStreams = endsStreams
        self.before = before
        self.frames = frames
    }

    /// Kinds of frames that both sides can send.
    /// - Parameter lastStream: of the peer's requests, in GOAWAY.
    private static func ofBothSides(before: [Frame], lastStream: UInt32) -> [Flood] {
        [
            Flood("SETTINGS (CVE-2019-9515)", limit: 18, before: before) { _ in [.settings()] },
            Flood("PING (CVE-2019-9512)", limit: 50, before: before) { _ in [.ping()] },
            Flood("empty DATA (CVE-2019-9518)", limit: 100, before: before) { _ in [.data(1)] },
            Flood("DATA of padding alone", limit: 100, before: before) { _ in
                [Frame(type: 0, flags: Frame.padded, stream: 1, payload: [2, 0, 0])]
            },
            Flood("PRIORITY (CVE-2019-9513)", limit: 500, before: before) { _ in [.priority(1)] },
            Flood("frames of an unknown type", limit: 500, before: before) { _ in [Frame(type: 0x77)] },
            Flood("WINDOW_UPDATE", limit: 1000, before: before) { _ in [.windowUpdate(0, 1)] },
            Flood("GOAWAY", limit: 500, before: before) { _ in [.goAway(last: lastStream)] },
        ]
    }

    private static let request = Frame.headers(1, FieldBlock.post, end: false)

    /// Streams that follow the open one.
    private static func opened(_ number: UInt32, end: Bool = true) -> Frame {
        .headers(number * 2 + 1, end ? FieldBlock.get : FieldBlock.post, end: end)
    }

    /// What clients send.
    package static let ofClients: [Flood] =
        ofBothSides(before: [request], lastStream: 0) + [
            Flood("RST_STREAM (CVE-2023-44487)", limit: 200, before: []) { [opened($0), .reset($0 * 2 + 1)] },
            Flood("streams that the proxy resets for their windows (CVE-2025-8671)", limit: 200, before: [], endsStreams: true) {
                [opened($0, end: false), .windowUpdate($0 * 2 + 1, 0x7FFF_FFFF)]
            },
            Flood(
                "streams that the proxy resets for their trailers (CVE-2025-8671)", limit: 200, before: [], endsStreams: true
            ) {
                [opened($0, end: false), .headers($0 * 2 + 1, [("a", "b")], end: false)]
            },
            Flood("heads that are small only while compressed, which get 431", limit: 100, before: [], endsStreams: true) {
                [.headers($0 * 2 + 1, block: FieldBlock.bomb(after: FieldBlock.get), flags: Frame.endHeaders | Frame.endStream)]
            },
            Flood("PRIORITY_UPDATE", limit: 500, before: [request]) { _ in [.priorityUpdate(1, "u=1")] },
            Flood("CONTINUATION (CVE-2024-27316)", limit: 8, before: [.headers(1, block: [], flags: 0)]) { _ in
                [.continuation(1, block: FieldBlock.literal([("a", String(repeating: "b", count: 10_000))]))]
            },
        ]

    /// What origins send after the beginning of a response.
    package static let ofOrigins: [Flood] =
        ofBothSides(before: [.headers(1, FieldBlock.ok, end: false)], lastStream: 0x7FFF_FFFF) + [
            Flood("RST_STREAM", limit: 200, before: [.headers(1, FieldBlock.ok, end: false)]) { _ in [.reset(1)] },
            Flood("CONTINUATION (CVE-2024-27316)", limit: 8, before: [.headers(1, block: [], flags: 0)]) { _ in
                [.continuation(1, block: FieldBlock.literal([("a", String(repeating: "b", count: 10_000))]))]
            },
        ]
}

extension FieldBlock {
    /// 40 MB of fields in 14 kB: references to one large entry of the dynamic table (RFC 7541 §7.3).
    package static func bomb(after fields: [(String, String)]) -> [UInt8] {
        literal(fields) + [0x40] + text(Array("a".utf8)) + text(Array(repeating: 98, count: 4000))
            + Array(repeating: 0xBE, count: 10_000)
    }
}

extension Frame {
    /// A head with 70,000 bytes in this many fields, which is above the limit for heads.
    package static func longHead(_ stream: UInt32, _ fields: [(String, String)], fieldCount: Int = 2) -> [Frame] {
        let long = (0..<fieldCount).map { ("a\($0)", String(repeating: "b", count: 70_000 / fieldCount)) }
        let block = FieldBlock.literal(fields + long)
        let pieces = stride(from: 0, to: block.count, by: 16_384).map { Array(block[$0..<min($0 + 16_384, block.count)]) }
        return pieces.enumerated().map { index, piece in
            let end = index == pieces.count - 1 ? endHeaders : 0
            return index == 0
                ? headers(stream, block: piece, flags: endStream | end) : continuation(stream, block: piece, flags: end)
        }
    }
}
