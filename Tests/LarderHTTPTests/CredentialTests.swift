import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: challenges (RFC 9110 §11, RFC 7616, RFC 7617, RFC 6750)")
struct CredentialTests {
    private static func scheme(_ name: String, _ parameters: [String: String] = [:]) -> AuthenticationChallenge.Scheme {
        var scheme = AuthenticationChallenge.Scheme(name: name)
        scheme.parameters = parameters
        return scheme
    }

    @Test("Challenges are parsed: several in one line, quoted strings, token68, whitespace, and invalid values")
    func readsChallenges() {
        let cases: [([String], [AuthenticationChallenge.Scheme])] = [
            (["Basic realm=\"a, b=\\\"c\\\"\""], [Self.scheme("basic", ["realm": "a, b=\"c\""])]),
            (
                ["Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\""],
                [
                    Self.scheme("newauth", ["realm": "apps", "type": "1", "title": "Login to \"apps\""]),
                    Self.scheme("basic", ["realm": "simple"]),
                ]
            ),
            (["Negotiate", "Bearer"], [Self.scheme("negotiate"), Self.scheme("bearer")]),
            (["Negotiate abc==, Basic realm=x"], [Self.scheme("negotiate"), Self.scheme("basic", ["realm": "x"])]),
            ([", ,Basic realm = x,"], [Self.scheme("basic", ["realm": "x"])]), (["", "\"", "=x"], []),
        ]
        for (values, schemes) in cases { #expect(AuthenticationChallenge.Scheme.parse(values) == schemes, "\(values)") }
    }

    @Test("MD5 digests match the test vectors of RFC 1321")
    func digestsByMD5() {
        func text(_ message: String) -> String {
            MD5.digest(of: Array(message.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        #expect(text("") == "d41d8cd98f00b204e9800998ecf8427e")
        #expect(text("abc") == "900150983cd24fb0d6963f7d28e17f72")
        #expect(text("message digest") == "f96b697d7cb7938d525a2f31aaf161d0")
        let long = "12345678901234567890123456789012345678901234567890123456789012345678901234567890"
        #expect(text(long) == "57edf4a22be3c955ac49da2e2107b67a")
    }

    @Test("Digest answers match the examples of RFC 7616 §3.9.1", arguments: ["SHA-256", "MD5"])
    func answersDigest(algorithm: String) throws {
        let scheme = Self.scheme(
            "digest",
            [
                "realm": "http-auth@example.org", "qop": "auth, auth-int", "algorithm": algorithm,
                "nonce": "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", "opaque": "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS",
            ])
        let digest = try #require(DigestAccess(scheme, user: "Mufasa", password: "Circle of Life"))
        let answer = digest.answer(
            method: "GET", target: "/dir/index.html", count: 1, clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        let response =
            algorithm == "MD5"
            ? "8ca523f5e9506fed4657c9700eebdbec" : "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"
        #expect(answer.contains("response=\"\(response)\""))
        #expect(answer.contains("nc=00000001, cnonce=\"f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ\", qop=auth"))
        let other = Self.scheme("digest", ["realm": "a", "nonce": "b", "algorithm": "SHA-512-256"])
        #expect(DigestAccess(other, user: "a", password: "b") == nil)
    }

    private static func session(_ change: @escaping (inout ChallengePolicy) -> Void) throws -> HTTPSession {
        try HTTPSession.plain {
            $0.authentication.allowsPlaintext = true
            change(&$0.authentication)
        }
    }

    private static let password = HTTPCredential.password(user: "Aladdin", password: "open sesame")

    @Test("A challenge is answered once; accepted credentials are then sent without a challenge")
    func answersOnce() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            request["Authorization"] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
                ? connection.respond() : connection.respond("401 No", fields: "WWW-Authenticate: Basic realm=\"x\"\r\n")
        }
        defer { origin.stop() }
        let session = try Self.session { $0.credentials = [.init(host: "127.0.0.1", realm: "x", credential: Self.password)] }
        #expect(try await session.send(SessionRequest(.get, origin.uri())).status == 200)
        #expect(origin.requestHeads.count == 2)
        #expect(try await session.send(SessionRequest(.get, origin.uri())).status == 200)
        #expect(origin.requestHeads.count == 3)
    }

    @Test("Refused credentials are sent once; another realm, host, port or scheme gets none")
    func givesUp() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            connection.respond("401 No", fields: "WWW-Authenticate: \(request.target.dropFirst()) realm=\"x\"\r\n")
        }
        defer { origin.stop() }
        let wrong = try Self.session { $0.credentials = [.init(host: "127.0.0.1", credential: Self.password)] }
        #expect(try await wrong.send(SessionRequest(.get, origin.uri("/Basic"))).status == 401)
        #expect(origin.requestHeads.count == 2)
        for (policy, scheme) in [
            (ChallengePolicy.Entry(host: "127.0.0.1", realm: "y", credential: Self.password), "Basic"),
            (.init(host: "other.test", credential: Self.password), "Basic"),
            (.init(host: "127.0.0.1", credential: Self.password), "Bearer"),
            (.init(host: "127.0.0.1", port: 1, credential: Self.password), "Basic"),
        ] {
            let before = origin.requestHeads.count
            let session = try Self.session { $0.credentials = [policy] }
            #expect(try await session.send(SessionRequest(.get, origin.uri("/" + scheme))).status == 401)
            #expect(origin.requestHeads.count == before + 1)
        }
    }

    @Test("Each answer of a challenge handler takes effect: credential, standard, reject, cancel, error")
    func handles() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            request["Authorization"] == "Bearer t"
                ? connection.respond() : connection.respond("401 No", fields: "WWW-Authenticate: Bearer realm=\"x\"\r\n")
        }
        defer { origin.stop() }
        let uri = origin.uri()
        func send(_ answer: ChallengeAnswer) async throws -> Int {
            let session = try Self.session {
                $0.credentials = [.init(host: "127.0.0.1", credential: .bearer("t"))]
                $0.handler = { _ in answer }
            }
            return try await session.send(SessionRequest(.get, uri)).status
        }
        #expect(try await send(.credential(.bearer("t"))) == 200)
        #expect(try await send(.credential(.bearer("u"))) == 401)
        #expect(try await send(.standard) == 200)
        #expect(try await send(.reject) == 401)
        #expect(try await HTTPSession.failure { try await send(.cancel) }.code == .challengeRejected)
        #expect(try await HTTPSession.failure { try await send(.error(SessionError(.offline))) }.code == .offline)
    }

    @Test("Basic passwords and tokens are sent only over TLS unless plain text is allowed; Digest is sent without TLS")
    func requiresTLS() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            if request["Authorization"] != nil { return connection.respond(body: "told") }
            let challenge = request.target == "/digest" ? "Digest realm=\"x\", nonce=\"n\"" : "Basic realm=\"x\""
            return connection.respond("401 No", fields: "WWW-Authenticate: \(challenge)\r\n")
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain {
            $0.authentication.credentials = [.init(host: "127.0.0.1", credential: Self.password)]
        }
        let error = try await HTTPSession.failure { try await session.send(SessionRequest(.get, origin.uri("/basic"))) }
        #expect(error.code == .credentialRequiresTLS)
        #expect(!"\(error)\(error.underlying as Any)".contains("sesame"))
        #expect(try await session.send(SessionRequest(.get, origin.uri("/digest"))).text == "told")
        #expect(origin.requestHeads.count == 3)
    }

    @Test("Digest: the answer is correct, the nonce is reused and counted, and a stale nonce is renewed once")
    func speaksDigest() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            guard let sent = request["Authorization"] else {
                return connection.respond(
                    "401 No", fields: "WWW-Authenticate: Digest realm=\"r\", nonce=\"n1\", qop=\"auth\"\r\n")
            }
            let parameters = AuthenticationChallenge.Scheme.parse([sent])[0].parameters
            if request.target == "/stale", parameters["nonce"] == "n1" {
                let fields = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n2\", qop=\"auth\", stale=true\r\n"
                return connection.respond("401 No", fields: fields)
            }
            func md5(_ text: String) -> String {
                MD5.digest(of: Array(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            }
            let (nonce, count, own) = (parameters["nonce"] ?? "", parameters["nc"] ?? "", parameters["cnonce"] ?? "")
            let expected = md5("\(md5("u:r:p")):\(nonce):\(count):\(own):auth:\(md5("GET:\(request.target)"))")
            return parameters["response"] == expected
                ? connection.respond(body: "\(nonce) \(count)") : connection.respond("403 No")
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain {
            $0.authentication.credentials = [.init(host: "127.0.0.1", credential: .password(user: "u", password: "p"))]
        }
        #expect(try await session.send(SessionRequest(.get, origin.uri("/a?b"))).text == "n1 00000001")
        #expect(try await session.send(SessionRequest(.get, origin.uri("/c"))).text == "n1 00000002")
        #expect(try await session.send(SessionRequest(.get, origin.uri("/stale"))).text == "n2 00000001")
        #expect(origin.requestHeads.count == 5)
    }

    @Test("A proxy's challenge is answered with the proxy's credential, which no origin receives")
    func answersProxies() async throws {
        let proxy = ScriptedOrigin.answering { request, connection in
            request["Proxy-Authorization"] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
                ? connection.respond(body: request.target)
                : connection.respond("407 No", fields: "Proxy-Authenticate: Basic realm=\"p\"\r\n")
        }
        defer { proxy.stop() }
        for (credential, status, requests) in [(Self.password, 200, 2), (nil, 407, 1)] as [(HTTPCredential?, Int, Int)] {
            let before = proxy.requestHeads.count
            let session = try HTTPSession.plain {
                $0.proxy = SessionProxy(host: "127.0.0.1", port: proxy.port, credential: credential)
            }
            let response = try await session.send(SessionRequest(.get, "http://origin.test/x"))
            #expect(response.status == status)
            if status == 200 { #expect(response.text == "http://origin.test/x") }
            #expect(proxy.requestHeads.count == before + requests)
        }
    }

    @Test(
        "Tunnels are requested with a password by Basic or Digest, as the proxy requires",
        arguments: ["Basic realm=\"p\"", "Digest realm=\"p\", nonce=\"n\", qop=\"auth\""])
    func answersProxiesForTunnels(challenge: String) async throws {
        let identity = TestAuthority()
        let server = identity.identity()
        let proxy = ScriptedOrigin { connection in
            while let head = connection.readHead() {
                let request = OriginRequest(head: head)
                guard request["Proxy-Authorization"] != nil else {
                    connection.respond("407 No", fields: "Proxy-Authenticate: \(challenge)\r\n")
                    continue
                }
                connection.send("HTTP/1.1 200 OK\r\n\r\n")
                connection.speakTLS(as: server) { inner in
                    while inner.readHead() != nil { inner.respond(body: "inside") }
                }
                return
            }
        }
        defer { proxy.stop() }
        var configuration = SessionConfiguration()
        configuration.retries = .never
        configuration.proxy = SessionProxy(host: "127.0.0.1", port: proxy.port, credential: Self.password)
        let session = try HTTPSession(configuration: configuration, trust: .policies(identity.policies()))
        #expect(try await session.send(SessionRequest(.get, "https://one.test/")).text == "inside")
        let told = proxy.requestHeads.compactMap { OriginRequest(head: $0)["Proxy-Authorization"] }
        #expect(told.count == 1 && told[0].hasPrefix(String(challenge.prefix { $0 != " " })))
    }
}
