import HTTPMessage
import HTTPSerialization
import ServerTrust
import Testing
@testable import Snapshots

/// Secrets that tests plant, none of them anybody's.
enum Planted {
    static let gitHub = "ghp_" + String(repeating: "a1B2", count: 9)
    static let fineGrained = "github_pat_" + String(repeating: "A", count: 22) + "_" + String(repeating: "b", count: 59)
    static let awsID = "AKIA" + "Z7Q2LMNOP3RSTUVW"
    static let slack = "xoxb-" + "123456789012-abcdefABCDEF"
    static let webToken = [
        #"{"alg":"HS256","typ":"JWT"}"#, #"{"sub":"1234567890","name":"Alice","exp":1795415999}"#, "signature-octets",
    ].map { Base64.encode(Array($0.utf8)).filter { $0 != "=" } }.joined(separator: ".")
    static let privateKey = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"
    static let opaque = "s3cr3t-0paque-value-93847"

    static let all = [gitHub, fineGrained, awsID, slack, webToken, privateKey]
}

@Suite("Secrets")
struct SecretTests {
    static func found(_ text: String) -> [String] {
        let octets = Array(text.utf8)
        return SecretScan.secrets(in: octets).map { Array(octets[$0.range]).text }
    }

    @Test("Tokens are found wherever they stand", arguments: Planted.all)
    func findsTokens(secret: String) {
        for frame in ["SECRET", "a SECRET b", "\"SECRET\"", "x=SECRET&y", "[SECRET]", "\nSECRET\n"] {
            #expect(Self.found(frame.replacing("SECRET", with: secret)) == [secret], "\(frame)")
        }
    }

    @Test("Values of names that mean secrets are found in JSON, forms and queries")
    func findsNamed() {
        let secret = Planted.opaque
        #expect(Self.found("{\"access_token\": \"\(secret)\", \"token_type\":\"bearer\"}") == [secret])
        #expect(Self.found("grant_type=password&password=\(secret)&x=1") == [secret])
        #expect(Self.found("http://a:80/?api_key=\(secret)#f") == [secret])
        #expect(Self.found("Authorization: Bearer 9a8B7c6D5e4F3g2H1i0J") == ["9a8B7c6D5e4F3g2H1i0J"])
        #expect(Self.found("Basic \(Base64.encode(Array("user:password".utf8)))").count == 1)
    }

    /// A text that a secret stands in as JSON, queries and forms write it, and the secret's octets there.
    static let escaped: [(text: String, secret: String)] = {
        let jsonKey = Planted.privateKey.replacing("\n", with: "\\n")
        let uriKey = Planted.privateKey.replacing("\n", with: "%0A").replacing(" ", with: "%20")
        let formKey = uriKey.replacing("%20", with: "+")
        let basic = Base64.encode(Array("user:passwords".utf8)).replacing("=", with: "%3D")
        let bearer = "9a8B7c6D5e4F3g2H1i0J"
        let opaque = Planted.opaque
        var rows: [(text: String, secret: String)] = []
        func add(_ text: String, _ secret: String) { rows.append((text, secret)) }
        add(#"{"pem":"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n\#(jsonKey)"}"#, jsonKey)
        add(#"{"env":"A=1\n\#(Planted.gitHub)"}"#, Planted.gitHub)
        add(#"{"env":"A=1\t\#(Planted.awsID)\n"}"#, Planted.awsID)
        add(#"{"env":"A=1\r\#(Planted.webToken)\n"}"#, Planted.webToken)
        add(#"{"env":"A=1\u000a\#(Planted.slack)"}"#, Planted.slack)
        add(#"{"url":"/?a=1\u0026access_token=\#(opaque)\n"}"#, opaque)
        add("u=is%3D\(Planted.gitHub)&x=1", Planted.gitHub)
        add("u=a%20\(Planted.webToken)", Planted.webToken)
        add("u=is%3A\(Planted.gitHub)", Planted.gitHub)
        add("u=a%0A\(Planted.awsID)%0A", Planted.awsID)
        add("u=id_token%3D\(Planted.webToken)", Planted.webToken)
        add("u=a+\(Planted.fineGrained)", Planted.fineGrained)
        add("u=a%253D\(Planted.gitHub)", Planted.gitHub)
        add("u=/cb%3Faccess_token%3D\(opaque)%26x", opaque)
        add("x=Bearer%20\(bearer)", bearer)
        add("x=Bearer+\(bearer)&y=1", bearer)
        add("x=Basic%20\(basic)&y=1", basic)
        add("x=Basic+\(basic)", basic)
        add("k=\(formKey)&y=1", formKey)
        add("k=\(uriKey)&y=1", uriKey)
        add("</x?access_token=\(opaque)>; rel=next", opaque)
        add("<a href='/x?access_token=\(opaque)'>", opaque)
        add("/cb#access_token=\(opaque)&state=1", opaque)
        add(#"{"Password":"\#(opaque)"}"#, opaque)
        add("user[password]=\(opaque)&x=1", opaque)
        add("user%5Bpassword%5D=\(opaque)", opaque)
        return rows
    }()

    @Test("Secrets are found behind escapes and in them, and what is around them stays", arguments: escaped)
    func findsEscaped(text: String, secret: String) throws {
        #expect(Self.found(text) == [secret])
        let redacted = try Redactor(key: SnapshotFixture.key, terms: MatchTerms()).redacted(uri: Array(text.utf8))
        // A placeholder is found as one, in the same place.
        let again = SecretScan.secrets(in: redacted)
        #expect(again.map(\.isPlaceholder) == [true])
        let frame = try #require(again.first)
        var restored = Array(redacted[..<frame.range.lowerBound])
        restored += Array(secret.utf8)
        restored += Array(redacted[frame.range.upperBound...])
        #expect(restored == Array(text.utf8))
    }

    @Test("Secrets behind escapes are told in the clear, are in no recording, and are replayed", arguments: escaped)
    func recordsNoEscaped(text: String, secret: String) throws {
        var exchange = Exchange("http://a:80/", text)
        exchange.method = "POST"
        exchange.requestFields = [("X-Note", text)]
        exchange.requestBody = Array(text.utf8)
        exchange.fields = [("Link", text)]
        if !text.contains(where: { "{<[ #".contains($0) }) { exchange.uri = "http://a:80/?\(text)" }
        let clear = SnapshotFixture()
        try clear.write([exchange])
        let places = try Snapshot(path: clear.path).secretPlaces().count
        #expect(places >= 3)
        let fixture = SnapshotFixture()
        try Self.record(fixture, [exchange])
        #expect(try !fixture.octets().text.contains(secret))
        let snapshot = try Snapshot(path: fixture.path)
        #expect(try snapshot.secretPlaces().isEmpty)
        let answer = try MatchingTests.answer(SnapshotLayer(snapshot, key: SnapshotFixture.key), exchange)
        #expect(SecretScan.secrets(in: Array(answer.utf8)).map(\.isPlaceholder) == [true])
    }

    @Test(
        "What only looks a little like one is left alone",
        arguments: [
            "the bearer of good news everywhere", "basic authentication", "\"password\": \"\"", "\"password\": null",
            "password=short",
            "eyJhbGci", "AKIA1234", "ghp_short", "XAKIAZ7Q2LMNOP3RSTUVW", "xoxb-1", "-----BEGIN CERTIFICATE-----",
            "\"password_hint\":\"something longer\"", "eyJ.eyJ.x", "x%41\(Planted.gitHub)", "x20\(Planted.gitHub)",
            "\\u0041\(Planted.gitHub)", "n\(Planted.gitHub)", "the+bearer+of+good+news+everywhere", "x=Basic+Authentication",
        ])
    func leavesOthers(text: String) {
        #expect(Self.found(text).isEmpty)
    }

    @Test(
        "A placeholder has the form of its secret, is found as one, and is the same for the same secret under one key alone",
        arguments: Planted.all)
    func makesPlaceholders(secret: String) throws {
        let octets = Array(secret.utf8)
        let kind = try #require(SecretScan.secrets(in: octets).first).kind
        let placeholder = Placeholder.make(for: octets, kind, under: SnapshotFixture.key)
        let found = SecretScan.secrets(in: placeholder)
        #expect(found == [FoundSecret(range: 0..<placeholder.count, kind: kind, isPlaceholder: true)])
        #expect(placeholder == Placeholder.make(for: octets, kind, under: SnapshotFixture.key))
        #expect(placeholder != Placeholder.make(for: octets, kind, under: .make()))
        // A private key keeps its frame.
        #expect(!placeholder.text.contains(kind == .privateKey ? "MIIEpAIBAAKCAQEA" : secret.suffix(20)))
    }

    @Test("A secret is the same one however it is escaped")
    func knowsEscapes() {
        let codes = ["a/b+c secret", "a\\/b+c secret", "a%2Fb%2bc%20secret"].map { SnapshotFixture.key.code(of: Array($0.utf8)) }
        #expect(Set(codes).count == 1)
    }

    @Test("A token's placeholder keeps its three parts and its times, and nothing else of it")
    func keepsTimes() throws {
        let placeholder = Placeholder.make(for: Array(Planted.webToken.utf8), .webToken, under: SnapshotFixture.key).text
        let parts = placeholder.split(separator: ".")
        #expect(parts.count == 3)
        let padded = String(parts[1]) + String(repeating: "=", count: (4 - parts[1].utf8.count % 4) % 4)
        let payload = try JSONValue(parsing: try #require(Base64.decode(Array(padded.utf8))))
        #expect(payload["exp"] == 1_795_415_999)
        #expect(payload["name"] == nil)
    }

    /// Records one exchange as a proxy does.
    static func record(
        _ fixture: SnapshotFixture, _ exchanges: [Exchange], terms: MatchTerms = MatchTerms(),
        unscanned: Redactor.Unscanned? = nil
    ) throws {
        let writer = try SnapshotWriter(path: fixture.path, existing: .overwrite, terms: terms, tool: "test", now: Exchange.began)
        let recorder = try SnapshotRecorder(writer, key: SnapshotFixture.key, unscanned: unscanned)
        do {
            for exchange in exchanges {
                let recording = try recorder.begin(exchange.request)
                recording.head(status: Status(exchange.status), reason: [], fields: Exchange.fields(exchange.fields))
                // Split where it hurts.
                for octet in exchange.body.prefix(4096) { try recording.append([octet].span) }
                try recording.append(Array(exchange.body.dropFirst(4096)).span)
                try recording.finish(times: RecordedTimes(started: exchange.started))
            }
        } catch {
            writer.abandon()
            throw error
        }
        _ = try recorder.finish()
    }

    @Test("No secret is in the file, its log or anything beside it, wherever it was", arguments: Planted.all + [Planted.opaque])
    func recordsNone(secret: String) throws {
        let fixture = SnapshotFixture()
        let line = secret.replacing("\n", with: "")
        var exchange = Exchange("http://a:80/?access_token=\(line.replacing(" ", with: "%20"))&x=1")
        exchange.method = "POST"
        exchange.requestFields = [
            ("Authorization", "Bearer \(line)"), ("Proxy-Authorization", "Basic \(line)"), ("Cookie", "a=\(line); b=\(line)"),
            ("X-Api-Key", line), ("Content-Type", "application/json"), ("Content-Length", "999"),
        ]
        let json = secret.replacing("\n", with: "\\n")
        exchange.requestBody = Array("{\"password\":\"\(json)\",\"nested\":{\"refresh_token\":\"\(json)\"}}".utf8)
        exchange.fields = [
            ("Set-Cookie", "session=\(line); Path=/; HttpOnly"), ("Content-Type", "application/json"), ("Content-Length", "7"),
            ("ETag", "\"1\""), ("Location", "http://a:80/?client_secret=\(line)"),
        ]
        exchange.body = Array("{\"access_token\":\"\(json)\"}".utf8)
        try Self.record(fixture, [exchange])
        let octets = try fixture.octets()
        for needle in [line, json, secret] { #expect(!octets.text.contains(needle)) }
        let snapshot = try Snapshot(path: fixture.path)
        #expect(try snapshot.secretPlaces().isEmpty)
        let recording = try snapshot.recording(at: 0)
        #expect(recording.isRedacted)
        let response = try #require(recording.response)
        #expect(response.fields.combinedValue(of: .contentLength) == "\(try #require(response.body).length)")
        #expect(response.fields.combinedValue(of: .etag)?.hasPrefix("\"larder-") == true)
        #expect(response.fields.combinedValue(of: .setCookie)?.hasSuffix("; Path=/; HttpOnly") == true)
        #expect(recording.request.fields.combinedValue(of: .proxyAuthorization) == nil)
        _ = try snapshot.verify()
        // The same request finds it, with the key and without.
        #expect(try MatchingTests.answer(SnapshotLayer(snapshot, key: SnapshotFixture.key), exchange).contains("access_token"))
        #expect(try MatchingTests.answer(SnapshotLayer(snapshot, key: nil), exchange).contains("access_token"))
        var other = exchange
        other.requestFields[0].1 = "Bearer another-secret-value-1"
        #expect(try MatchingTests.answer(SnapshotLayer(snapshot, key: SnapshotFixture.key), other) == "other_secret")
        #expect(try MatchingTests.answer(SnapshotLayer(snapshot, key: nil), other).contains("access_token"))
    }

    @Test("A login is replayed: the placeholder that the answer gives is taken in the next request", arguments: [true, false])
    func replaysLogin(hasKey: Bool) throws {
        let fixture = SnapshotFixture()
        var login = Exchange("http://a:80/login", "{\"access_token\":\"\(Planted.opaque)\"}")
        login.fields = [("Content-Type", "application/json"), ("Set-Cookie", "sid=\(Planted.opaque)2; Path=/")]
        var use = Exchange("http://a:80/me", "me")
        use.requestFields = [("Authorization", "Bearer \(Planted.opaque)"), ("Cookie", "sid=\(Planted.opaque)2")]
        try Self.record(fixture, [login, use])
        let layer = try SnapshotLayer(Snapshot(path: fixture.path), key: hasKey ? SnapshotFixture.key : nil)
        var cursors = SequenceCursors()
        guard case .found(let found) = try layer.find(login.request, &cursors) else { throw SnapshotError.notSigned }
        let response = try #require(found.recording.response)
        let token = try JSONValue(parsing: layer.snapshot.octets(of: try #require(response.body)))["access_token"]?.string
        let cookie = try #require(response.fields.combinedValue(of: .setCookie)).prefix { $0 != ";" }
        var again = use
        again.requestFields = [("Authorization", "Bearer \(try #require(token))"), ("Cookie", String(cookie))]
        #expect(try MatchingTests.answer(layer, again) == "me")
    }

    @Test("What is under a coding is searched, and stands without it")
    func searchesCoded() throws {
        let fixture = SnapshotFixture()
        // printf '{"access_token":"s3cr3t-0paque-value-93847"}' | gzip -n
        var exchange = Exchange("http://a:80/")
        exchange.fields = [("Content-Type", "application/json"), ("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")]
        exchange.body = try #require(Base64.decode(Array(Self.coded.utf8)))
        try Self.record(fixture, [exchange])
        let snapshot = try Snapshot(path: fixture.path)
        let response = try #require(try snapshot.recording(at: 0).response)
        #expect(!response.fields.contains(.contentEncoding))
        #expect(try snapshot.octets(of: try #require(response.body)).text.hasPrefix("{\"access_token\":\"larderSecret"))
    }

    static let coded = "H4sIAAAAAAAAA6tWSkxOTi0uji/Jz07NU7JSKjZOLjIu0TUoSCwsTdUtS8wBkpbGFibmSrUAL+YJXywAAAA="

    @Test("What cannot be searched is refused where it is JSON or a form, or as is set")
    func refusesUnsearched() throws {
        var exchange = Exchange("http://a:80/")
        exchange.fields = [("Content-Type", "application/json"), ("Content-Encoding", "gzip")]
        exchange.body = Array("no gzip".utf8)
        #expect(throws: SnapshotError.unsearchable("what http://a:80/ answers")) {
            try Self.record(SnapshotFixture(), [exchange])
        }
        try Self.record(SnapshotFixture(), [exchange], unscanned: .keep)
        exchange.fields[0].1 = "image/png"
        try Self.record(SnapshotFixture(), [exchange])
        #expect(throws: SnapshotError.self) { try Self.record(SnapshotFixture(), [exchange], unscanned: .refuse) }
        var long = Exchange("http://a:80/")
        long.body = [UInt8](repeating: 65, count: SnapshotLimits.requestBodyLength + 1)
        try Self.record(SnapshotFixture(), [long])
        long.fields = [("Content-Type", "application/json")]
        #expect(throws: SnapshotError.self) { try Self.record(SnapshotFixture(), [long]) }
    }

    @Test("A place that is named as a secret becomes a placeholder, and matches")
    func heedsPointers() throws {
        let fixture = SnapshotFixture()
        let terms = MatchTerms(secrets: DeclaredSecrets(pointers: [JSONPointer("/pin")!]))
        var exchange = Exchange("http://a:80/", "{\"pin\":1234,\"ok\":true}")
        exchange.method = "POST"
        exchange.requestFields = [("Content-Type", "application/json")]
        exchange.requestBody = Array("{\"pin\": 4321, \"n\": 1}".utf8)
        exchange.fields = [("Content-Type", "application/json")]
        try Self.record(fixture, [exchange], terms: terms)
        #expect(try !fixture.octets().text.contains("4321"))
        let layer = try SnapshotLayer(Snapshot(path: fixture.path), key: nil)
        #expect(try MatchingTests.answer(layer, exchange).hasPrefix("{\"pin\":\"larderSecret"))
    }

    @Test("A scan tells what stands in the clear and where")
    func audits() throws {
        let fixture = SnapshotFixture()
        var exchange = Exchange("http://a:80/?x=1", "{\"password\":\"\(Planted.opaque)\"}")
        exchange.fields = [("Content-Type", "application/json"), ("X-Note", Planted.gitHub)]
        try fixture.write([exchange, exchange])
        let places = try Snapshot(path: fixture.path).secretPlaces()
        #expect(
            places.map(\.description) == [
                "github_token in response field x-note of http://a:80/?x=1", "opaque in response body of http://a:80/?x=1",
            ])
    }
}

extension MatchingTests {
    static func answer(_ layer: SnapshotLayer, _ request: Exchange) throws -> String {
        var cursors = SequenceCursors()
        return try answer(layer, request, &cursors)
    }
}
