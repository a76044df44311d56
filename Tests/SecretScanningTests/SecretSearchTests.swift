import HTTPMessage
import Testing

@testable import SecretScanning

@Suite("The search for secrets covers the whole text")
struct SecretSearchTests {
    /// A text on which the pattern tries to match from each position to the end.
    private static let costly = String(repeating: "a", count: 1000)

    private static func redactor(_ unscanned: Redactor.Unscanned?) throws -> Redactor {
        var secrets = DeclaredSecrets()
        secrets.patterns = ["acct-[0-9]+", "a(.*z)?"]
        return try Redactor(key: Samples.key, secrets: secrets, unscanned: unscanned, patternWork: 100_000)
    }

    @Test(
        "A body on which the patterns take too many steps counts as unsearchable",
        arguments: [
            ("application/json", nil, true), ("text/plain", nil, false), ("text/plain", .refuse, true),
            ("application/json", .keep, false),
        ] as [(String, Redactor.Unscanned?, Bool)])
    func refusesCostlyBodies(type: String, unscanned: Redactor.Unscanned?, isRefused: Bool) throws {
        var redactor = try Self.redactor(unscanned)
        let fields = Samples.fields([("Content-Type", type)])
        let outcome = redactor.body(Array("{\"a\":\"acct-78 \(Self.costly)\"}".utf8), describedBy: fields)
        switch outcome {
        case .refused: #expect(isRefused)
        case .asItWas: Issue.record("acct-78 is kept")
        // If the body is kept, the secrets found are replaced.
        case .replaced(let text): #expect(!isRefused && !text.text.contains("acct-78"))
        }
        let whole = redactor.body(Array("{\"b\":\"acct-78\"}".utf8), describedBy: fields)
        #expect(whole != .refused && whole != .asItWas)
    }

    @Test(
        "JSON in UTF-16 or UTF-32 counts as unsearchable",
        arguments: [
            [0x7B, 0, 0x7D, 0], [0, 0x7B, 0, 0x7D], [0xFF, 0xFE, 0x7B, 0], [0xFE, 0xFF, 0, 0x7B], [0, 0, 0, 0x7B],
            [0x7B, 0, 0, 0],
        ] as [[UInt8]])
    func refusesUTF16(text: [UInt8]) throws {
        let fields = Samples.fields([("Content-Type", "application/json; charset=utf-16")])
        var redactor = try Self.redactor(nil)
        #expect(redactor.body(text, describedBy: fields) == .refused)
        var keeping = try Self.redactor(.keep)
        #expect(keeping.body(text, describedBy: fields) == .asItWas)
    }

    @Test("The unsearched rest of a URI or field is replaced when patterns take too many steps; the origin stays")
    func replacesCostlyRests() throws {
        let redactor = try Self.redactor(nil)
        let uri = redactor.redacted(uri: Array("http://x.b:80/x?acct-78&\(Self.costly)&q=pear".utf8)).text
        #expect(uri.hasPrefix("http://x.b:80") && uri.contains("larderSecret"), "\(uri)")
        for word in ["acct-78", "pear", "aaaa"] { #expect(!uri.contains(word), "\(uri)") }
        var fields = Samples.fields([("X-Note", "acct-78 \(Self.costly) pear")])
        let isChanged = redactor.redact(&fields)
        #expect(isChanged)
        for word in ["acct-78", "pear", "aaaa"] { #expect(!fields.bytes.text.contains(word), "\(fields.bytes.text)") }
    }

    @Test("The text of a CDATA section is read only once")
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
        // An unterminated section is one secret up to the end of the text.
        let open = String(repeating: "<pin><![CDATA[", count: 1000)
        #expect(found(open).map(\.count) == [open.count - 14])
    }

    /// Fragments from which malformed texts in all formats are made.
    private static let pieces = [
        "{", "}", "[", "]", "\"", "\\\"", "\\", "\\u0070", "\\ud83d", ":", ",", "password", "token", "key", "=", "&", "&amp;",
        "%22", "%3D", "%",
        "%4", "<", ">", "</", "/>", "<![CDATA[", "]]>", "'", " ", "\n", "\r\n", "--b",
        "Content-Disposition: form-data; name=\"secret\"", "://",
        "u:p@h", "?", "#", ";", "12", "-", "value", "Bearer ", "larderSecret", "/services/", "sk-proj-", "aB3xY9zQ",
        "\"name\"", "\"value\"", "`", "\"\"\"", "<!--", "-->", "<?", "?>", "<script>", "</script", "- ", "|", "export ", "\u{0}",
        "\u{FEFF}",
        "mutation",
    ]

    @Test("Malformed texts are searched safely: the secrets found are in order and within the text", arguments: 1...64)
    func survives(seed: UInt64) throws {
        var state = seed
        func next(_ limit: Int) -> Int {
            // SplitMix64.
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return Int((value ^ value >> 31) % UInt64(limit))
        }
        let kinds: [MediaKind] = [
            .json, .jsonTexts, .form, .xml, .multipart(Array("b".utf8)), .yaml, .assignments, .literals, .script, .text, .other,
        ]
        for round in 0..<40 {
            let text = (0..<next(40)).flatMap { _ in Array(Self.pieces[next(Self.pieces.count)].utf8) }
            for kind in kinds {
                let found = SecretFinder.undeclared.secrets(inBody: text, kind)
                var end = 0
                for secret in found {
                    #expect(
                        secret.range.lowerBound >= end && secret.range.upperBound <= text.count,
                        "round \(round), \(kind): \(text.text)")
                    end = secret.range.upperBound
                }
                var redactor = try Redactor(key: Samples.key, secrets: DeclaredSecrets())
                _ = redactor.body(text, describedBy: Samples.fields([("Content-Type", "application/json")]))
            }
        }
    }
}
