import HTTPCaching
import HTTPSerialization
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: values with their responses, and the bodies of error responses")
struct ValueResponseTests {
    private struct User: Decodable, Equatable { let name: String }
    private struct APIProblem: Decodable, Equatable { let error: String }

    /// `/user` has a user, `/missing` a 404 with a JSON body, `/problem` a 409 with problem details, `/page` a 404 with HTML.
    private static func api() -> ScriptedOrigin {
        ScriptedOrigin.answering { request, connection in
            let json = "Content-Type: application/json\r\n"
            switch request.target {
            case "/user": return connection.respond(fields: json + "X-Rate: 7\r\n", body: "{\"name\": \"a\"}")
            case "/moved": return connection.respond("302 Found", fields: "Location: /user\r\n")
            case "/missing": return connection.respond("404 No", fields: json, body: "{\"error\": \"no user\"}")
            case "/torn": return connection.respond("404 No", fields: json, body: "{\"err")
            case "/problem":
                return connection.respond(
                    "409 No", fields: "Content-Type: application/problem+json\r\n",
                    body: "{\"type\": \"urn:x\", \"title\": \"Taken\", \"status\": 409, \"name\": \"a\"}")
            case "/other": return connection.respond(fields: json, body: "{\"id\": 1}")
            default: return connection.respond("404 No", fields: "Content-Type: text/html\r\n", body: "<p>")
            }
        }
    }

    @Test("A value comes with the status, fields, URI and metrics of its response")
    func hasItsResponse() async throws {
        let origin = Self.api()
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        let response = try await session.response(SessionRequest(.get, origin.uri("/moved")), as: User.self)
        #expect(response.value == User(name: "a"))
        #expect(response.status == 200 && response.fields["X-Rate"] == "7" && response.uri.path == "/user")
        #expect(response.metrics.exchanges.map(\.status) == [302, 200] && response.metrics.redirectCount == 1)
        #expect(response.cache == nil && response.trust == nil)
        #expect(try await session.value(SessionRequest(.get, origin.uri("/user")), as: User.self) == User(name: "a"))
    }

    @Test("An error response has the code of its status, whatever its body is, and the error decodes the body as another type")
    func separatesStatusFromDecoding() async throws {
        let origin = Self.api()
        defer { origin.stop() }
        let ends = EventStream()
        let session = try HTTPSession.plain { $0.monitors = [ends] }
        func error(_ path: String) async throws -> SessionError {
            try await HTTPSession.failure { try await session.response(SessionRequest(.get, origin.uri(path)), as: User.self) }
        }
        let missing = try await error("/missing")
        #expect(missing.causes.map(\.code) == [.unacceptableStatus] && missing.response?.status == 404)
        #expect(missing.value(as: APIProblem.self) == APIProblem(error: "no user"))
        #expect(missing.value(as: User.self) == nil)
        #expect(missing.metrics?.exchanges.map(\.status) == [404])
        #expect(try await error("/torn").causes.map(\.code) == [.unacceptableStatus])
        let page = try await error("/page")
        #expect(page.causes.map(\.code) == [.unacceptableStatus, .unacceptableContentType])
        #expect(page.value(as: APIProblem.self) == nil && page.value(as: TextSerializer()) == "<p>")
        let problem = try await error("/problem").value(as: ProblemDetailsSerializer())
        #expect(problem == ProblemDetails(type: "urn:x", title: "Taken", status: 409, extensions: ["name": "a"]))
        #expect(try await error("/other").code == .otherType)
        // The monitors are told of each failure, also if it is the serializer's.
        ends.finish()
        var codes: [SessionError.Code?] = []
        for await event in ends.events {
            if case .completed(let error, _) = event.kind { codes.append(error?.code) }
        }
        #expect(codes == [.unacceptableStatus, .unacceptableStatus, .unacceptableStatus, .unacceptableStatus, .otherType])
    }

    @Test("`or` decodes the body of an error response; without such a body, the call fails with the status")
    func decodesProblems() async throws {
        let origin = Self.api()
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        func outcome(_ path: String) async throws -> ValueOrProblem<User, ProblemDetails> {
            try await session.response(
                SessionRequest(.get, origin.uri(path)), as: DecodableSerializer<User>(), or: ProblemDetailsSerializer())
        }
        #expect(try await outcome("/user").get().value == User(name: "a"))
        #expect(OriginRequest(head: origin.requestHeads[0])["Accept"]?.hasSuffix(", application/problem+json") == true)
        let found = try await outcome("/problem")
        let problem = try #require(throws: ProblemDetails.self) { try found.get() }
        #expect(problem.description == "Taken")
        guard case .problem(let response) = try await outcome("/problem") else { throw SessionError(.otherType) }
        #expect(response.status == 409 && response.fields["Content-Type"] == "application/problem+json")
        let page = try await HTTPSession.failure { try await outcome("/page") }
        #expect(page.causes.map(\.code) == [.unacceptableStatus, .unacceptableContentType])
        let other = try await HTTPSession.failure { try await outcome("/other") }
        #expect(other.causes.map(\.code) == [.otherType])
        let typed = try await session.response(SessionRequest(.get, origin.uri("/missing")), as: User.self, or: APIProblem.self)
        guard case .problem(let missing) = typed else { throw SessionError(.otherType) }
        #expect(missing.value == APIProblem(error: "no user"))
    }

    @Test("The cache stores only what the serializer accepts, and removes a stored response that the serializer refuses")
    func keepsWhatIsAccepted() async throws {
        let count = SentCount()
        // The first response for each path is a sign-in page, later ones are the user.
        let origin = ScriptedOrigin.answering { request, connection in
            count.add(1)
            let fields = "Cache-Control: max-age=60\r\n"
            if request["X-Page"] != nil {
                return connection.respond(fields: fields + "Content-Type: text/html\r\n", body: "<p>")
            }
            let body = "{\"name\": \"\(count.value)\"}"
            return connection.respond(fields: fields + "Content-Type: application/json\r\n", body: body)
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain { $0.cache = MemoryResponseCache() }
        func user(_ path: String, page: Bool = false) async throws -> ValueResponse<User> {
            let fields: SessionFields = page ? ["X-Page": "1"] : [:]
            return try await session.response(SessionRequest(.get, origin.uri(path), fields: fields), as: User.self)
        }
        let refused = try await HTTPSession.failure { try await user("/a", page: true) }
        #expect(refused.code == .unacceptableContentType)
        let second = try await user("/a")
        #expect(second.value.name == "2" && second.cache?.isHit == false && second.cache?.isStored == true)
        let third = try await user("/a")
        #expect(third.value.name == "2" && third.cache?.isHit == true && third.metrics.exchanges.isEmpty)
        // `send` accepts every response, so its page is stored. The value refuses it, and the next one is requested.
        _ = try await session.send(SessionRequest(.get, origin.uri("/b"), fields: ["X-Page": "1"]))
        #expect(try await HTTPSession.failure { try await user("/b") }.code == .unacceptableContentType)
        #expect(try await user("/b").value.name == "4")
        let loader = ResourceLoader<User>(session) { response in
            try DecodableSerializer<User>().decode(response.body, of: ReceivedHead(status: 200))
        }
        _ = try await HTTPSession.failure { try await loader.value(origin.uri("/c"), fields: ["X-Page": "1"]) }
        #expect(try await loader.value(origin.uri("/c")).name == "6")
    }

    @Test("A validation in the background stores only what the serializer of its request accepts")
    func keepsWhatIsAcceptedInBackground() async throws {
        let count = SentCount()
        let origin = ScriptedOrigin.answering { request, connection in
            count.add(1)
            let fields = "Cache-Control: max-age=0, stale-while-revalidate=600\r\nETag: \"\(count.value)\"\r\n"
            if count.value == 2 { return connection.respond(fields: fields + "Content-Type: text/html\r\n", body: "<p>") }
            let body = "{\"name\": \"\(count.value)\"}"
            return connection.respond(fields: fields + "Content-Type: application/json\r\n", body: body)
        }
        defer { origin.stop() }
        let ends = EventStream()
        let session = try HTTPSession.plain {
            $0.cache = MemoryResponseCache()
            $0.monitors = [ends]
        }
        let request = SessionRequest(.get, origin.uri())
        #expect(try await session.value(request, as: User.self).name == "1")
        let stale = try await session.response(request, as: User.self)
        #expect(stale.value.name == "1" && stale.cache?.detail == "stale_while_revalidate")
        // The third end is that of the validation, whose page is refused.
        var ended = 0
        for await event in ends.events {
            if case .completed = event.kind { ended += 1 }
            if ended == 3 { break }
        }
        var onlyStored = request
        onlyStored.cachePolicy = .storedOnly
        #expect(try await session.value(onlyStored, as: User.self).name == "1")
        #expect(origin.requestHeads.count == 2)
    }
}

@Suite("HTTPSession: what the cache did (RFC 9211)")
struct CacheUseTests {
    @Test("A response says whether it is a hit, and else why its request was sent, in the words of Cache-Status")
    func saysWhatTheCacheDid() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            let fields = "Cache-Control: max-age=\(request.target == "/stale" ? 0 : 600)\r\nETag: \"a\"\r\nVary: X-Kind\r\n"
            if request["If-None-Match"] == "\"a\"" { return connection.respond("304 Not Modified", fields: fields) }
            return connection.respond(fields: fields, body: request.method == "HEAD" ? "" : "a")
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain { $0.cache = MemoryResponseCache() }
        func use(
            _ method: HTTPMethod = .get, _ path: String = "/", _ fields: SessionFields = [:], _ policy: CachePolicy? = nil
        ) async throws -> String? {
            var request = SessionRequest(method, origin.uri(path), fields: fields)
            request.cachePolicy = policy
            let response = try await session.send(request)
            #expect(response.cache?.isHit == response.metrics.exchanges.isEmpty)
            return response.cache?.description
        }
        #expect(try await use() == "fwd=uri-miss; stored")
        let hit = try await session.send(SessionRequest(.get, origin.uri()))
        #expect(hit.cache?.isHit == true && hit.cache?.isFromCache == true && hit.cache?.forwardReason == nil)
        #expect(try #require(hit.cache?.timeToLive) > .seconds(0))
        #expect(try await use(.get, "/", ["X-Kind": "b"]) == "fwd=vary-miss; stored")
        #expect(try await use(.get, "/", ["Cache-Control": "no-cache"]) == "fwd=request; fwd-status=304; detail=request_no_cache")
        #expect(try await use(.get, "/", [:], .reload) == "fwd=bypass; stored; detail=reload")
        #expect(try await use(.get, "/", ["Range": "bytes=0-"]) == "fwd=request; detail=range")
        #expect(try await use(.get, "/", ["If-Match": "\"b\""]) == "fwd=request; detail=origin_condition")
        #expect(try await use(.post) == "fwd=method")
        #expect(try await use(.get, "/stale") == "fwd=uri-miss; stored")
        #expect(try await use(.get, "/stale") == "fwd=stale; fwd-status=304")
        let streamed = try await session.open(SessionRequest(.get, origin.uri("/stream")))
        #expect(streamed.cache?.description == "fwd=uri-miss; stored")
        _ = try await streamed.body.collect(atMost: 10)
        #expect(try await session.open(SessionRequest(.get, origin.uri("/stream"))).cache?.isHit == true)
        #expect(try await HTTPSession.plain().send(SessionRequest(.get, origin.uri())).cache == nil)
    }
}
