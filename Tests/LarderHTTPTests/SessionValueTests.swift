import HTTPSerialization
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: parameters, values and codings")
struct SessionValueTests {
    /// `hello` three times, as gzip with stored blocks only.
    static let plain = Array("hello hello hello".utf8)
    static let gzip: [UInt8] =
        [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1, 17, 0, 0xEE, 0xFF,
        ] + plain + [0x80, 0x88, 0xF9, 0xE5, 17, 0, 0, 0]

    @Test("Parameters are in the query for GET, HEAD and DELETE, before a fragment, and in a form for other methods")
    func sendsParameters() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            guard let body = connection.readBody(of: request) else { return false }
            let type = request["Content-Type"] ?? "-"
            return connection.respond(
                body: request.method == "HEAD"
                    ? "" : "\(request.method) \(request.target) \(type) \(String(decoding: body, as: UTF8.self))")
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        let parameters: JSONObject = ["a": "b c", "n": 1]
        #expect(try await session.get(origin.uri("/p?x#f"), parameters: parameters).text == "GET /p?x&a=b%20c&n=1 - ")
        #expect(try await session.delete(origin.uri("/p"), parameters: parameters).text == "DELETE /p?a=b%20c&n=1 - ")
        let form = "application/x-www-form-urlencoded"
        #expect(try await session.post(origin.uri("/p"), parameters: parameters).text == "POST /p \(form) a=b%20c&n=1")
        #expect(try await session.put(origin.uri("/p"), parameters: nil).text == "PUT /p \(form) ")
        #expect(try await session.patch(origin.uri("/p"), parameters: parameters).text == "PATCH /p \(form) a=b%20c&n=1")
        #expect(try await session.head(origin.uri("/p"), parameters: parameters).status == 200)
        let json = try SessionRequest(.post, origin.uri("/j"), parameters: .object(parameters), as: JSONRequestSerializer())
        #expect(try await session.send(json).text == "POST /j application/json {\"a\":\"b c\",\"n\":1}")
        var parts = MultipartForm()
        parts.append("field", "value")
        let sent = try await session.upload(SessionRequest(.post, origin.uri("/m")), parts: parts).text
        #expect(sent.hasPrefix("POST /m multipart/form-data; boundary="))
        #expect(sent.contains("value"))
    }

    @Test("A serializer turns the response into a value; faults are listed from the outermost, with the response and its body")
    func makesValues() async throws {
        struct Person: Decodable, Equatable { let name: String }
        let origin = ScriptedOrigin.answering { request, connection in
            switch request.target {
            case "/good": connection.respond(fields: "Content-Type: application/json\r\n", body: "{\"name\": \"a\"}")
            case "/bad": connection.respond(fields: "Content-Type: application/json\r\n", body: "{name")
            case "/missing": connection.respond("404 No", fields: "Content-Type: application/json\r\n", body: "{\"error\": 1}")
            default: connection.respond("500 No", fields: "Content-Type: text/html\r\n", body: "<p>")
            }
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        let serializer = DecodableSerializer<Person>()
        #expect(try await session.value(SessionRequest(.get, origin.uri("/good")), as: serializer) == Person(name: "a"))
        #expect(OriginRequest(head: origin.requestHeads[0])["Accept"]?.contains("application/json") == true)
        for (path, codes) in [
            ("/bad", [SessionError.Code.malformedJSON]), ("/missing", [.unacceptableStatus]),
            ("/html", [.unacceptableStatus, .unacceptableContentType]),
        ] {
            let error = try await HTTPSession.failure {
                try await session.value(SessionRequest(.get, origin.uri(path)), as: serializer)
            }
            #expect(error.causes.map(\.code) == codes, "\(path)")
            #expect(!error.partialBody.isEmpty)
            #expect(error.response != nil)
        }
    }

    @Test(
        "An unregistered status is reported as unacceptable, and the error has the response",
        arguments: [100, 199, 600, 799, 999])
    func acceptsAnyStatus(status: Int) async throws {
        // 100 and 199 are interim responses, followed by the final one.
        let origin = ScriptedOrigin.answering { request, connection in
            connection.send("HTTP/1.1 \(status) X\r\n\r\n")
            return status < 200 ? connection.respond("600 X", body: "{}") : false
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        let request = SessionRequest(.get, origin.uri())
        let final = max(status, 600)
        let error = try await HTTPSession.failure { try await session.value(request, as: RawSerializer()) }
        #expect(error.causes.map(\.code) == [.unacceptableStatus])
        #expect(error.response?.status == final)
        let all = RawSerializer(validation: ResponseValidation(statuses: [final...final]))
        #expect(try await session.value(request, as: all) == (status < 200 ? Array("{}".utf8) : []))
    }

    @Test("A coding that the session requested is decoded, whole and streamed; one that the caller requested is not")
    func decodes() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            let body = request.target == "/cut" ? Array(Self.gzip.dropLast(3)) : Self.gzip
            let coding = request.target == "/odd" ? "odd" : "gzip"
            return connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n")
                && connection.send(bytes: body)
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        let whole = try await session.send(SessionRequest(.get, origin.uri()))
        #expect(whole.body == Self.plain)
        #expect(whole.fields["Content-Encoding"] == nil && whole.fields["Content-Length"] == nil)
        #expect(try await session.open(SessionRequest(.get, origin.uri())).body.collect(atMost: 100) == Self.plain)
        let own = try await session.send(SessionRequest(.get, origin.uri(), fields: ["Accept-Encoding": "gzip"]))
        #expect(own.body == Self.gzip)
        for path in ["/cut", "/odd"] {
            let error = try await HTTPSession.failure { try await session.send(SessionRequest(.get, origin.uri(path))) }
            #expect(error.code == .malformedContentCoding)
            let later = try await HTTPSession.failure {
                try await session.open(SessionRequest(.get, origin.uri(path))).body.collect(atMost: 100)
            }
            #expect(later.code == .malformedContentCoding)
        }
        let raw = try HTTPSession.plain { $0.decodesContent = false }
        #expect(try await raw.send(SessionRequest(.get, origin.uri())).body == Self.gzip)
    }
}
