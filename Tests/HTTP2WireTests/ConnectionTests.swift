import HTTPMessage
import TestSupport
import Testing

@testable import HTTP2Wire

@Suite("Resets, shutdown, pings and priorities (RFC 9113 §6, RFC 9218)")
struct ConnectionTests {
    @Test("A reset by the client ends the stream at the server")
    func resetsByClient() throws {
        let pair = try Pair()
        let stream = try pair.client.request(.post, endStream: false)
        pair.exchange()
        pair.client.session.reset(stream, .cancel)
        pair.exchange()
        #expect(pair.server.summaries.last == "1 reset CANCEL by peer" && pair.client.events.isEmpty)
        #expect(pair.server.session.streams.isEmpty && pair.client.session.streams.isEmpty)
        #expect(throws: HTTP2SubmitError.streamClosed) {
            try pair.server.session.submitResponse(stream, ResponseHead(200), endStream: true)
        }
    }

    @Test("A reset by the server ends the stream at the client, and what was queued for it is not sent")
    func resetsByServer() throws {
        let pair = try Pair()
        let stream = try pair.client.request(.get)
        pair.exchange()
        try pair.server.session.submitResponse(stream, ResponseHead(200), endStream: false)
        _ = try [1, 2].withUnsafeBytes { try pair.server.session.submitData(stream, $0, end: false) }
        pair.server.session.reset(stream, .internalError)
        #expect(pair.server.session.queuedBytes == 0)
        pair.exchange()
        #expect(pair.client.summaries.last == "1 reset INTERNAL_ERROR by peer" && pair.client.content[stream] == nil)
    }

    @Test("A response can end before its request, and RST_STREAM with NO_ERROR follows it (RFC 9113 §8.1)")
    func endsEarly() throws {
        let pair = try Pair()
        let stream = try pair.client.request(.post, endStream: false)
        pair.exchange()
        try pair.server.session.submitResponse(stream, ResponseHead(413), endStream: true)
        pair.server.send().withUnsafeBytes { pair.client.session.receive($0, at: .zero) }
        pair.server.session.reset(stream, .noError)
        pair.exchange()
        #expect(pair.client.summaries == ["1 response 413 end", "1 reset NO_ERROR by peer"])
    }

    @Test("A malformed message that was announced as a head ends with a reset event")
    func reportsMalformedContent() throws {
        let server = try Endpoint.server()
        server.receive([.headers(1, FieldBlock.post + [("content-length", "2")], end: false), .data(1, "abc")])
        server.send()
        #expect(server.summaries.last == "1 reset PROTOCOL_ERROR" && server.content[1] == nil)
        server.receive([.data(1, "abc", flags: Frame.endStream)])
        #expect(server.events.count == 2)
    }

    @Test("After GOAWAY a server accepts no request, and finishes those that it has")
    func shutsDown() throws {
        let pair = try Pair()
        let first = try pair.client.request(.get)
        pair.exchange()
        pair.server.session.announceShutdown()
        pair.exchange()
        #expect(pair.client.summaries == ["goaway 2147483647 NO_ERROR"])
        pair.server.session.goAway()
        pair.exchange()
        #expect(pair.client.summaries.last == "goaway 1 NO_ERROR")
        #expect(throws: HTTP2SubmitError.connectionClosing) { _ = try pair.client.request(.get) }
        try pair.server.session.submitResponse(first, ResponseHead(200), endStream: true)
        pair.exchange()
        #expect(pair.client.summaries.last == "1 response 200 end")
        #expect(pair.client.session.isFinished && pair.server.session.isFinished)
    }

    @Test("GOAWAY ends the requests above its last stream with REFUSED_STREAM, so that they can be retried (RFC 9113 §8.7)")
    func refusesUnprocessed() throws {
        let client = try Endpoint.client(requests: [.get, .get])
        client.receive([.goAway(last: 1)])
        #expect(
            client.summaries == ["goaway 1 NO_ERROR", "3 reset REFUSED_STREAM"]
                || client.summaries == ["3 reset REFUSED_STREAM", "goaway 1 NO_ERROR"])
        client.receive([.headers(1, FieldBlock.ok)])
        #expect(client.summaries.last == "1 response 200 end")
    }

    @Test("A client sends no more requests at once than the server permits, and the others later")
    func queuesRequests() throws {
        let client = try Endpoint.client(settings: [(id: 3, value: 1)])
        #expect(client.session.peerConcurrentStreams == 1)
        _ = try client.request(.get)
        _ = try client.request(.get)
        client.send()
        #expect(client.sentFrames.filter { $0.type == 1 }.map(\.stream) == [1])
        client.receive([.headers(1, FieldBlock.ok)])
        client.send()
        #expect(client.sentFrames.filter { $0.type == 1 }.map(\.stream) == [1, 3])
    }

    @Test("A client's queue of requests is no fault of the server")
    func queuesManyRequests() throws {
        let client = try Endpoint.client(settings: [(id: 3, value: 1)])
        for _ in 0..<700 { _ = try client.request(.get) }
        client.receive([.ping()])
        client.send()
        #expect(client.events.isEmpty && client.sentFrames.filter { $0.type == 1 }.count == 1)
    }

    @Test("Of a request that is reset before it is sent, nothing is sent")
    func resetsUnsentRequest() throws {
        let client = try Endpoint.client()
        let stream = try client.request(.post, endStream: false)
        _ = try [1].withUnsafeBytes { try client.session.submitData(stream, $0, end: true) }
        client.session.reset(stream, .cancel)
        client.send()
        #expect(client.sent.isEmpty && client.events.isEmpty && client.session.queuedBytes == 0)
    }

    @Test("A PING is answered with its bytes, and the answer to an own PING is reported (RFC 9113 §6.7)")
    func pings() throws {
        let server = try Endpoint.server()
        server.receive([.ping("abcdefgh")])
        server.send()
        #expect(server.sentFrames == [Frame.ping("abcdefgh", flags: Frame.acknowledgement)])
        let pair = try Pair()
        pair.client.session.ping(0x0102_0304_0506_0708)
        pair.exchange()
        #expect(pair.client.summaries == ["ping acknowledged \(0x0102_0304_0506_0708)"])
    }

    @Test("SETTINGS are acknowledged, and the acknowledgement of own SETTINGS is reported (RFC 9113 §6.5.3)")
    func acknowledgesSettings() throws {
        let server = try Endpoint.server()
        server.receive([.settings([(id: 3, value: 7)])])
        server.send()
        #expect(server.sentFrames == [.settingsAcknowledgement] && server.summaries == ["settings"])
        let pair = try Pair()
        pair.server.session.submitSettings(concurrentStreams: 5)
        pair.exchange()
        #expect(pair.server.summaries == ["settings acknowledged"] && pair.client.session.peerConcurrentStreams == 5)
    }

    @Test("Requests above the limit are refused while the client has not acknowledged the settings (RFC 9113 §5.1.2)")
    func refusesAboveConcurrency() throws {
        var limits = HTTP2Limits()
        limits.concurrentStreams = 1
        let server = try Endpoint(.server, limits: limits)
        server.send()
        server.forget()
        server.receive(Frame.preface)
        server.receive([.settings(), .headers(1, FieldBlock.get), .headers(3, FieldBlock.get)])
        server.send()
        #expect(Reaction(of: server) == .streamError(3, .refusedStream))
        #expect(server.events.filter(\.isRequestHead).count == 1)
    }

    @Test("A connection error names its reason and is the last event")
    func reportsConnectionErrors() throws {
        let server = try Endpoint.server()
        server.receive([.data(0, "a")])
        server.send()
        guard case .connectionFailed(.protocolError, let reason)? = server.events.last else {
            Issue.record("\(server.summaries)")
            return
        }
        #expect(!reason.isEmpty && server.session.isFinished && !server.session.hasOutput)
    }

    @Test(
        "The parameters of a priority field are read, and unknown or wrong ones are ignored (RFC 9218 §4)",
        arguments: [
            ("u=0", 0, false), ("u=7, i", 7, true), ("i", 3, true), ("i=?1", 3, true), ("i=?0", 3, false), ("u=8", 3, false),
            ("u=-1", 3, false), ("u=a", 3, false), ("", 3, false), ("x=1, u=2;y, i;z", 2, true), ("u=1,u=4", 4, false),
            ("U=1", 3, false),
            ("u=10", 3, false), ("i=1", 3, false), (" u=5 , i ", 5, true),
        ])
    func readsPriorities(value: String, urgency: Int, isIncremental: Bool) {
        let bytes = Array(value.utf8)
        #expect(StreamPriority(parsing: bytes.span) == StreamPriority(urgency: UInt8(urgency), isIncremental: isIncremental))
    }

    @Test("A priority field and PRIORITY_UPDATE are reported (RFC 9218 §7.1)")
    func reportsPriorities() throws {
        let server = try Endpoint.server()
        server.receive([
            .headers(1, FieldBlock.get + [("priority", "u=1, i")]), .priorityUpdate(1, "u=6"), .priorityUpdate(3, "u=0"),
            .headers(3, FieldBlock.get),
        ])
        #expect(
            server.summaries == [
                "1 request GET https://a.example/ priority=u=1, i end", "1 priority 1 incremental", "1 priority 6",
                "3 priority 0",
                "3 request GET https://a.example/ end",
            ])
    }

    @Test("Of two responses that wait, the more urgent is sent first")
    func sendsUrgentFirst() throws {
        let server = try Endpoint.server()
        server.receive([.headers(1, FieldBlock.get + [("priority", "u=5")]), .headers(3, FieldBlock.get + [("priority", "u=1")])])
        let content = [UInt8](repeating: 1, count: 20_000)
        for stream: HTTP2StreamID in [1, 3] {
            try server.session.submitResponse(stream, ResponseHead(200), endStream: false)
            let taken = try content.withUnsafeBytes { try server.session.submitData(stream, $0, end: true) }
            #expect(taken == 20_000)
        }
        server.send()
        #expect(server.sentFrames.filter { $0.type == 0 }.map(\.stream) == [3, 3, 1, 1])
    }

    @Test("A target that HTTP/1.1 rejects for more than its grammar is reported, so that its client gets a response")
    func reportsUnacceptableTargets() throws {
        let server = try Endpoint.server()
        let scheme = FieldBlock.get.map { $0.0 == ":scheme" ? ($0.0, "ftp") : $0 }
        let backslash = FieldBlock.get.map { $0.0 == ":path" ? ($0.0, "/a\\b") : $0 }
        let nul = FieldBlock.get.map { $0.0 == ":path" ? ($0.0, "/a%00") : $0 }
        server.receive([.headers(1, scheme), .headers(3, backslash), .headers(5, nul)])
        #expect(
            server.summaries == [
                "1 unacceptable unsupported_scheme end", "3 unacceptable backslash_in_target end",
                "5 unacceptable nul_in_target end",
            ])
        try server.session.submitResponse(1, ResponseHead(400), endStream: true)
        server.send()
        #expect(server.sentFrames.map(\.type) == [1])
    }
}
