import HTTPMessage
import Testing

@testable import ProxyCore

@Suite("Client authentication (RFC 9110 §11.7, RFC 7617)")
struct CredentialsTests {
    private static let good = "Proxy-Authorization: Basic \(Base64.encode(Array("alice:open sesame".utf8)))"

    private func book(rules: [[String: Setting]] = []) throws -> Playbook {
        let book = try Playbook(rules: rules)
        book.exchange.incoming.sender = RequestSender(needsCredentials: true)
        return book
    }

    private func judged(_ judgement: CredentialsJudgement) -> Playbook.Step {
        .event { .credentialsJudged(judgement, at: $0) }
    }

    @Test("A request without credentials gets 407 with a challenge, and nothing is looked up")
    func challenges() throws {
        let book = try book()
        try book.run(.request("GET http://a.example/x"), [.sendError], .delivered, [.finish])
        let written = try #require(book.written)
        #expect(written.status == 407)
        #expect(written["proxy-authenticate"] == #"Basic realm="Larder", charset="UTF-8""#)
        #expect(
            written["proxy-status"] == #"larder; error=http_request_denied; details="proxy_authentication_required: missing""#)
        #expect(written["cache-status"] == nil)
        let body = try JSONBody(written.body)
        #expect(body["code"] == "proxy_authentication_required" && body["detail"] == "missing")
        #expect(book.exchange.trace.outcome == .denied)
        #expect(book.exchange.delivery.keepsConnection)
    }

    @Test("HEAD is challenged without content; CONNECT is challenged before a tunnel opens, and its connection closes")
    func challengesOthers() throws {
        var book = try book()
        try book.run(.request("HEAD http://a.example/x"), [.sendError], .delivered, [.finish])
        #expect(book.written?.status == 407)
        book = try self.book()
        try book.run(.request("CONNECT a.example:443"), [.sendError], .delivered, [.finish])
        #expect(book.written?.status == 407)
        #expect(!book.exchange.delivery.keepsConnection)
    }

    @Test(
        "Invalid credentials count as none, and several fields are refused",
        arguments: [
            ["Proxy-Authorization: Basic !!!"], ["Proxy-Authorization: Bearer abc"], ["Proxy-Authorization:"],
            [good, good], [good, "Proxy-Authorization: Basic YTpi"], ["\(good), Basic YTpi"],
            ["Proxy-Authorization: Basic \(Base64.encode(Array("a\0b:c".utf8)))"],
            ["Proxy-Authorization: Basic \(String(repeating: "YTpi", count: 2000))"],
        ])
    func refusesMalformed(fields: [String]) throws {
        let book = try book()
        try book.run(.request("GET http://a.example/x", fields), [.sendError], .delivered, [.finish])
        #expect(book.written?.status == 407)
        #expect(try JSONBody(#require(book.written).body)["detail"] == "malformed")
    }

    @Test("Accepted credentials name the user, and are removed before the request is matched or forwarded")
    func admits() throws {
        let book = try book(rules: [["match": ["path": "/x"], "deny": ["reason": "no"]]])
        try book.run(
            .request("GET http://a.example/y", Self.good, "X-A: 1"), [.judgeCredentials], judged(.accepted),
            [.lookUp(onDisk: false)], .found([]), [.joinFetch], .leads, [.fetch])
        #expect(book.exchange.incoming.sender?.user == Array("alice".utf8))
        #expect(book.exchange.incoming.credentials == nil)
        #expect(!book.exchange.request.fields.contains(.proxyAuthorization))
        #expect(book.forwarded("x-a") == "1")
    }

    @Test("Rules and tunnel ports apply to authenticated clients too")
    func rulesStillHold() throws {
        let book = try book(rules: [["match": ["path": "/x"], "deny": ["reason": "no"]]])
        try book.run(
            .request("GET http://a.example/x", Self.good), [.judgeCredentials], judged(.accepted), [.sendError], .delivered,
            [.finish])
        #expect(book.written?.status == 403)
        let tunnel = try self.book()
        try tunnel.run(
            .request("CONNECT a.example:25", Self.good), [.judgeCredentials], judged(.accepted), [.sendError], .delivered,
            [.finish])
        #expect(tunnel.written?.status == 403)
    }

    @Test(
        "A refusal does not tell which part of the credentials is wrong",
        arguments: [
            (CredentialsJudgement.refused, 407, "proxy_authentication_required", true),
            (.tooManyAttempts, 429, "too_many_attempts", false), (.queueFull, 503, "authentication_queue_full", true),
        ])
    func refuses(judgement: CredentialsJudgement, status: Int, code: String, keepsConnection: Bool) throws {
        let book = try book()
        try book.run(
            .request("GET http://a.example/x", Self.good), [.judgeCredentials], judged(judgement), [.sendError], .delivered,
            [.finish])
        let written = try #require(book.written)
        #expect(written.status == status)
        #expect(try JSONBody(written.body)["code"] == code)
        #expect((written["proxy-authenticate"] != nil) == (status == 407))
        #expect((written["retry-after"] != nil) == (status != 407))
        #expect(book.exchange.delivery.keepsConnection == keepsConnection)
        #expect(book.exchange.incoming.sender?.user.isEmpty != false && book.exchange.incoming.credentials == nil)
    }

    @Test("If the client disconnects during password verification, the exchange ends and the result is ignored")
    func clientLeaves() throws {
        let book = try book()
        try book.run(
            .request("GET http://a.example/x", Self.good), [.judgeCredentials], .clientGone, [.cancelUpstream, .finish],
            judged(.accepted), [])
    }

    @Test("A client that need not authenticate is not challenged, and its credentials are ignored")
    func asksNobody() throws {
        let book = try Playbook()
        try book.run(.request("GET http://a.example/x", Self.good), [.lookUp(onDisk: false)])
        #expect(!book.exchange.request.fields.contains(.proxyAuthorization))
        #expect(book.exchange.incoming.sender?.user.isEmpty != false)
    }

    @Test("Each request on a connection is authenticated separately")
    func asksEach() throws {
        let book = try book()
        try book.run(
            .request("GET http://a.example/x", Self.good), [.judgeCredentials], judged(.refused), [.sendError], .delivered,
            [.finish])
        book.exchange.begin(id: 2, context: book.exchange.context)
        #expect(book.exchange.incoming.sender == nil)
    }
}
