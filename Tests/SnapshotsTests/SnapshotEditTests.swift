import Foundation
import HTTPMessage
import HTTPSerialization
import ServerTrust
import Testing
@testable import Snapshots

@Suite("Rematching and editing")
struct SnapshotEditTests {
    static func opened(_ fixture: SnapshotFixture) throws -> Snapshot {
        let snapshot = try Snapshot(path: fixture.path)
        _ = try snapshot.verify()
        return snapshot
    }

    static func terms(_ text: String) throws -> MatchTerms { try MatchTerms(text: Array(text.utf8)) }

    @Test("Rematching applies match rules to a recording: requests that were missed now match, and nothing else changes")
    func rematches() throws {
        let fixture = SnapshotFixture()
        var other = Exchange("http://a:80/other", "other")
        other.method = "POST"
        other.requestBody = Array("body".utf8)
        other.earlyHints = [[("Link", "</a.css>; rel=preload")]]
        let key = try SigningTests.key()
        try fixture.write([Exchange("http://a:80/list?_=1", "it"), other], signing: key)
        let source = try Self.opened(fixture)
        let before = try (0..<2).map { try source.recording(at: $0) }
        let result = try SnapshotMaintenance.rematch(
            source, by: Self.terms(#"{"canonicalisers":[{"uri":"http://a:80/list*","query":{"ignore":["_"]}}]}"#),
            to: fixture.path,
            key: nil)
        #expect(result == SnapshotMaintenance.Rematched(recordings: 2, changed: 1, redacted: 0))
        let snapshot = try Self.opened(fixture)
        #expect(snapshot.signers.isEmpty)
        let layer = try SnapshotLayer(snapshot, key: nil)
        #expect(try MatchingTests.answer(layer, Exchange("http://a:80/list?_=9")) == "it")
        #expect(try MatchingTests.answer(layer, other) == "other")
        let after = try (0..<2).map { try snapshot.recording(at: $0) }
        for recording in before {
            let same = try #require(after.first { $0.request.uri == recording.request.uri })
            #expect(same.request.fields.bytes == recording.request.fields.bytes)
            #expect(same.response?.fields.bytes == recording.response?.fields.bytes)
            #expect(same.response?.earlyHints.map(\.bytes) == recording.response?.earlyHints.map(\.bytes))
            #expect(same.response?.body == recording.response?.body)
            #expect(same.request.body == recording.request.body)
            #expect(same.times == recording.times)
        }
    }

    @Test("Requests that rematching makes equal are answered in the order of recording")
    func ordersRematched() throws {
        let fixture = SnapshotFixture()
        var exchanges = [3, 1, 2].map { Exchange("http://a:80/list?_=\($0)", "\($0)") }
        for index in exchanges.indices { exchanges[index].started = Exchange.began.advanced(seconds: Int64(index)) }
        try fixture.write(exchanges)
        _ = try SnapshotMaintenance.rematch(
            Self.opened(fixture), by: Self.terms(#"{"canonicalisers":[{"query":{"ignore":["_"]}}]}"#), to: fixture.path, key: nil)
        let layer = try SnapshotLayer(Self.opened(fixture), key: nil)
        var cursors = SequenceCursors()
        for body in ["3", "1", "2"] {
            #expect(try MatchingTests.answer(layer, Exchange("http://a:80/list?_=9"), &cursors) == body)
        }
        #expect(try Snapshot(path: fixture.path).matchWarnings().count == 1)
    }

    @Test("Match rules that declare secrets require the project key, and replace the secrets")
    func rematchesSecrets() throws {
        let fixture = SnapshotFixture()
        let exchange = Exchange("http://a:80/x?who=me-and-you", "acct-77")
        try fixture.write([exchange])
        let octets = try fixture.octets()
        let terms = try Self.terms(#"{"secrets":{"patterns":["acct-[0-9]+"],"query":["who"]}}"#)
        #expect(throws: SnapshotError.holdsSecrets("http://a:80/x; give --key, so that Larder replaces the secrets")) {
            try SnapshotMaintenance.rematch(Self.opened(fixture), by: terms, to: fixture.path, key: nil)
        }
        #expect(try fixture.octets() == octets)
        let result = try SnapshotMaintenance.rematch(
            Self.opened(fixture), by: terms, to: fixture.path, key: SnapshotFixture.key)
        #expect(result.redacted == 1)
        #expect(try !fixture.octets().text.contains("me-and-you"))
        #expect(try !fixture.octets().text.contains("acct-77"))
        #expect(
            try MatchingTests.answer(SnapshotLayer(Self.opened(fixture), key: SnapshotFixture.key), exchange).contains(
                "larderSecret"))
    }

    @Test("A secret declared by match rules is removed from earlier generations too, even where only its value indicates it")
    func rematchesGenerations() throws {
        let fixture = SnapshotFixture()
        try fixture.write([Exchange("http://a:80/1", "x q7Zp-81xLm-44 y")])
        try fixture.write([Exchange("http://a:80/2?who=q7Zp-81xLm-44", "two")], existing: .append)
        _ = try SnapshotMaintenance.rematch(
            Self.opened(fixture), by: Self.terms(#"{"secrets":{"query":["who"]}}"#), to: fixture.path, key: SnapshotFixture.key)
        #expect(try Self.opened(fixture).manifest.generations.count == 2)
        #expect(try !fixture.octets().text.contains("q7Zp-81xLm-44"))
    }

    @Test("A match file that is not JSON is refused with line and column")
    func placesFault() {
        #expect(throws: SnapshotError.noJSON(line: 2, column: 4, "JSON does not allow this byte here")) {
            try Self.terms("{\n  \"exact\" nope\n}".replacing("  \"exact\" nope", with: "   nope"))
        }
        #expect("\(SnapshotError.noJSON(line: 2, column: 4, "x"))" == "2:4: x")
    }

    @Test("An edited body replaces the old one in every message, with length, digest and entity tag, and signatures are removed")
    func edits() throws {
        let fixture = SnapshotFixture()
        var one = Exchange("http://a:80/1", #"{"n":1}"#)
        one.fields = [("Content-Type", "application/json"), ("Content-Length", "7"), ("ETag", "\"a\""), ("X-Kept", "yes")]
        one.trailers = [("Repr-Digest", "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"), ("X-Check", "kept")]
        var two = one
        two.uri = "http://a:80/2"
        var asked = Exchange("http://a:80/3", "three")
        asked.method = "POST"
        asked.requestBody = one.body
        try fixture.write([one, two, asked], signing: SigningTests.key())
        let changed = Array(#"{"n":2,"more":true}"#.utf8)
        let result = try SnapshotMaintenance.edit(Self.opened(fixture), [SHA256Digest(of: one.body): changed])
        #expect(result == SnapshotMaintenance.Edited(bodies: 1, recordings: 3))
        let snapshot = try Self.opened(fixture)
        #expect(snapshot.signers.isEmpty)
        let layer = try SnapshotLayer(snapshot, key: nil)
        for exchange in [one, two] { #expect(try MatchingTests.answer(layer, exchange) == changed.text) }
        #expect(try MatchingTests.answer(layer, asked) == "not_recorded")
        asked.requestBody = changed
        #expect(try MatchingTests.answer(layer, asked) == "three")
        for place in 0..<3 {
            let recording = try snapshot.recording(at: place)
            guard let response = recording.response, recording.request.uri != Array(asked.uri.utf8) else { continue }
            #expect(response.fields.combinedValue(of: .contentLength) == "\(changed.count)")
            #expect(response.fields.combinedValue(of: .etag)?.hasPrefix("\"larder-") == true)
            #expect(response.fields.bytes.text.contains("X-Kept"))
            let digest = Data(SHA256Digest(of: changed).octets).base64EncodedString()
            #expect(response.trailers.bytes.text.lowercased().contains("repr-digestsha-256=:\(digest.lowercased()):"))
            #expect(response.trailers.bytes.text.contains("X-Check"))
        }
        #expect(try !fixture.octets().text.contains(#"{"n":1}"#))
    }

    @Test("A failed edit leaves the file unchanged")
    func refusesEdits() throws {
        let fixture = SnapshotFixture()
        var exchange = Exchange("http://a:80/", "")
        exchange.fields = [("Content-Type", "application/json"), ("Content-Encoding", "gzip")]
        exchange.body = try #require(Base64.decode(Array(SecretTests.coded.utf8)))
        try fixture.write([exchange])
        let octets = try fixture.octets()
        let digest = SHA256Digest(of: exchange.body)
        #expect(throws: SnapshotError.malformed("the new body of http://a:80/ is not encoded as its Content-Encoding field says"))
        {
            try SnapshotMaintenance.edit(Self.opened(fixture), [digest: Array("plain".utf8)])
        }
        #expect(throws: SnapshotError.holdsSecrets("the new body of http://a:80/")) {
            // The same content in its coding, which contains a secret.
            try SnapshotMaintenance.edit(Self.opened(fixture), [digest: exchange.body])
        }
        #expect(throws: SnapshotError.self) {
            try SnapshotMaintenance.edit(Self.opened(fixture), [SHA256Digest(of: [1]): []])
        }
        #expect(try fixture.octets() == octets)
        let result = try SnapshotMaintenance.edit(Self.opened(fixture), [digest: exchange.body], isHarmless: true)
        #expect(result.recordings == 1)
    }
}
