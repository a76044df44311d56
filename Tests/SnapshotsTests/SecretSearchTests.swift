import HTTPMessage
import Testing

@testable import Snapshots

@Suite("The search for secrets reads the whole text")
struct SecretSearchTests {
    private static let terms = MatchTerms(
        secrets: {
            var secrets = DeclaredSecrets()
            secrets.patterns = ["acct-[0-9]+"]
            return secrets
        }())

    @Test("A declared pattern is found at the end of a body of more than 1 MiB")
    func findsPatternsInLongBodies() throws {
        let filler = String(repeating: "x", count: (1 << 20) + 1)
        var exchange = Exchange("http://a:80/", "{\"text\":\"\(filler)\",\"id\":\"acct-78\"}")
        exchange.fields = [("Content-Type", "application/json")]
        let snapshot = try KnownSecretTests.recorded([exchange], terms: Self.terms)
        #expect(try !KnownSecretTests.text(of: snapshot).contains("acct-78"))
    }

    /// A text in which the pattern is tried from each place to the end.
    private static let costly = String(repeating: "a", count: 1000)

    private static func redactor(_ unscanned: Redactor.Unscanned?) throws -> Redactor {
        var terms = MatchTerms()
        terms.secrets.patterns = ["acct-[0-9]+", "a(.*z)?"]
        return try Redactor(key: SnapshotFixture.key, terms: terms, unscanned: unscanned, patternWork: 100_000)
    }

    @Test(
        "A body for which the patterns take too many steps cannot be searched",
        arguments: [
            ("application/json", nil, true), ("text/plain", nil, false), ("text/plain", .refuse, true),
            ("application/json", .keep, false),
        ] as [(String, Redactor.Unscanned?, Bool)])
    func refusesCostlyBodies(type: String, unscanned: Redactor.Unscanned?, isRefused: Bool) throws {
        var redactor = try Self.redactor(unscanned)
        let fields = Exchange.fields([("Content-Type", type)])
        let outcome = redactor.body(Array("{\"a\":\"acct-78 \(Self.costly)\"}".utf8), describedBy: fields)
        switch outcome {
        case .refused: #expect(isRefused)
        case .asItWas: Issue.record("acct-78 is kept")
        // What was found is replaced where the body is kept.
        case .replaced(let text): #expect(!isRefused && !text.text.contains("acct-78"))
        }
        let whole = redactor.body(Array("{\"b\":\"acct-78\"}".utf8), describedBy: fields)
        #expect(whole != .refused && whole != .asItWas)
    }

    @Test(
        "JSON in UTF-16 or UTF-32 cannot be searched",
        arguments: [
            [0x7B, 0, 0x7D, 0], [0, 0x7B, 0, 0x7D], [0xFF, 0xFE, 0x7B, 0], [0xFE, 0xFF, 0, 0x7B], [0, 0, 0, 0x7B],
            [0x7B, 0, 0, 0],
        ] as [[UInt8]])
    func refusesUTF16(text: [UInt8]) throws {
        let fields = Exchange.fields([("Content-Type", "application/json; charset=utf-16")])
        var redactor = try Self.redactor(nil)
        #expect(redactor.body(text, describedBy: fields) == .refused)
        var keeping = try Self.redactor(.keep)
        #expect(keeping.body(text, describedBy: fields) == .asItWas)
    }

    @Test("The rest of a URI or a field for which the patterns take too many steps is replaced; the origin stays")
    func replacesCostlyRests() throws {
        let redactor = try Self.redactor(nil)
        let uri = redactor.redacted(uri: Array("http://x.b:80/x?acct-78&\(Self.costly)&q=pear".utf8)).text
        #expect(uri.hasPrefix("http://x.b:80") && uri.contains("larderSecret"), "\(uri)")
        for word in ["acct-78", "pear", "aaaa"] { #expect(!uri.contains(word), "\(uri)") }
        var fields = Exchange.fields([("X-Note", "acct-78 \(Self.costly) pear")])
        let isChanged = redactor.redact(&fields)
        #expect(isChanged)
        for word in ["acct-78", "pear", "aaaa"] { #expect(!fields.bytes.text.contains(word), "\(fields.bytes.text)") }
    }

    @Test(
        "A bearer token with escapes in JSON and the same token in a field become one placeholder",
        arguments: [
            (#"Bearer ab\/cd12ef34gh"#, "ab/cd12ef34gh"), (#"bearer ab\u002bcd12ef34gh"#, "ab+cd12ef34gh"),
        ])
    func unescapesBearerTokens(written: String, token: String) throws {
        var login = Exchange("http://a:80/login", #"{"authorization":"\#(written)"}"#)
        login.fields = [("Content-Type", "application/json")]
        var field = Exchange("http://a:80/field", "ok")
        field.requestFields = [("Authorization", "Bearer \(token)")]
        let plain = Exchange("http://a:80/plain", "the value is \(token) there")
        #expect(try !KnownSecretTests.text(of: KnownSecretTests.recorded([login, plain])).contains(token))
        let text = try KnownSecretTests.text(of: KnownSecretTests.recorded([login, field]))
        let placeholders = text.matches(of: /larderSecret[0-9a-f]{32}/).map { String($0.output) }
        #expect(placeholders.count == 2 && Set(placeholders).count == 1, "\(placeholders)")
    }

    @Test("The text of a CDATA section is read once, to its end")
    func readsSectionsOnce() {
        func found(_ text: String) -> [String] {
            let octets = Array(text.utf8)
            return octets.withUnsafeBufferPointer { buffer in
                var search = StructuredSecrets(buffer) { name, _ in name.text == "pin" ? .password : nil }
                search.search(as: .xml)
                return search.found.map { Array(octets[$0.range]).text }
            }
        }
        #expect(found("<a><pin><![CDATA[one]]></pin><pin>two</pin></a>") == ["one", "two"])
        #expect(found("<pin><![CDATA[<pin>one</pin>]]></pin>") == ["<pin>one</pin>"])
        // A section that does not end is one secret to the end of the text.
        let open = String(repeating: "<pin><![CDATA[", count: 1000)
        #expect(found(open).map(\.count) == [open.count - 14])
    }

    @Test("Of many secrets that begin alike, few are compared with a text that begins so")
    func comparesFewOfMany() {
        let start = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUi."
        let tokens = (0..<2000).map { "\(start)sig-\($0)-x" }
        var known = KnownSecrets()
        for token in tokens { _ = known.learn(declared: Array(token.utf8)) }
        for token in [tokens[0], tokens[999], tokens[1999]] {
            let text = "say \(token) and \(start)none"
            var comparisons = 0
            let found = known.found(in: Array(text.utf8), &comparisons)
            #expect(found.map { Array(Array(text.utf8)[$0.range]).text } == [token])
            // Two places in the text, and a binary search over each set of forms.
            #expect(comparisons < 100, "\(comparisons)")
        }
    }

    @Test("The longest known secret at a place is found, and a short one only as a whole word")
    func findsTheLongest() {
        var known = KnownSecrets()
        for value in ["abc-12", "abc-12-345", "abc-12-345-6789-0123", "abc-12-345-6789-0199"] {
            _ = known.learn(declared: Array(value.utf8))
        }
        func found(_ text: String) -> [String] {
            known.found(in: Array(text.utf8)).map { Array(Array(text.utf8)[$0.range]).text }
        }
        #expect(found("abc-12-345-6789-0123") == ["abc-12-345-6789-0123"])
        #expect(found("abc-12-345-6789-0150") == ["abc-12-345"])
        #expect(found("abc-12-345x") == ["abc-12"])
        #expect(found("abc-12x abc-12") == ["abc-12"])
        #expect(found("abc-1") == [])
    }

    @Test("Values whose forms go past the limit are not known again, and take no memory")
    func boundsForms() {
        var known = KnownSecrets(formsLengthLimit: 1000)
        let values = (10..<60).map { "value-\($0)-abc" }
        let learned = values.filter { known.learn(declared: Array($0.utf8)) }
        #expect(!learned.isEmpty && learned.count < values.count)
        let found = values.filter { !known.found(in: Array("a \($0) b".utf8)).isEmpty }
        #expect(found == learned)
    }
}
