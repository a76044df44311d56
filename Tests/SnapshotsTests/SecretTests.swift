import HTTPMessage
import HTTPSerialization
import ServerTrust
import TestSupport
import Testing

@testable import SecretScanning
@testable import Snapshots

@Suite("Secrets in recordings")
struct SecretTests {
    @Test("Escaped secrets are found in clear text, are not in any recording, and can be replayed", arguments: Planted.escaped)
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

    /// Records exchanges in the way a proxy does.
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
                // Split into single bytes, the worst case.
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

    @Test(
        "A secret in any part of an exchange is not in the file, its log, or any file beside it",
        arguments: Planted.all + [Planted.opaque])
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
        // The same request matches, with and without the key.
        #expect(try MatchingTests.answer(SnapshotLayer(snapshot, key: SnapshotFixture.key), exchange).contains("access_token"))
        #expect(try MatchingTests.answer(SnapshotLayer(snapshot, key: nil), exchange).contains("access_token"))
        var other = exchange
        other.requestFields[0].1 = "Bearer another-secret-value-1"
        #expect(try MatchingTests.answer(SnapshotLayer(snapshot, key: SnapshotFixture.key), other) == "other_secret")
        #expect(try MatchingTests.answer(SnapshotLayer(snapshot, key: nil), other).contains("access_token"))
    }

    @Test("A login is replayed: a request with the placeholder from the response matches", arguments: [true, false])
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

    @Test("Encoded content is searched, and stored decoded if it contains a secret")
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

    @Test("Unsearchable content is refused if it is JSON or a form, or as configured")
    func refusesUnsearched() throws {
        var exchange = Exchange("http://a:80/")
        exchange.fields = [("Content-Type", "application/json"), ("Content-Encoding", "gzip")]
        exchange.body = Array("no gzip".utf8)
        #expect(throws: SnapshotError.unsearchable("the response of http://a:80/")) {
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

    @Test("A JSON place declared as a secret becomes a placeholder, and matches")
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

    @Test("A scan reports secrets in clear text and their places")
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
