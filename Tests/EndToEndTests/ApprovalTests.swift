import EventLoop
import Foundation
import HTTPMessage
import ProxyPolicy
import ProxyServer
import TestSupport
import Testing

@Suite("Approvals: requests that wait for an answer")
struct ApprovalTests {
    private static let answers: @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = { request, connection in
        guard connection.readBody(of: request) != nil else { return false }
        return connection.respond(body: "answer")
    }

    private static func rule(_ words: String = "timeout: 1h") -> String { "rules: [{name: ask, ask: {\(words)}}]" }

    /// The questions of a proxy, as they are asked.
    private final class Questions: Sendable {
        private let ids = Guarded<[UInt64]>([])
        private let asked = DispatchSemaphore(value: 0)
        let server: ProxyServer

        init(_ proxy: TestProxy) {
            server = proxy.server
            server.approvals.tell { [weak self] held in self?.note(held.id) }
        }

        private func note(_ id: UInt64) {
            ids.withLock { $0.append(id) }
            asked.signal()
        }

        /// The id of the next question.
        func next() throws -> UInt64 {
            try #require(asked.wait(timeout: .now() + .seconds(Deadline.seconds)) == .success)
            return ids.withLock { $0.removeFirst() }
        }

        @discardableResult
        func answer(
            _ id: UInt64, allows: Bool, _ lifetime: ApproverAnswer.Lifetime = .once, _ scope: ApprovalScopes.Scope = .request
        ) -> Bool {
            let answer = ApproverAnswer(allows: allows, lifetime: lifetime, scope: scope, approver: "test")
            if case .done = server.answer(id, answer) { return true }
            return false
        }

        func count(_ ending: Approvals.Ending) -> UInt64 { server.approvals.counts.endings[ending] ?? 0 }
    }

    @Test("An allowed request is forwarded with its body, a denied one is not, and a second answer finds nothing")
    func answersOnce() throws {
        let stage = try Stage(Self.rule(), answer: Self.answers)
        let questions = Questions(stage.proxy)
        let client = try stage.client()
        client.send(stage.head("POST", "/a?token=secret", fields: "Content-Length: 3\r\n") + "abc")
        let id = try questions.next()
        let held = try #require(stage.proxy.server.approvals.waiting.first)
        #expect(held.method == "POST" && held.url == stage.url("/a") && held.rule == "ask" && held.client == "127.0.0.1")
        #expect(stage.requestCount() == 0)
        #expect(questions.answer(id, allows: true))
        #expect(!questions.answer(id, allows: false))
        #expect(try client.readResponse(to: "POST").text == "answer")
        client.send(stage.head("GET", "/b"))
        #expect(questions.answer(try questions.next(), allows: false))
        let denied = try client.readResponse()
        #expect(denied.status == 403 && denied.code == "approval_denied" && denied.detail == "denied")
        #expect(stage.requestCount() == 1 && stage.proxy.server.approvals.waiting.isEmpty)
        let line = try #require(try stage.proxy.logLines().last)
        #expect(line.contains("\"error\":\"approval_denied\"") && line.contains("\"rule\":\"ask\""))
    }

    @Test("At its deadline a request is denied, or allowed if the rule says so", arguments: ["deny", "allow"])
    func timesOut(otherwise: String) throws {
        let stage = try Stage(Self.rule("timeout: 1s, otherwise: \(otherwise)"), answer: Self.answers)
        let questions = Questions(stage.proxy)
        let response = try stage.fetch("/a")
        #expect(otherwise == "allow" ? response.text == "answer" : response.detail == "timeout")
        #expect(questions.count(.timedOut) == 1)
        #expect(!questions.answer(try questions.next(), allows: true))
    }

    @Test("An answer until Larder stops also applies to equal requests, or to the host; a permanent name of a rule forgets it")
    func remembers() throws {
        let stage = try Stage(Self.rule(), answer: Self.answers)
        let questions = Questions(stage.proxy)
        let first = try stage.client()
        first.send(stage.head("GET", "/a"))
        #expect(questions.answer(try questions.next(), allows: true, .run))
        #expect(try first.readResponse().text == "answer")
        #expect(try stage.fetch("/a?x").text == "answer")
        first.send(stage.head("GET", "/b"))
        #expect(questions.answer(try questions.next(), allows: false, .run, .host))
        #expect(try first.readResponse().detail == "denied")
        #expect(try stage.fetch("/c").detail == "denied")
        #expect(questions.count(.remembered) == 2)
        // Rules with another name ask again.
        try stage.proxy.reload("rules: [{name: other, ask: {timeout: 1h}}]")
        first.send(stage.head("GET", "/c"))
        #expect(questions.answer(try questions.next(), allows: true))
        #expect(try first.readResponse().text == "answer")
    }

    @Test("A client that leaves frees its place, and a request beyond the places is denied at once")
    func bounds() throws {
        let stage = try Stage(Self.rule(), change: { $0.proxyLimits.heldRequests = 2 }, answer: Self.answers)
        let questions = Questions(stage.proxy)
        let clients = try (0..<2).map { _ in try stage.client() }
        for client in clients {
            client.send(stage.head("GET", "/a"))
            _ = try questions.next()
        }
        #expect(try stage.fetch("/a").detail == "queue_full")
        clients[0].reset()
        try eventually { questions.count(.clientGone) == 1 }
        let third = try stage.client()
        third.send(stage.head("GET", "/b"))
        #expect(questions.answer(try questions.next(), allows: true))
        #expect(try third.readResponse().text == "answer")
        #expect(stage.requestCount() == 1)
    }

    @Test("The texts of held requests have a limit too")
    func boundsBytes() throws {
        let stage = try Stage(Self.rule(), change: { $0.proxyLimits.heldBytes = 100 }, answer: Self.answers)
        #expect(try stage.fetch("/a/rather/long/path").detail == "queue_full")
    }

    @Test("A stop denies every held request once, on all loops", arguments: [1, 4])
    func stops(loops: Int) throws {
        let stage = try Stage(Self.rule(), loops: loops, answer: Self.answers)
        let questions = Questions(stage.proxy)
        let clients = try (0..<40).map { _ in try stage.client() }
        for client in clients { client.send(stage.head("GET", "/a")) }
        let ids = try clients.map { _ in try questions.next() }
        #expect(Set(ids).count == 40)
        #expect(questions.answer(ids[0], allows: true))
        stage.proxy.server.drain {}
        let responses = try clients.map { try $0.readResponse() }
        #expect(responses.count { $0.status == 200 } == 1)
        #expect(responses.count { $0.detail == "stopping" } == 39)
        #expect(questions.count(.allowed) == 1 && questions.count(.stopped) == 39)
        #expect(!questions.answer(ids[1], allows: true))
    }

    @Test("Rules that became active meanwhile, and the address policy, decide about an allowed request too")
    func overridesNothing() throws {
        let stage = try Stage(Self.rule(), answer: Self.answers)
        let questions = Questions(stage.proxy)
        let client = try stage.client()
        client.send(stage.head("GET", "/a"))
        let id = try questions.next()
        try stage.proxy.reload("rules: [{name: no, deny: {}}]")
        #expect(questions.answer(id, allows: true))
        #expect(try client.readResponse().code == "denied_by_rule")
        try stage.proxy.reload(Self.rule() + "\negress: {addresses: {deny: [127.0.0.0/8]}}")
        client.send(stage.head("GET", "/a"))
        #expect(questions.answer(try questions.next(), allows: true))
        #expect(try client.readResponse().code == "destination_prohibited")
        #expect(stage.requestCount() == 0)
    }

    @Test("Without anybody who can answer, the rule's otherwise applies at once")
    func noApprover() throws {
        let stage = try Stage(Self.rule(), change: { $0.hasApprovers = false }, answer: Self.answers)
        #expect(try stage.fetch("/a").detail == "no_approver")
    }

    @Test("Streams of HTTP/2 wait independently of each other")
    func http2() throws {
        let stage = try Stage(Self.rule(), answer: Self.answers)
        let questions = Questions(stage.proxy)
        let client = try HTTP2Client(stage.client())
        let first = try client.begin("GET", stage.url("/a"))
        let id = try questions.next()
        let second = try client.begin("GET", stage.url("/b"))
        #expect(questions.answer(try questions.next(), allows: false))
        #expect(try client.readResponse(on: second).status == 403)
        #expect(questions.answer(id, allows: true))
        #expect(try client.readResponse(on: first).text == "answer")
    }

    @Test("In an intercepted tunnel the requests wait, and a tunnel that is not intercepted waits itself")
    func tunnels() throws {
        let stage = try InterceptingStage(Self.rule())
        let questions = Questions(stage.proxy)
        let client = try stage.secure()
        client.send(stage.head("/a"))
        #expect(questions.answer(try questions.next(), allows: true))
        #expect(try client.readResponse().text == "answer to GET /a")
        let blind = try RawClient(port: stage.proxy.port, owner: stage)
        let connect = "CONNECT tunnel.test:\(stage.origin.port) HTTP/1.1\r\nHost: tunnel.test\r\n\r\n"
        blind.send(connect)
        #expect(questions.answer(try questions.next(), allows: false))
        #expect(try blind.readResponse(to: "CONNECT").code == "approval_denied")
        let opened = try RawClient(port: stage.proxy.port, owner: stage)
        opened.send(connect)
        #expect(questions.answer(try questions.next(), allows: true))
        #expect(try opened.readResponse(to: "CONNECT").status == 200)
    }
}
