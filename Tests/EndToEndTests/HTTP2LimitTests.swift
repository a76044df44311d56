import HTTP2Wire
import ProxyServer
import TestSupport
import Testing

@Suite("The settings `limits.http2`: at each one nothing happens, and one past it the proxy reacts")
struct HTTP2LimitTests {
    private let isStopped = Gate()

    /// A proxy whose origin answers no request before `isStopped` opens.
    private func stage(_ limit: String) throws -> Stage {
        try Stage("limits: {http2: {\(limit)}}") { [isStopped] _, connection in
            isStopped.wait()
            return connection.respond(body: "a")
        }
    }

    private func client(_ stage: Stage) throws -> FrameClient {
        let client = try FrameClient(stage.client())
        try client.begin()
        return client
    }

    private func post(_ stage: Stage, on stream: UInt32) -> Frame {
        let authority = "127.0.0.1:\(stage.origin.port)"
        let fields = [(":method", "POST"), (":scheme", "http"), (":authority", authority), (":path", "/\(stream)")]
        return .headers(stream, fields, end: false)
    }

    @Test("`streams`: a client may open as many requests, and the next one ends the connection", arguments: [0, 1])
    func streams(excess: UInt32) throws {
        let stage = try stage("streams: 5")
        let client = try client(stage)
        defer { isStopped.open() }
        let frames = (0..<5 + excess).map { post(stage, on: $0 * 2 + 1) }
        let expected = excess == 0 ? Reaction.accepted : .connectionError(.protocolError)
        #expect(try client.react(to: frames.flatMap(\.bytes)) == expected)
    }

    @Test("`resets`: a client may reset as many streams, and the next reset ends the connection", arguments: [0, 1])
    func resets(excess: UInt32) throws {
        let stage = try stage("resets: 5")
        let client = try client(stage)
        defer { isStopped.open() }
        let frames = (0..<5 + excess).flatMap { [post(stage, on: $0 * 2 + 1), Frame.reset($0 * 2 + 1)] }
        let expected = excess == 0 ? Reaction.accepted : .connectionError(.enhanceYourCalm)
        #expect(try client.react(to: frames.flatMap(\.bytes)) == expected)
    }

    @Test("`stream_window`: Larder holds as much content of a request, and more is a flow-control error", arguments: [0, 1])
    func streamWindow(excess: Int) throws {
        let yaml = "limits: {http2: {stream_window: 400000}}\nupstream: {connections_per_origin: 1, queue_wait: 10m}"
        let stage = try Stage(yaml) { [isStopped] _, connection in
            isStopped.wait()
            return connection.respond(body: "a")
        }
        let client = try client(stage)
        defer { isStopped.open() }
        #expect(try client.react(to: post(stage, on: 1).bytes) == .accepted)
        // The request waits for a connection to the origin. Larder takes less than half of the window out of the stream, so that the window
        // stays as it is.
        let frames: [Frame] = [post(stage, on: 3)] + Array(repeating: Frame.data(3, count: 1000), count: 400)
        #expect(try client.react(to: frames.flatMap(\.bytes)) == .accepted)
        if excess > 0 {
            #expect(try client.react(to: Frame.data(3, count: excess).bytes) == .streamError(3, .flowControlError))
        }
        // The client learns the window from the settings.
        #expect(client.frames.contains { $0.type == 4 && Self.initialWindow($0) == 400_000 })
    }

    @Test("`connection_window`: the client learns how much content it may send on all streams", arguments: [65_535, 200_000])
    func connectionWindow(window: Int) throws {
        let stage = try stage("connection_window: \(window), stream_window: 65535")
        let client = try client(stage)
        defer { isStopped.open() }
        #expect(try client.react(to: []) == .accepted)
        // A connection begins with 65,535 bytes (RFC 9113 §6.9.2), and WINDOW_UPDATE adds the rest.
        let added = client.frames.filter { $0.type == 8 && $0.stream == 0 }.map { Int(Frame.number($0.payload[...])) }
        #expect(added.reduce(65_535, +) == window)
    }

    /// SETTINGS_INITIAL_WINDOW_SIZE (RFC 9113 §6.5.2).
    private static func initialWindow(_ settings: Frame) -> Int? {
        stride(from: 0, to: settings.payload.count, by: 6).first { settings.payload[$0 + 1] == 4 }
            .map { Int(Frame.number(settings.payload[($0 + 2)...])) }
    }
}
