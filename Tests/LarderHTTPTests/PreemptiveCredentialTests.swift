import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: credentials without a challenge, and the credentials of one request")
struct PreemptiveCredentialTests {
    private static let password = HTTPCredential.password(user: "a", password: "b")
    private static let basic = "Basic YTpi"

    private let authority = TestAuthority()

    /// Answers with the Authorization that it got. `/to/PORT` redirects, and `/basic`, `/digest` and `/bearer` refuse Basic.
    private static func answer(_ request: OriginRequest, _ connection: borrowing OriginConnection) {
        let told = request["Authorization"] ?? "-"
        if request.target.hasPrefix("/to/") {
            connection.respond("302 Found", fields: "Location: https://127.0.0.1:\(request.target.dropFirst(4))/\r\n", body: told)
            return
        }
        let challenge =
            switch request.target {
            case "/basic": "Basic realm=\"r\""
            case "/digest": "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""
            case "/bearer": "Bearer realm=\"r\""
            default: ""
            }
        if challenge.isEmpty || !(told == "-" || told.hasPrefix("Basic")) {
            connection.respond(body: told)
        } else {
            connection.respond("401 No", fields: "WWW-Authenticate: \(challenge)\r\n", body: told)
        }
    }

    private func origin() -> ScriptedOrigin {
        ScriptedOrigin(identity: authority.identity()) { connection in
            while let head = connection.readHead() { Self.answer(OriginRequest(head: head), connection) }
        }
    }

    private func session(_ change: (inout SessionConfiguration) -> Void) throws -> HTTPSession {
        var configuration = SessionConfiguration()
        configuration.retries = .never
        change(&configuration)
        return try HTTPSession(configuration: configuration, trust: .policies(authority.policies()))
    }

    private static func received(by origin: ScriptedOrigin) -> [String?] {
        origin.requestHeads.map { OriginRequest(head: $0)["Authorization"] }
    }

    @Test("Over https, a preemptive credential is in the first request, and no other origin gets it by a redirect")
    func staysAtItsOrigin() async throws {
        let (first, second) = (origin(), origin())
        defer {
            first.stop()
            second.stop()
        }
        for credential in [Self.password, .bearer("t")] {
            let before = first.requestHeads.count
            let session = try session {
                $0.authentication.credentials = [
                    .preemptive(host: "127.0.0.1", port: UInt16(first.port), credential: credential)
                ]
            }
            let field = credential == Self.password ? Self.basic : "Bearer t"
            #expect(try await session.get("https://127.0.0.1:\(first.port)/").text == field)
            #expect(try await session.get("https://127.0.0.1:\(first.port)/to/\(second.port)").text == "-")
            #expect(Self.received(by: first).dropFirst(before) == [field, field])
            // A redirect back to the origin is a request to it.
            #expect(try await session.get("https://127.0.0.1:\(second.port)/to/\(first.port)").text == field)
        }
        #expect(Self.received(by: second).allSatisfy { $0 == nil })
        #expect(second.requestHeads.count == 4)
    }

    @Test("A preemptive credential without a port is for the default port alone")
    func isForOnePort() async throws {
        let origin = origin()
        defer { origin.stop() }
        let session = try session {
            $0.authentication.credentials = [.preemptive(host: "127.0.0.1", credential: Self.password)]
        }
        #expect(try await session.get("https://127.0.0.1:\(origin.port)/").text == "-")
        #expect(try await session.get("https://127.0.0.1:\(origin.port)/basic").status == 401)
        #expect(Self.received(by: origin) == [nil, nil])
    }

    @Test("A refused preemptive credential is not sent again; Digest and a handler's credential replace it")
    func answersRefusals() async throws {
        let origin = origin()
        defer { origin.stop() }
        let (uri, port) = ("https://127.0.0.1:\(origin.port)", UInt16(origin.port))
        let entry = ChallengePolicy.Entry.preemptive(host: "127.0.0.1", port: port, credential: Self.password)
        let plain = try session { $0.authentication.credentials = [entry] }
        #expect(try await plain.get(uri + "/basic").status == 401)
        #expect(try await plain.get(uri + "/bearer").status == 401)
        #expect(Self.received(by: origin) == [Self.basic, Self.basic])
        // The digest is accepted, so the next request has it in place of Basic.
        #expect(try await plain.get(uri + "/digest").text.hasPrefix("Digest username=\"a\""))
        #expect(try await plain.get(uri + "/").text.hasPrefix("Digest username=\"a\""))
        #expect(origin.requestHeads.count == 5)
        let handled = try session {
            $0.authentication.credentials = [entry]
            $0.authentication.handler = { _ in .credential(.bearer("t")) }
        }
        #expect(try await handled.get(uri + "/bearer").text == "Bearer t")
        #expect(try await handled.get(uri + "/").text == "Bearer t")
        #expect(origin.requestHeads.count == 8)
    }

    @Test("A request's own Authorization is sent in place of a preemptive credential")
    func yieldsToTheRequest() async throws {
        let origin = origin()
        defer { origin.stop() }
        let session = try session {
            $0.authentication.credentials = [
                .preemptive(host: "127.0.0.1", port: UInt16(origin.port), credential: Self.password)
            ]
        }
        let own = SessionRequest(.get, "https://127.0.0.1:\(origin.port)/", fields: ["Authorization": "Own x"])
        #expect(try await session.send(own).text == "Own x")
    }

    @Test("The credentials of one request are used for it alone, also after its redirect, and are not remembered")
    func obeysRequest() async throws {
        let origin = origin()
        defer { origin.stop() }
        let uri = "https://127.0.0.1:\(origin.port)"
        let session = try session {
            $0.authentication.credentials = [.init(host: "127.0.0.1", credential: .bearer("session"))]
        }
        func send(_ path: String, _ change: (inout ChallengePolicy) -> Void) async throws -> SessionResponse {
            var request = SessionRequest(.get, uri + path)
            var policy = ChallengePolicy()
            change(&policy)
            request.options.authentication = policy
            return try await session.send(request)
        }
        let own = try await send("/bearer") { $0.credentials = [.init(host: "127.0.0.1", credential: .bearer("own"))] }
        #expect(own.text == "Bearer own" && own.metrics.exchanges.map(\.status) == [401, 200])
        #expect(try await session.get(uri + "/").text == "-")
        #expect(try await session.get(uri + "/bearer").text == "Bearer session")
        // The session remembers its own credential now. A request with another policy does not get it.
        #expect(try await session.get(uri + "/").text == "Bearer session")
        #expect(try await send("/") { _ in }.text == "-")
        #expect(try await send("/bearer") { _ in }.status == 401)
        let handled = try await send("/bearer") { $0.handler = { _ in .credential(.bearer("handler")) } }
        #expect(handled.text == "Bearer handler")
        let unasked = try await send("/to/\(origin.port)") {
            $0.credentials = [.preemptive(host: "127.0.0.1", port: UInt16(origin.port), credential: Self.password)]
        }
        #expect(unasked.text == Self.basic && unasked.metrics.redirectCount == 1)
        #expect(try await session.get(uri + "/").text == "Bearer session")
    }
}
