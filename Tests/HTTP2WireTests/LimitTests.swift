import HTTPMessage
import TestSupport
import Testing

@testable import HTTP2Wire

@Suite("Limits: at each one nothing happens, and one past it ends the connection")
struct LimitTests {
    private func endpoint(_ test: LimitCase) throws -> Endpoint {
        var limits = HTTP2Limits()
        test.set(&limits)
        let server = try Endpoint.server(limits: limits)
        server.receive(test.before)
        server.forget()
        return server
    }

    @Test("At the limit the connection goes on", arguments: LimitCase.all.indices)
    func permitsLimit(index: Int) throws {
        let test = LimitCase.all[index]
        let server = try endpoint(test)
        server.receive(test.frames(5))
        server.send()
        #expect(Reaction(of: server) == .accepted, "\(test.limit): \(server.summaries)")
        server.receive([.headers(101, FieldBlock.get)])
        #expect(server.summaries.last == "101 request GET https://a.example/ end", "\(test.limit)")
    }

    @Test(
        "One past the limit the session names the limit, sends GOAWAY with ENHANCE_YOUR_CALM and reads no more",
        arguments: LimitCase.all.indices)
    func refusesMore(index: Int) throws {
        let test = LimitCase.all[index]
        let server = try endpoint(test)
        server.receive(test.frames(6))
        #expect(server.summaries.last == "limit \(test.limit.reason)", "\(test.limit): \(server.summaries)")
        server.send()
        #expect(Reaction(of: server) == .connectionError(.enhanceYourCalm), "\(test.limit)")
        #expect(server.sentFrames.last?.type == 7 && server.session.isFinished)
        let count = server.events.count
        server.receive([.headers(101, FieldBlock.get)])
        #expect(server.events.count == count)
    }

    @Test("Frames of earlier windows do not count", arguments: LimitCase.all.indices.filter { LimitCase.all[$0].isRate })
    func forgetsEarlierFrames(index: Int) throws {
        let test = LimitCase.all[index]
        let server = try endpoint(test)
        server.receive(test.frames(5))
        server.send()
        server.now += .seconds(10)
        if test.limit == .resetStreams {
            server.receive([.headers(101, FieldBlock.get), .reset(101)])
        } else {
            server.receive([test.frames(6)[test.frames(6).count - 1]])
        }
        server.send()
        #expect(Reaction(of: server) == .accepted, "\(test.limit): \(server.summaries)")
    }

    @Test("Acknowledgements that were sent are no longer queued")
    func countsQueuedFrames() throws {
        var limits = HTTP2Limits()
        limits.queuedControlFrames = 5
        let server = try Endpoint.server(limits: limits)
        for _ in 0..<4 {
            server.receive(Array(repeating: .ping(), count: 5))
            server.send()
        }
        #expect(Reaction(of: server) == .accepted)
        #expect(server.sentFrames.filter { $0.type == 6 }.count == 20)
    }

    @Test("Streams that the client makes this side reset count as resets (CVE-2025-8671)")
    func countsProvokedResets() throws {
        var limits = HTTP2Limits()
        limits.resetStreams = 5
        let server = try Endpoint.server(limits: limits)
        for index in 0..<6 {
            #expect(server.summaries.allSatisfy { !$0.contains("limit") })
            server.receive([
                .headers(UInt32(index) * 2 + 1, FieldBlock.post, end: false), .windowUpdate(UInt32(index) * 2 + 1, 0x7FFF_FFFF),
            ])
            server.send()
        }
        server.receive([.ping()])
        #expect(server.summaries.last == "limit http2_too_many_resets")
    }

    @Test("Resets by the owner do not count")
    func ignoresOwnResets() throws {
        var limits = HTTP2Limits()
        limits.resetStreams = 5
        let server = try Endpoint.server(limits: limits)
        for index in 0..<20 {
            server.receive([.headers(UInt32(index) * 2 + 1, FieldBlock.get)])
            server.session.reset(HTTP2StreamID(index) * 2 + 1, .cancel)
            server.send()
        }
        #expect(server.summaries.count == 20)
    }

    @Test("A client that reads much may send many WINDOW_UPDATE frames: four for each DATA frame")
    func permitsWindowUpdatesForData() throws {
        var limits = HTTP2Limits()
        limits.windowUpdateFrames = 5
        let server = try Endpoint.server(limits: limits)
        server.receive([.headers(1, FieldBlock.get)])
        try server.session.submitResponse(1, ResponseHead(200), endStream: false)
        for _ in 0..<20 {
            _ = try [1].withUnsafeBytes { try server.session.submitData(1, $0, end: false) }
            server.send()
            server.receive(Array(repeating: .windowUpdate(0, 1), count: 4))
        }
        #expect(Reaction(of: server) == .accepted)
    }

    @Test("A client may send a PING for each DATA frame, as gRPC does to measure the way")
    func permitsPingsForData() throws {
        var limits = HTTP2Limits()
        limits.pingFrames = 5
        let server = try Endpoint.server(limits: limits)
        server.receive([.headers(1, FieldBlock.get)])
        try server.session.submitResponse(1, ResponseHead(200), endStream: false)
        for _ in 0..<20 {
            _ = try [1].withUnsafeBytes { try server.session.submitData(1, $0, end: false) }
            server.send()
            server.receive([.ping()])
        }
        #expect(Reaction(of: server) == .accepted)
    }

    @Test("A field section is accepted at the size limit, and reported as too large one byte above it", arguments: [0, 1])
    func limitsHeaderList(excess: Int) throws {
        var limits = HTTP2Limits()
        limits.headerListBytes = 1000
        let server = try Endpoint.server(limits: limits)
        let used = (FieldBlock.get + [("a", "")]).reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count + 32 }
        server.receive([.headers(1, FieldBlock.get + [("a", String(repeating: "b", count: 1000 - used + excess))])])
        #expect(server.summaries == [excess == 0 ? server.summaries[0] : "1 head too large end"])
        #expect(server.events[0].isRequestHead == (excess == 0))
        // A response of the server's owner reaches the client.
        try server.session.submitResponse(1, ResponseHead(431), endStream: true)
        server.send()
        #expect(server.sentFrames.map(\.type) == [1])
    }

    @Test("A request has as many fields as the limit, and is too large with one more", arguments: [0, 1])
    func limitsFieldCount(excess: Int) throws {
        var limits = HTTP2Limits()
        limits.fieldCount = 3
        let server = try Endpoint.server(limits: limits)
        let fields = (0..<(3 + excess)).map { ("a\($0)", "b") } + [("cookie", "a"), ("cookie", "b")]
        server.receive([.headers(1, FieldBlock.get + fields)])
        #expect(server.events.count == 1 && server.events[0].isRequestHead == (excess == 0))
    }

    @Test("References to a large entry of the dynamic table count with their decoded size")
    func limitsDecodedSize() throws {
        let server = try Endpoint.server()
        let large = [0x40] + FieldBlock.text(Array("a".utf8)) + FieldBlock.text(Array(repeating: 98, count: 4000))
        let block = FieldBlock.literal(FieldBlock.get) + large + Array(repeating: 0xBE, count: 10_000)
        server.receive([.headers(1, block: block, flags: Frame.endHeaders | Frame.endStream)])
        #expect(server.summaries == ["1 head too large end"])
    }

    @Test("Trailers above the size limit end the stream")
    func limitsTrailers() throws {
        var limits = HTTP2Limits()
        limits.headerListBytes = 1000
        let server = try Endpoint.server(limits: limits)
        server.receive([.headers(1, FieldBlock.post, end: false), .headers(1, [("a", String(repeating: "b", count: 1000))])])
        server.send()
        #expect(Reaction(of: server) == .streamError(1, .protocolError))
    }

    @Test("The settings announce the limits (RFC 9113 §6.5.2)")
    func announcesLimits() throws {
        let server = try Endpoint(.server, permitsExtendedConnect: true)
        server.send()
        let settings = try #require(server.sentFrames.first)
        #expect(settings.type == 4)
        let pairs = stride(from: 0, to: settings.payload.count, by: 6).map { start in
            "\(settings.payload[start + 1])=\(Frame.number(settings.payload[(start + 2)...]))"
        }
        #expect(Set(pairs) == ["1=4096", "3=100", "4=262144", "6=65536", "8=1", "9=1"])
        #expect(server.sentFrames.contains { $0.type == 8 && $0.stream == 0 })
        let client = try Endpoint(.client)
        client.send()
        let clients = try #require(client.sentFrames.first).payload
        // ENABLE_PUSH of 0.
        #expect(stride(from: 0, to: clients.count, by: 6).contains { Array(clients[$0..<($0 + 6)]) == [0, 2, 0, 0, 0, 0] })
    }
}
