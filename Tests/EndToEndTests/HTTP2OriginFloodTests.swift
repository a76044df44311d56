import EventLoop
import HTTP2Wire
import TestSupport
import Testing

@Suite("Floods in HTTP/2 from origins (RFC 9113 §10.5)")
struct HTTP2OriginFloodTests {
    /// The proxy's reactions, by host.
    private final class Reactions: Sendable {
        private let reactions = Guarded<[String: Reaction]>([:])

        func note(_ reaction: Reaction, _ host: String) { reactions.withLock { $0[host] = reaction } }

        subscript(host: String) -> Reaction? { reactions.withLock { $0[host] } }
    }

    private let reactions = Reactions()

    /// The origin sends these bytes after the first request.
    private func script(_ host: String, _ bytes: [UInt8]) -> HostileStage.Script {
        { [reactions] server, connection in
            server.begin(on: connection)
            guard server.readRequest(on: connection) != nil else { return false }
            let reaction = server.react(to: bytes, on: connection)
            reactions.note(reaction, host)
            return !server.hasEnded
        }
    }

    @Test("An origin that sends too many frames of a kind loses its connection, and another origin's exchange goes on")
    func ends() throws {
        let floods = Flood.ofOrigins.enumerated().map { (host: "f\($0).cases.test", flood: $1) }
        let stage = try HostileStage(
            Dictionary(
                uniqueKeysWithValues: floods.map {
                    ($0.host, script($0.host, ($0.flood.before + $0.flood.excessive.flatMap(\.self)).flatMap(\.bytes)))
                }))
        let other = try stage.client()
        for (host, flood) in floods {
            let response = try stage.fetch(host)
            #expect(response == nil || response?.status == 502 || response?.text == FrameServer.soundContent, "\(flood)")
            #expect(try stage.serves(other), "\(flood)")
            #expect(try stage.serves(other, host), "\(flood): the next connection")
            try eventually { reactions[host] != nil }
            #expect(reactions[host] == .connectionError(.enhanceYourCalm), "\(flood)")
            #expect(stage.connectionCount(host) == 2, "\(flood)")
        }
        #expect(stage.connectionCount(HostileStage.soundHost) == 1)
    }

    @Test("What an origin may not send ends its stream or its connection alone, and nothing of it is delivered as a response")
    func refuses() throws {
        let bomb = Frame.headers(1, block: FieldBlock.bomb(after: FieldBlock.ok), flags: Frame.endHeaders | Frame.endStream)
        let cases: [(host: String, frames: [Frame], expected: Reaction, isConnectionKept: Bool)] = [
            (
                "push.cases.test", Array(repeating: .pushPromise(1, promised: 2), count: 100), .connectionError(.protocolError),
                false
            ),
            ("long.cases.test", Frame.longHead(1, FieldBlock.ok), .accepted, true),
            // libnghttp2 decodes no field above 64 KiB.
            ("field.cases.test", Frame.longHead(1, FieldBlock.ok, fieldCount: 1), .connectionError(.compressionError), false),
            ("bomb.cases.test", [bomb], .accepted, true),
            (
                "hints.cases.test", Array(repeating: .headers(1, [(":status", "103")], end: false), count: 1000), .accepted, true
            ),
        ]
        let stage = try HostileStage(
            Dictionary(uniqueKeysWithValues: cases.map { ($0.host, script($0.host, $0.frames.flatMap(\.bytes))) }))
        let other = try stage.client()
        #expect(try stage.serves(other))
        for test in cases {
            let before = allocatedBytes()
            let response = try #require(try stage.fetch(test.host), "\(test.host)")
            // A request without a response is sent again on another connection.
            #expect(response.status == 502 || response.text == FrameServer.soundContent, "\(test.host): \(response)")
            #expect(response.informational.count <= 8, "\(test.host)")
            #expect(try stage.serves(other), "\(test.host)")
            #expect(try stage.serves(other, test.host), "\(test.host): the next request")
            try eventually { reactions[test.host] != nil }
            #expect(reactions[test.host] == test.expected, "\(test.host)")
            #expect(stage.connectionCount(test.host) == (test.isConnectionKept ? 1 : 2), "\(test.host)")
            let used = allocatedBytes() - before
            #expect(used < 8 << 20, "\(test.host): \(used) bytes are in use")
        }
    }

    @Test("An origin whose responses are all malformed loses its connection at the limit for resets")
    func countsProvokedResets() throws {
        let host = "resets.cases.test"
        let answeredCount = Guarded(0)
        let stage = try HostileStage(
            [
                host: { server, connection in
                    server.begin(on: connection)
                    while let stream = server.readRequest(on: connection) {
                        answeredCount.withLock { $0 += 1 }
                        connection.send([.headers(stream, FieldBlock.ok + [("connection", "close")])])
                    }
                    return false
                }
            ], change: { $0.transport.http2Limits.resetStreams = 10 })
        let other = try stage.client()
        for _ in 0..<20 {
            let response = try #require(try stage.fetch(host))
            #expect(response.status == 502 || response.text == FrameServer.soundContent)
            #expect(try stage.serves(other))
        }
        #expect(answeredCount.withLock { $0 } <= 12 && stage.connectionCount(host) == 2)
    }

    @Test("A response without end is read no faster than its client reads it, and another client is served")
    func boundsContent() throws {
        let host = "endless.cases.test"
        let taken = Guarded(0)
        let isBlocked = Gate()
        let stage = try HostileStage(
            [
                host: { server, connection in
                    server.begin(on: connection)
                    guard let stream = server.readRequest(on: connection) else { return false }
                    connection.send([.headers(stream, FieldBlock.ok + [("cache-control", "no-store")], end: false)])
                    var sent = 0
                    var quietCount = 0
                    while quietCount < 3, sent < Self.muchContent {
                        let before = sent
                        while sent + 16_384 <= min(server.window(of: stream), server.window(of: 0)) {
                            connection.send([.data(stream, count: 16_384)])
                            sent += 16_384
                        }
                        // When PING is acknowledged, the proxy has handled the content before it.
                        guard server.react(to: [], on: connection) == .accepted else { break }
                        quietCount = sent == before ? quietCount + 1 : 0
                    }
                    taken.withLock { $0 = sent }
                    isBlocked.open()
                    return true
                }
            ],
            change: { $0.transport.http2Limits.pingFrames = 1_000_000 })
        let other = try stage.client()
        let client = try stage.client(receiveBuffer: 16_384)
        client.send(stage.head(host))
        #expect(isBlocked.wait())
        // The kernel's buffers towards the client add to the window.
        #expect(taken.withLock { $0 } < 24 << 20)
        #expect(try stage.serves(other))
        #expect(try stage.serves(other, host))
        #expect(stage.connectionCount(host) == 1)
    }

    private static let muchContent = 64 << 20
}

extension FrameServer {
    /// How many bytes of content the client has permitted so far on the stream, or on the connection.
    fileprivate func window(of stream: UInt32) -> Int {
        let initial =
            stream == 0 ? 65_535 : frames.first { $0.type == 4 && $0.flags == 0 }.flatMap { Self.initialWindow($0) } ?? 65_535
        return frames.filter { $0.type == 8 && $0.stream == stream }
            .reduce(initial) { $0 + Int(Frame.number($1.payload[...])) }
    }

    /// SETTINGS_INITIAL_WINDOW_SIZE (RFC 9113 §6.5.2).
    private static func initialWindow(_ settings: Frame) -> Int? {
        stride(from: 0, to: settings.payload.count, by: 6).first { settings.payload[$0 + 1] == 4 }
            .map { Int(Frame.number(settings.payload[($0 + 2)...])) }
    }
}
