import HTTPMessage
import TestSupport
import Testing

@testable import HTTP2Wire

@Suite("Frames on closed streams (RFC 9113 §5.1)")
struct ClosedStreamTests {
    private static let post: [Frame] = [.headers(1, FieldBlock.post, end: false)]

    private func server(_ change: (inout HTTP2Limits) -> Void = { _ in }) throws -> Endpoint {
        var limits = HTTP2Limits()
        change(&limits)
        return try Endpoint.server(limits: limits)
    }

    @Test("Content, and trailers, on a stream that the server has reset are discarded", arguments: [true, false])
    func discards(isSent: Bool) throws {
        let server = try server()
        server.receive(Self.post)
        server.session.reset(1, .noError)
        if isSent { server.send() }
        let count = server.events.count
        server.receive([.data(1, "a"), .headers(1, [("a", "b")])])
        server.send()
        #expect(server.events.count == count && Reaction(of: server.sentFrames, ignoring: [.noError]) == .accepted)
        server.receive([.headers(3, FieldBlock.get)])
        #expect(server.summaries.last == "3 request GET https://a.example/ end")
    }

    @Test("Frames on streams that the server has reset count, beyond an allowance for each reset", arguments: [0, 1])
    func counts(excess: Int) throws {
        let server = try server {
            $0.closedStreamFrames = 5
            $0.framesPerSentReset = 3
        }
        for stream: UInt32 in [1, 3] {
            server.receive([.headers(stream, FieldBlock.post, end: false)])
            server.session.reset(HTTP2StreamID(stream), .noError)
        }
        server.send()
        server.receive(Array(repeating: .data(1, "a"), count: 11 + excess))
        server.send()
        let expected = excess == 0 ? Reaction.accepted : .connectionError(.enhanceYourCalm)
        #expect(Reaction(of: server.sentFrames, ignoring: [.noError]) == expected, "\(server.summaries)")
        #expect((server.summaries.last == "limit http2_too_many_frames_on_closed_streams") == (excess == 1))
    }

    @Test("Frames of earlier windows do not count, and the allowance of a reset lasts for the next window")
    func forgets() throws {
        let server = try server {
            $0.closedStreamFrames = 5
            $0.framesPerSentReset = 3
        }
        server.receive(Self.post)
        server.session.reset(1, .noError)
        server.send()
        for _ in 0..<2 {
            server.receive(Array(repeating: .data(1, "a"), count: 8))
            #expect(!server.summaries.contains { $0.contains("limit") })
            server.now += .seconds(10)
        }
        server.receive(Array(repeating: .data(1, "a"), count: 6))
        #expect(server.summaries.last == "limit http2_too_many_frames_on_closed_streams")
    }

    @Test("Content on a stream that both sides have ended is an error of type STREAM_CLOSED")
    func rejectsAfterEnd() throws {
        let server = try server()
        server.receive([.headers(1, FieldBlock.get)])
        try server.session.submitResponse(1, ResponseHead(200), endStream: true)
        server.send()
        server.receive([.data(1, "a")])
        server.send()
        #expect(Reaction(of: server) == .connectionError(.streamClosed), "\(server.summaries)")
    }

    @Test("A server's frames on a stream that the client has cancelled are discarded; after its END_STREAM they are an error")
    func judgesServers() throws {
        let client = try Endpoint.client(requests: [.get, .get])
        client.session.reset(1, .cancel)
        client.send()
        client.receive([.headers(1, FieldBlock.ok, end: false), .data(1, "a", flags: Frame.endStream)])
        client.receive([.headers(3, FieldBlock.ok, end: false), .data(3, "a", flags: Frame.endStream)])
        client.send()
        #expect(Reaction(of: client.sentFrames, ignoring: [.cancel]) == .accepted)
        client.receive([.data(3, "a")])
        client.send()
        #expect(Reaction(of: client.sentFrames, ignoring: [.cancel]) == .connectionError(.streamClosed))
    }

    @Test("The content of a request that is refused for the concurrency limit is discarded")
    func discardsRefused() throws {
        var limits = HTTP2Limits()
        limits.concurrentStreams = 1
        let server = try Endpoint(.server, limits: limits)
        server.send()
        server.receive(Frame.preface)
        server.receive([.settings()])
        server.receive([
            .headers(1, FieldBlock.post, end: false), .headers(3, FieldBlock.post, end: false), .data(3, "a"),
        ])
        server.send()
        #expect(Reaction(of: server) == .streamError(3, .refusedStream), "\(server.summaries)")
    }

    @Test("After GOAWAY, new requests and their content are discarded")
    func discardsAfterGoAway() throws {
        let server = try server()
        server.receive([.headers(1, FieldBlock.post, end: false)])
        server.session.goAway()
        server.send()
        server.receive([.headers(3, FieldBlock.post, end: false), .data(3, "a"), .data(1, "b", flags: Frame.endStream)])
        server.send()
        #expect(Reaction(of: server) == .accepted && server.summaries.last == "1 end", "\(server.summaries)")
    }

    @Test("Frames on any of a thousand streams that were reset are discarded")
    func remembersResets() throws {
        let server = try server()
        for number in 0..<UInt32(1000) {
            server.receive([.headers(number * 2 + 1, FieldBlock.post, end: false)])
            server.session.reset(HTTP2StreamID(number) * 2 + 1, .noError)
            server.send()
        }
        server.session.trim()
        server.receive([.data(1, "a"), .data(999, "a"), .data(1999, "a")])
        server.send()
        #expect(Reaction(of: server.sentFrames, ignoring: [.noError]) == .accepted)
    }

    @Test("The reason of a reset has its code, and gives the code back")
    func namesResets() {
        for number in 0..<UInt32(14) {
            let code = HTTP2ErrorCode(rawValue: number)
            #expect("\(code.resetReason)" == "stream_reset_\(code)".lowercased())
            #expect(HTTP2ErrorCode(resetReason: "\(code.resetReason)") == code)
        }
        let unnamed = HTTP2ErrorCode(rawValue: 0x99)
        #expect("\(unnamed.resetReason)" == "stream_reset" && HTTP2ErrorCode(resetReason: "stream_reset") == nil)
    }
}
