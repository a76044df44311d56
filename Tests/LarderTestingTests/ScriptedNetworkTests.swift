import HTTPSerialization
import LarderHTTP
import LarderTesting
import Testing

@Suite("A scripted network: replies, and the requests that were sent")
struct ScriptedNetworkTests {
    private struct Item: Codable, Equatable, Sendable { let name: String }

    @Test("A session gets a scripted response as if a server had sent it, and has no connection")
    func responds() async throws {
        let network = ScriptedNetwork()
        network.on(.get, "/items/1", reply: try .json(encoding: Item(name: "jam")).with(fields: ["ETag": "\"1\""]))
        let session = try HTTPSession(network)
        let item = try await session.value(SessionRequest(.get, "https://api.example/items/1"), as: DecodableSerializer<Item>())
        #expect(item == Item(name: "jam"))
        let response = try await session.get("http://other.example/items/1", parameters: ["page": "2"])
        #expect(response.status == 200 && response.text == "{\"name\":\"jam\"}")
        #expect(response.fields["ETag"] == "\"1\"" && response.fields["Content-Length"] == "14")
        #expect(response.metrics.exchanges.map(\.remoteAddress) == [nil])
        try network.check()
    }

    @Test("The requests have the fields and the content that the session sends, whatever the content's source")
    func keepsRequests() async throws {
        let network = ScriptedNetwork()
        network.on(.post, "https://api.example/*", reply: .status(204, fields: ["Set-Cookie": "a=1"]))
        var configuration = SessionConfiguration()
        configuration.cookies = CookieJar()
        let session = try HTTPSession(network, configuration: configuration)
        _ = try await session.post("https://api.example/form", parameters: ["name": "jam"])
        let stream = BodyStream(replaying: {
            AsyncStream {
                $0.yield([1, 2]); $0.yield([3]); $0.finish()
            }
        })
        _ = try await session.upload(SessionRequest(.post, "https://api.example/stream"), from: .stream(stream))
        let requests = network.requests
        #expect(requests.map(\.description) == ["POST https://api.example/form", "POST https://api.example/stream"])
        #expect(requests[0].text == "name=jam" && requests[0].fields["User-Agent"] == "Larder")
        #expect(requests[1].body == [1, 2, 3] && requests[1].fields["Cookie"] == "a=1")
        #expect(network.requests(.post, to: "/stream").count == 1 && network.requests(.get, to: "/stream").isEmpty)
    }

    @Test("A source of content that fails, fails the request, and sends nothing")
    func failsWithItsSource() async throws {
        let network = ScriptedNetwork()
        let session = try HTTPSession(network)
        await #expect(throws: SessionError(.fileFailed)) {
            try await session.upload(SessionRequest(.put, "http://a.example/"), from: .file(path: "/nonexistent"))
        }
        let short = BodyStream(
            length: 5,
            replaying: {
                AsyncStream {
                    $0.yield([1]); $0.finish()
                }
            })
        await #expect(throws: SessionError(.bodySourceFailed)) {
            try await session.upload(SessionRequest(.put, "http://a.example/"), from: .stream(short))
        }
        #expect(network.requests.isEmpty)
    }

    @Test("A request without a reply fails at once and says what the script has; the check names it")
    func refusesTheUnexpected() async throws {
        let network = ScriptedNetwork()
        network.on(.get, "/items", reply: .json("[]"))
        let session = try HTTPSession(network)
        let error = await #expect(throws: SessionError.self) { try await session.get("https://api.example/item") }
        #expect(error?.code == .hostNotAllowed)
        #expect(
            error?.causes.first?.detail
                == "no reply is scripted for GET https://api.example/item. The script has GET /items.")
        let thrown = #expect(throws: ScriptFailure.self) { try network.check() }
        #expect(
            thrown?.description
                == "Requests without a scripted reply: GET https://api.example/item. The script has GET /items. "
                + "Replies that no request used: GET /items.")
        #expect(network.unexpectedRequests.count == 1)
    }

    @Test("Replies of a list are used once each, in order; those that are left fail the check")
    func usesLists() async throws {
        let network = ScriptedNetwork()
        network.on(.get, "/a", replies: [.text("1"), .text("2"), .text("3")])
        network.on(.get, "/a", respond: { request in .text("\(request.uri.query ?? "none")") })
        let session = try HTTPSession(network)
        var texts: [String] = []
        for _ in 0..<2 { texts.append(try await session.get("http://a.example/a").text) }
        let left = #expect(throws: ScriptFailure.self) { try network.check() }
        #expect(left?.description == "Replies that no request used: GET /a (1 of 3), GET /a.")
        try network.check(allowsUnused: true)
        for _ in 0..<2 { texts.append(try await session.get("http://a.example/a?q=7").text) }
        #expect(texts == ["1", "2", "3", "q=7"])
        try network.check()
        try network.check(.get, "/a", times: 4)
        let failure = #expect(throws: ScriptFailure.self) { try network.check(.delete, "/a") }
        #expect(
            failure?.description.hasPrefix(
                "DELETE /a was sent 0 times, and 1 were expected. All requests: GET http://a.example/a,")
                == true)
    }

    @Test(
        "A pattern is a path of any origin or a URL, with a query or for every query, and may end with a star",
        arguments: [
            ("/items", "http://a.example/items?page=2", true), ("/items?page=2", "http://a.example/items?page=2", true),
            ("/items?page=1", "http://a.example/items?page=2", false), ("/items", "http://a.example/items/1", false),
            ("/items/*", "http://a.example/items/1?x", true), ("http://A.example:80/items", "http://a.example/items", true),
            ("https://a.example/items", "http://a.example/items", false), ("http://a.example/*", "http://a.example/x?y", true),
        ])
    func matches(pattern: String, target: String, isMeant: Bool) async throws {
        let network = ScriptedNetwork()
        network.on(.get, pattern, reply: .status(200))
        let session = try HTTPSession(network)
        let code: SessionError.Code?
        do {
            _ = try await session.get(target)
            code = nil
        } catch { code = error.code }
        #expect(code == (isMeant ? nil : .hostNotAllowed))
    }

    @Test("Responses to HEAD and with 204 have no content, and trailers follow content of unknown length")
    func framesContent() async throws {
        let network = ScriptedNetwork()
        var reply = ScriptedReply.text("content")
        network.on(.head, "/", reply: reply)
        reply.trailers = ["Digest": "x"]
        network.on(.get, "/", reply: reply)
        network.on(where: { $0.method == .delete }, respond: { _ in .status(204) })
        let session = try HTTPSession(network)
        let head = try await session.head("http://a.example/")
        #expect(head.body.isEmpty && head.fields["Content-Length"] == "7")
        let whole = try await session.get("http://a.example/")
        #expect(whole.text == "content" && whole.trailers["Digest"] == "x" && whole.fields["Content-Length"] == nil)
        #expect(try await session.delete("http://a.example/").body.isEmpty)
    }

    @Test("Redirects, the cache and content read in pieces work as with a server")
    func worksAsUsual() async throws {
        let network = ScriptedNetwork()
        network.on(.get, "/old", reply: .redirect(to: "/new"))
        network.on(.get, "/new", reply: .text("new").with(fields: ["Cache-Control": "max-age=60"]))
        var configuration = SessionConfiguration()
        configuration.cache = MemoryResponseCache()
        let session = try HTTPSession(network, configuration: configuration)
        for _ in 0..<2 { #expect(try await session.get("http://a.example/old").text == "new") }
        #expect(network.requests(to: "/new").count == 1 && network.requests(to: "/old").count == 2)

        network.on(
            .get, "/long", reply: ScriptedReply(body: [UInt8](repeating: 7, count: 2 << 20)).pausing(for: .seconds(1), after: 9))
        let response = try await session.open(SessionRequest(.get, "http://a.example/long"))
        var count = 0
        for try await piece in response.body { count += piece.count }
        #expect(count == 2 << 20)
    }
}
