import HTTPMessage
import HTTPSerialization
import TestSupport
import Testing

@testable import SecretScanning

@Suite("Secrets by form and by name, and their placeholders")
struct SecretScanTests {
    private static func found(_ text: String) -> [String] {
        let octets = Array(text.utf8)
        return SecretScan.secrets(in: octets).map { Array(octets[$0.range]).text }
    }

    @Test("Tokens are found anywhere in a text", arguments: Planted.all)
    func findsTokens(secret: String) {
        for frame in ["SECRET", "a SECRET b", "\"SECRET\"", "x=SECRET&y", "[SECRET]", "\nSECRET\n"] {
            #expect(Self.found(frame.replacing("SECRET", with: secret)) == [secret], "\(frame)")
        }
    }

    @Test("Values whose names indicate secrets are found in JSON, forms and queries")
    func findsNamed() {
        let secret = Planted.opaque
        #expect(Self.found("{\"access_token\": \"\(secret)\", \"token_type\":\"bearer\"}") == [secret])
        #expect(Self.found("grant_type=password&password=\(secret)&x=1") == [secret])
        #expect(Self.found("http://a:80/?api_key=\(secret)#f") == [secret])
        #expect(Self.found("Authorization: Bearer 9a8B7c6D5e4F3g2H1i0J") == ["9a8B7c6D5e4F3g2H1i0J"])
        #expect(Self.found("Basic \(Base64.encode(Array("user:password".utf8)))").count == 1)
    }

    @Test("Escaped secrets and secrets after escapes are found, and the surrounding text stays", arguments: Planted.escaped)
    func findsEscaped(text: String, secret: String) throws {
        #expect(Self.found(text) == [secret])
        let redacted = try Redactor(key: Samples.key, secrets: DeclaredSecrets()).redacted(uri: Array(text.utf8))
        // The placeholder is recognized, in the same place.
        let again = SecretScan.secrets(in: redacted)
        #expect(again.map(\.isPlaceholder) == [true])
        let frame = try #require(again.first)
        var restored = Array(redacted[..<frame.range.lowerBound])
        restored += Array(secret.utf8)
        restored += Array(redacted[frame.range.upperBound...])
        #expect(restored == Array(text.utf8))
    }

    @Test(
        "Text that only resembles a secret is not replaced",
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
        "A placeholder has the form of its secret, is recognized, and is the same for the same secret only under one key",
        arguments: Planted.all)
    func makesPlaceholders(secret: String) throws {
        let octets = Array(secret.utf8)
        let kind = try #require(SecretScan.secrets(in: octets).first).kind
        let placeholder = Placeholder.make(for: octets, kind, under: Samples.key)
        let found = SecretScan.secrets(in: placeholder)
        #expect(found == [FoundSecret(range: 0..<placeholder.count, kind: kind, isPlaceholder: true)])
        #expect(placeholder == Placeholder.make(for: octets, kind, under: Samples.key))
        #expect(placeholder != Placeholder.make(for: octets, kind, under: .make()))
        // The first and last lines of a private key stay.
        #expect(!placeholder.text.contains(kind == .privateKey ? "MIIEpAIBAAKCAQEA" : secret.suffix(20)))
    }

    @Test("A secret has the same code in every escaped form")
    func knowsEscapes() {
        let codes = ["a/b+c secret", "a\\/b+c secret", "a%2Fb%2bc%20secret"].map { Samples.key.code(of: Array($0.utf8)) }
        #expect(Set(codes).count == 1)
    }

    @Test("A token's placeholder keeps three parts and the token's times, and nothing else of it")
    func keepsTimes() throws {
        let placeholder = Placeholder.make(for: Array(Planted.webToken.utf8), .webToken, under: Samples.key).text
        let parts = placeholder.split(separator: ".")
        #expect(parts.count == 3)
        let padded = String(parts[1]) + String(repeating: "=", count: (4 - parts[1].utf8.count % 4) % 4)
        let payload = try JSONValue(parsing: try #require(Base64.decode(Array(padded.utf8))))
        #expect(payload["exp"] == 1_795_415_999)
        #expect(payload["name"] == nil)
    }
}
