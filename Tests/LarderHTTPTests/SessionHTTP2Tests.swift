import HTTP2Wire
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: servers that speak HTTP/2")
struct SessionHTTP2Tests {
    private let authority = TestAuthority()

    private func session(_ change: (inout SessionConfiguration) -> Void = { _ in }) throws -> HTTPSession {
        var configuration = SessionConfiguration()
        change(&configuration)
        return try HTTPSession(configuration: configuration, trust: .policies(authority.policies()))
    }

    @Test("A session uses HTTP/2 where the server does, on one connection, and the metrics say so", arguments: [true, false])
    func usesIt(offers: Bool) async throws {
        let origin = ScriptedOrigin(identity: authority.identity().choosingHTTP2()) { connection in
            if connection.isHTTP2 {
                HTTP2Origin.serve(connection) { server, request in
                    server.respond(request.stream, body: "to \(request.head.target)", trailers: [("x-sum", "7")])
                }
            }
            while connection.readHead() != nil { connection.respond(body: "in 1.1") }
        }
        defer { origin.stop() }
        let session = try session { $0.offersHTTP2 = offers }
        let uri = "https://127.0.0.1:\(origin.port)"
        let first = try await session.send(SessionRequest(.get, "\(uri)/first"))
        #expect(first.text == (offers ? "to /first" : "in 1.1") && first.trailers["X-Sum"] == (offers ? "7" : nil))
        #expect(first.metrics.exchanges.map(\.version) == [offers ? "HTTP/2" : "HTTP/1.1"])
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<20 {
                group.addTask { try await session.send(SessionRequest(.get, "\(uri)/\(number)")).text }
            }
            for try await text in group { #expect(text.hasPrefix(offers ? "to /" : "in 1.1")) }
        }
        #expect(!offers || origin.connectionCount == 1)
        await session.shutdown(.cancel)
    }

    @Test("A body can be sent while the response is received: each message is answered before the next one")
    func streamsBothWays() async throws {
        let origin = ScriptedOrigin(identity: authority.identity().choosingHTTP2()) { connection in
            let server = HTTP2Origin()
            while let event = server.next(on: connection) {
                switch event {
                case .head(let id): server.begin(id)
                case .content(let id, let bytes): server.send(String(decoding: bytes.reversed(), as: UTF8.self), on: id)
                case .end(let id): server.send([], trailers: [("x-end", "1")], on: id)
                default: break
                }
            }
        }
        defer { origin.stop() }
        let session = try session()
        let (messages, sender) = AsyncStream<[UInt8]>.makeStream()
        let request = SessionRequest(.post, "https://127.0.0.1:\(origin.port)/", body: .stream(BodyStream(messages)))
        let response = try await session.open(request)
        var body = response.body.makeAsyncIterator()
        for number in 0..<3 {
            sender.yield(Array("<\(number)".utf8))
            #expect(try await body.next().map { String(decoding: $0, as: UTF8.self) } == "\(number)<")
        }
        sender.finish()
        #expect(try await body.next() == nil)
        #expect(await response.body.trailers()["X-End"] == "1")
        await session.shutdown(.cancel)
    }
}
