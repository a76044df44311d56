import CLarderSQLite
import Foundation
import Testing
@testable import Snapshots

@Suite("Signed snapshots")
struct SigningTests {
    /// Made by `openssl genpkey -algorithm ed25519`, only for tests.
    static let pem = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIAInrPka5zi7MnCNjkK6l7ybFqVzojOL/UaWAiX2DNEO
        -----END PRIVATE KEY-----

        """
    static let otherPEM = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIL/7GviDjY6kXV2StuUC+b59xTx9ivJ7wJKmCPmgP9IX
        -----END PRIVATE KEY-----

        """

    static func key(_ pem: String = pem) throws -> SigningKey { try SigningKey(pem: Array(pem.utf8)) }

    @Test("A snapshot lists its signers, and opens only if a required key has signed it")
    func signs() throws {
        let fixture = SnapshotFixture()
        let key = try Self.key()
        let other = try Self.key(Self.otherPEM)
        let roots = try fixture.write([Exchange("http://a:80/", "one")], signing: key)
        #expect(try SnapshotFixture().write([Exchange("http://a:80/", "one")]) == roots)
        #expect(try Snapshot(path: fixture.path).signers == [key.verifying])
        #expect(try Snapshot(path: fixture.path, signedBy: [other.verifying, key.verifying]).signers == [key.verifying])
        #expect(throws: SnapshotError.notSigned) { try Snapshot(path: fixture.path, signedBy: [other.verifying]) }
    }

    @Test("A finished snapshot can be signed later, by several keys, and its roots stay the same")
    func signsLater() throws {
        let fixture = SnapshotFixture()
        let roots = try fixture.write([Exchange("http://a:80/", "one")])
        let (key, other) = (try Self.key(), try Self.key(Self.otherPEM))
        #expect(throws: SnapshotError.notSigned) { try Snapshot(path: fixture.path, signedBy: [key.verifying]) }
        try Snapshot.sign(path: fixture.path, by: key)
        try Snapshot.sign(path: fixture.path, by: other)
        try Snapshot.sign(path: fixture.path, by: other)
        let snapshot = try Snapshot(path: fixture.path, signedBy: [other.verifying])
        #expect(snapshot.signers == [key.verifying, other.verifying])
        #expect(snapshot.roots == roots)
    }

    @Test("A signature of another file, or a modified one, is refused")
    func refusesForged() throws {
        let (fixture, other) = (SnapshotFixture(), SnapshotFixture())
        let key = try Self.key()
        try fixture.write([Exchange("http://a:80/", "one")], signing: key)
        try other.write([Exchange("http://a:80/", "two")], signing: key)
        let signature = try Snapshot(path: other.path).tables.signatures()[0].octets
        #expect(try !key.verifying.accepts(signature, of: Snapshot(path: fixture.path).roots.full))
        DamageTests.edit(fixture.path, "UPDATE signature SET octets = zeroblob(64)")
        #expect(throws: SnapshotError.self) { try Snapshot(path: fixture.path) }
    }

    @Test("Only Ed25519 keys can sign, and a key's error does not reveal it")
    func refusesOtherKeys() throws {
        #expect(throws: SnapshotError.self) { try SigningKey(pem: Array("-----BEGIN PRIVATE KEY-----\nAAAA\n".utf8)) }
        #expect(try VerifyingKey(pem: Array(Self.pem.utf8)) == Self.key().verifying)
    }
}
