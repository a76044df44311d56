import HTTPMessage
import TestSupport
import Testing

@testable import HTTP2Wire

@Suite("Flow control (RFC 9113 §5.2, §6.9)")
struct FlowControlTests {
    private static let piece = [UInt8](repeating: 7, count: 100_000)

    private func submit(_ count: Int, _ stream: HTTP2StreamID, of endpoint: Endpoint, end: Bool = false) throws -> Int {
        try Self.piece.withUnsafeBytes {
            try endpoint.session.submitData(stream, UnsafeRawBufferPointer(rebasing: $0[..<count]), end: end)
        }
    }

    /// A server with responses begun on streams 1, 3, …, and a client with these settings that opens no windows.
    private func server(streams: Int, window: UInt32, limits: HTTP2Limits = HTTP2Limits()) throws -> Endpoint {
        let server = try Endpoint.server(limits: limits)
        let settings: Frame = .settings([(id: UInt16(4), value: window)])
        server.receive([settings])
        for index in 0..<streams {
            let stream = index * 2 + 1
            server.receive([.headers(UInt32(stream), FieldBlock.get)])
            try server.session.submitResponse(HTTP2StreamID(stream), ResponseHead(200), endStream: false)
        }
        server.send()
        server.forget()
        return server
    }

    private func content(_ endpoint: Endpoint, _ stream: UInt32) -> Int {
        endpoint.sentFrames.filter { $0.type == 0 && $0.stream == stream }.reduce(0) { $0 + $1.payload.count }
    }

    @Test("A stream accepts as much as its window permits, and tells when the peer opens it")
    func respectsStreamWindow() throws {
        let server = try server(streams: 1, window: 1000)
        #expect(server.session.capacity(of: 1) == 1000)
        #expect(try submit(5000, 1, of: server) == 1000)
        #expect(server.session.capacity(of: 1) == 0)
        #expect(try submit(1, 1, of: server) == 0)
        server.send()
        #expect(content(server, 1) == 1000 && server.events.isEmpty)
        server.receive([.windowUpdate(1, 500)])
        #expect(server.summaries == ["1 window"])
        #expect(server.session.capacity(of: 1) == 500)
    }

    @Test("All streams share the window of the connection, and the one that waits longest is told first")
    func sharesConnectionWindow() throws {
        let server = try server(streams: 3, window: 60_000)
        #expect(try submit(60_000, 1, of: server) == 60_000)
        #expect(try submit(60_000, 3, of: server) == 5535)
        #expect(try submit(60_000, 5, of: server) == 0)
        server.send()
        #expect(content(server, 1) == 60_000 && content(server, 3) == 5535 && server.events.isEmpty)
        server.receive([.windowUpdate(0, 100)])
        #expect(server.summaries == ["3 window", "5 window"])
        #expect(try submit(60_000, 3, of: server) == 100)
        #expect(try submit(60_000, 5, of: server) == 0)
        server.forget()
        server.send()
        server.receive([.windowUpdate(0, 100)])
        #expect(server.summaries == ["3 window", "5 window"])
    }

    @Test("A session stores no more unsent content of a stream than its limit, and tells when it was sent")
    func boundsUnsentContent() throws {
        var limits = HTTP2Limits()
        limits.outgoingStreamBytes = 10_000
        let server = try server(streams: 1, window: 60_000, limits: limits)
        #expect(try submit(20_000, 1, of: server) == 10_000)
        server.send()
        #expect(server.summaries == ["1 window"])
        #expect(server.session.capacity(of: 1) == 10_000)
    }

    @Test("A window that settings made negative sends nothing until it is positive again (RFC 9113 §6.9.2)")
    func waitsForNegativeWindow() throws {
        let server = try server(streams: 1, window: 1000)
        #expect(try submit(1000, 1, of: server) == 1000)
        server.send()
        server.receive([.settings([(id: 4, value: 0)])])
        #expect(try submit(10, 1, of: server) == 0)
        server.receive([.windowUpdate(1, 1000)])
        #expect(server.session.capacity(of: 1) == 0)
        server.receive([.windowUpdate(1, 5)])
        #expect(server.session.capacity(of: 1) == 5 && server.summaries.contains("1 window"))
    }

    @Test("A larger INITIAL_WINDOW_SIZE opens the streams that wait")
    func opensBySettings() throws {
        let server = try server(streams: 1, window: 0)
        #expect(try submit(10, 1, of: server) == 0)
        server.receive([.settings([(id: 4, value: 7)])])
        #expect(server.summaries == ["settings", "1 window"] && server.session.capacity(of: 1) == 7)
    }

    @Test("Content that is not consumed closes the window of its stream; consumed content opens it")
    func opensByConsumption() throws {
        var limits = HTTP2Limits()
        limits.streamWindow = 1000
        let server = try Endpoint.server(limits: limits)
        server.consumesContent = false
        server.receive([.headers(1, FieldBlock.post, end: false), .data(1, count: 1000)])
        server.send()
        #expect(server.sentFrames.isEmpty)
        server.session.consumed(1, 400)
        server.session.consumed(1, 600)
        server.send()
        #expect(
            server.sentFrames.filter { $0.type == 8 && $0.stream == 1 }.map { Frame.number($0.payload[...]) }.reduce(0, +) == 1000
        )
        server.session.consumed(1, 600)
        #expect(server.session.streams[1]?.unconsumed == 0, "no more is consumed than was received")
    }

    @Test("Padding counts as consumed (RFC 9113 §6.1)")
    func consumesPadding() throws {
        var limits = HTTP2Limits()
        limits.streamWindow = 1000
        let server = try Endpoint.server(limits: limits)
        server.receive([.headers(1, FieldBlock.post, end: false)])
        for _ in 0..<20 {
            let padded = [255] + [UInt8](repeating: 7, count: 1) + [UInt8](repeating: 0, count: 255)
            server.receive([Frame(type: 0, flags: Frame.padded, stream: 1, payload: padded)])
            server.send()
        }
        #expect(server.content[1]?.count == 20 && Reaction(of: server) == .accepted)
    }

    @Test("A stream whose content nobody consumes does not hold up the others")
    func passesSlowStream() throws {
        var limits = HTTP2Limits()
        limits.streamWindow = 10_000
        limits.connectionWindow = 65_535
        let pair = try Pair(serverLimits: limits)
        pair.server.consumesContent = false
        let slow = try pair.client.request(.post, endStream: false)
        #expect(try submit(50_000, slow, of: pair.client) == 10_000)
        pair.exchange()
        #expect(pair.server.content[slow]?.count == 10_000)
        pair.server.consumesContent = true
        for _ in 0..<5 {
            let fast = try pair.client.request(.post, endStream: false)
            try pair.send(Array(Self.piece.prefix(50_000)), on: fast, of: pair.client)
            #expect(pair.server.content[fast]?.count == 50_000)
        }
        pair.server.session.consumed(slow, 10_000)
        pair.exchange()
        #expect(pair.client.summaries.contains("1 window") && pair.client.session.capacity(of: slow) == 10_000)
    }

    @Test("The window of a reset stream's content returns to the connection, and later consumption of it counts no more")
    func returnsWindowOfResetStream() throws {
        var limits = HTTP2Limits()
        limits.streamWindow = 60_000
        limits.connectionWindow = 65_535
        let server = try Endpoint.server(limits: limits)
        server.consumesContent = false
        server.receive([.headers(1, FieldBlock.post, end: false)] + (0..<4).map { _ in .data(1, count: 10_000) })
        server.session.reset(1, .cancel)
        server.session.consumed(1, 40_000)
        // On its way before the client sees RST_STREAM.
        server.receive([.data(1, count: 10_000)])
        server.send()
        server.receive([.data(1, count: 5000)])
        server.send()
        let opened = server.sentFrames.filter { $0.type == 8 && $0.stream == 0 }.map { Frame.number($0.payload[...]) }.reduce(
            0, +)
        #expect(opened >= 40_000 && opened <= 55_000)
        #expect(server.session.streams.isEmpty)
    }

    @Test("Content that is not consumed keeps the window of its stream closed, and not that of the connection")
    func opensConnectionAtOnce() throws {
        var limits = HTTP2Limits()
        limits.streamWindow = 65_535
        limits.connectionWindow = 65_535
        let server = try Endpoint.server(limits: limits)
        server.consumesContent = false
        server.receive([.headers(1, FieldBlock.post, end: false)] + (0..<4).map { _ in .data(1, count: 10_000) })
        server.send()
        #expect(server.sentFrames.contains { $0.type == 8 && $0.stream == 0 })
        #expect(!server.sentFrames.contains { $0.type == 8 && $0.stream == 1 })
        server.session.consumed(1, 40_000)
        server.send()
        #expect(server.sentFrames.contains { $0.type == 8 && $0.stream == 1 })
        server.receive([.data(1, flags: Frame.endStream)])
        try server.session.submitResponse(1, ResponseHead(200), endStream: true)
        server.send()
        #expect(server.session.streams.isEmpty)
    }

    @Test("An end with the last bytes is in their frame")
    func endsWithContent() throws {
        let server = try server(streams: 1, window: 10)
        #expect(try submit(10, 1, of: server, end: true) == 10)
        server.send()
        let data = server.sentFrames.filter { $0.type == 0 }
        #expect(data.count == 1 && data[0].flags == Frame.endStream && data[0].payload.count == 10)
        #expect(throws: HTTP2SubmitError.streamClosed) { _ = try submit(1, 1, of: server) }
    }

    @Test("An end alone is an empty frame")
    func endsAlone() throws {
        let server = try server(streams: 1, window: 100)
        #expect(try submit(10, 1, of: server) == 10)
        server.send()
        #expect(try submit(0, 1, of: server, end: true) == 0)
        server.send()
        #expect(server.sentFrames.filter { $0.type == 0 }.map(\.flags) == [0, Frame.endStream])
    }
}
