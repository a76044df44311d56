import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Cache keys changed by rules")
struct KeyRewritingTests {
    private func key(_ target: String, _ rewriting: KeyRewriting) -> String {
        var bytes: [UInt8] = Array(repeating: 0x78, count: 40)
        CacheKey.write(request("GET", target), rewriting, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func patterns(_ names: [String]) throws -> [KeyRewriting.ParameterPattern] {
        try names.map { try #require(KeyRewriting.ParameterPattern($0)) }
    }

    @Test(
        "drop_query leaves out the named parameters, and keeps everything that is ambiguous",
        arguments: [
            ("/a?id=1&utm_source=x", "/a?id=1"), ("/a?utm_source=x", "/a"), ("/a?utm_source", "/a"), ("/a?utm=1", "/a?utm=1"),
            ("/a?gclid=1&id=2&gclid=3", "/a?id=2"), ("/a", "/a"), ("/a?", "/a?"), ("/a?&&b", "/a?&&b"),
            ("/a?UTM_source=1", "/a?UTM_source=1"), ("/a?x_gclid=1", "/a?x_gclid=1"),
            // A server that treats `;` as `&` would read an `id` here.
            ("/a?utm_source=x;id=5", "/a?utm_source=x;id=5"), ("/a?gclid=1;id=5", "/a?gclid=1;id=5"),
            ("/a?utm_%69d=1", "/a?utm_%69d=1"), ("/a?utm_[id]=1", "/a?utm_[id]=1"), ("/a?%67clid=1", "/a?%67clid=1"),
            ("/a?list[]=1&b=2", "/a?b=2"),
        ])
    func drops(target: String, expected: String) throws {
        var rewriting = KeyRewriting()
        rewriting.dropped = try patterns(["utm_*", "gclid", "list[]"])
        #expect(key("http://h" + target, rewriting) == "http://h:80" + expected)
    }

    @Test(
        "keep_query leaves out all other parameters, except those that a server may read as a kept one",
        arguments: [
            ("/a?id=1&x=2", "/a?id=1"), ("/a?x=2", "/a"), ("/a?id=1&id=2", "/a?id=1&id=2"), ("/a?p_1=x&p=1", "/a?p_1=x"),
            ("/a?x=1;id=5", "/a?x=1;id=5"), ("/a?i%64=5", "/a?i%64=5"), ("/a?ID=5", "/a?ID=5"), ("/a?id[]=5", "/a?id[]=5"),
            ("/a?p.1=5", "/a?p.1=5"), ("/a?+id=5", "/a?+id=5"), ("/a?=id", "/a?=id"),
        ])
    func keeps(target: String, expected: String) throws {
        var rewriting = KeyRewriting()
        rewriting.kept = try patterns(["id", "p_*"])
        #expect(key("http://h" + target, rewriting) == "http://h:80" + expected)
    }

    @Test(
        "sort_query sorts the parameters; those whose names servers may treat as equal keep their order",
        arguments: [
            ("/a?b=1&a=2", "/a?a=2&b=1"), ("/a?a=2&b=1", "/a?a=2&b=1"), ("/a?a=2&a=1", "/a?a=2&a=1"),
            ("/a?a=1&A=2", "/a?a=1&A=2"), ("/a?A=2&a=1", "/a?A=2&a=1"), ("/a?b_c=1&b.c=2&a=1", "/a?a=1&b_c=1&b.c=2"),
            ("/a?b=1;c=2&a=1", "/a?b=1;c=2&a=1"), ("/a?b&%61=1", "/a?b&%61=1"), ("/a?b&&a", "/a?b&&a"), ("/a?ab&a", "/a?a&ab"),
        ])
    func sorts(target: String, expected: String) {
        var rewriting = KeyRewriting()
        rewriting.sortsQuery = true
        #expect(key("http://h" + target, rewriting) == "http://h:80" + expected)
    }

    @Test("Queries with too many parameters are not sorted", arguments: [(64, true), (65, false)])
    func sortLimit(count: Int, isSorted: Bool) {
        var rewriting = KeyRewriting()
        rewriting.sortsQuery = true
        let names = (100..<100 + count).map { "p\($0)" }
        let backwards = names.reversed().joined(separator: "&")
        let expected = isSorted ? names.joined(separator: "&") : backwards
        #expect(key("http://h/?" + backwards, rewriting) == "http://h:80/?" + expected)
    }

    @Test("canonical_host replaces the host; scheme and port stay (T19)")
    func canonicalHost() {
        var rewriting = KeyRewriting()
        rewriting.canonicalHost = Array("mirror.example".utf8)
        #expect(key("http://[::1]:81/a?b", rewriting) == "http://mirror.example:81/a?b")
        #expect(key("https://A.example", rewriting) == "https://mirror.example:443/")
    }

    @Test("Without options the key is the same as without rules")
    func changesNothing() {
        for target in ["http://H.example/a?b=1;c&&%61", "https://[::1]:8080", "http://h?q"] {
            #expect(key(target, KeyRewriting()) == text(CacheKey(of: request("GET", target)).bytes))
        }
    }
}

@Suite("Additions to the key by rules")
struct SecondaryKeyTests {
    private static let keyed = [FieldName("X-Own"), FieldName("X-Forwarded-Proto")].compactMap { $0 }

    private func stored(_ fields: [String], vary: String? = nil, _ secondary: SecondaryKey) throws -> StoredResponse {
        let head =
            vary.map { response(200, "Cache-Control: max-age=60", "Vary: \($0)") } ?? response(200, "Cache-Control: max-age=60")
        let facts = try facts(head)
        let prepared = try #require(StoredFields.prepare(head, to: get(fields), facts: facts, secondary))
        return StoredResponse(
            key: [], nominatedFields: prepared.nominatedFields, facts: facts, head: prepared.head, requestTime: arrival,
            body: .bytes([]))
    }

    private func get(_ fields: [String]) -> RequestHead {
        var head = request()
        for field in fields {
            let parts = field.split(separator: ":", maxSplits: 1)
            head.fields.append(name: String(parts[0]), value: String(parts[1].dropFirst()))
        }
        return head
    }

    @Test(
        "Fields added to the key select variants as if Vary listed them, beside Vary",
        arguments: [
            (["X-Own: a"], ["X-Own: a"], true), (["X-Own: a"], ["X-Own: b"], false), (["X-Own: a"], [], false),
            ([], ["X-Own: a"], false), ([], [], true), (["X-Own: a", "Accept: b"], ["X-Own: a", "Accept: c"], false),
        ] as [([String], [String], Bool)])
    func fieldsTellApart(first: [String], second: [String], isSame: Bool) throws {
        let secondary = SecondaryKey(fields: Self.keyed)
        let response = try stored(first, vary: "Accept, X-Own", secondary)
        #expect((Vary.select(among: [response], for: get(second), secondary) == 0) == isSame)
    }

    @Test("Responses stored before a rule added a field or content to the key do not match under that rule")
    func demandsItsParts() throws {
        let fields = SecondaryKey(fields: Self.keyed)
        var content = SecondaryKey.none
        content.contentDigest = [1, 2, 3]
        var other = SecondaryKey.none
        other.contentDigest = [1, 2, 4]
        let all = [SecondaryKey.none, fields, content, other]
        for (index, one) in all.enumerated() {
            let response = try stored([], one)
            // Without the rule, a response that lists its fields is one with Vary: it may be used.
            for (place, asked) in all.enumerated() where place != index && !(index == 1 && place == 0) {
                #expect(Vary.select(among: [response], for: get([]), asked) == nil, "\(index) for \(place)")
            }
            #expect(Vary.select(among: [response], for: get([]), one) == 0)
        }
    }

    @Test("T18: a field that is part of the key no longer prevents storing")
    func keyedFieldsAreStored() {
        let head = response(200, "Cache-Control: max-age=60")
        let proto = get(["X-Forwarded-Proto: https"])
        #expect(decide(head, to: proto).refusal == .unkeyedInput)
        let decision = Storability.decide(
            request: proto, response: head, overrides: .none, secondary: SecondaryKey(fields: Self.keyed), requestTime: arrival,
            responseTime: arrival)
        #expect(decision.refusal == nil)
        let host = Storability.decide(
            request: get(["X-Forwarded-Host: evil"]), response: head, overrides: .none,
            secondary: SecondaryKey(fields: Self.keyed), requestTime: arrival, responseTime: arrival)
        #expect(host.refusal == .unkeyedInput)
    }

    @Test("A response is not stored if a keyed value is too long")
    func bounds() {
        let secondary = SecondaryKey(fields: Self.keyed)
        let decision = Storability.decide(
            request: get(["X-Own: " + String(repeating: "a", count: Vary.canonicalFormLimit)]),
            response: response(200, "Cache-Control: max-age=60"), overrides: .none, secondary: secondary, requestTime: arrival,
            responseTime: arrival)
        #expect(decision.refusal == .varyInvalid)
    }
}

@Suite("SHA-256 (FIPS 180-4)")
struct SHA256Tests {
    private func digest(_ bytes: [UInt8], pieces: Int) -> String {
        var sum = SHA256()
        var start = 0
        while start < bytes.count {
            let end = min(start + pieces, bytes.count)
            sum.update(Array(bytes[start..<end]).span)
            start = end
        }
        return sum.finalized().map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    @Test(
        "The examples of the standard, and lengths around a block, give the right digest",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (String(repeating: "a", count: 55), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
            (String(repeating: "a", count: 64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
            (String(repeating: "a", count: 100_000), "6d1cf22d7cc09b085dfc25ee1a1f3ae0265804c607bc2074ad253bcc82fd81ee"),
        ])
    func examples(text: String, expected: String) {
        for pieces in [1, 63, 64, 4096] { #expect(digest(Array(text.utf8), pieces: pieces) == expected) }
    }

    @Test("The digest of content depends on its type, coding and language, and on nothing else")
    func describesContent() {
        func digest(_ content: String, _ fields: String...) -> [UInt8] {
            var head = request("QUERY")
            for field in fields {
                let parts = field.split(separator: ":", maxSplits: 1)
                head.fields.append(name: String(parts[0]), value: String(parts[1].dropFirst()))
            }
            return ContentDigest.make(of: Array(content.utf8).span, describedBy: head.fields)
        }
        let plain = digest("a", "Content-Type: text/plain")
        #expect(plain == digest("a", "X-Own: b", "content-TYPE: text/plain"))
        let others = [
            digest("b", "Content-Type: text/plain"), digest("a", "Content-Type: text/html"), digest("a"),
            digest("a", "Content-Type: text/plain", "Content-Encoding: gzip"),
            digest("a", "Content-Type: text/plain", "Content-Language: de"), digest("content-type:text/plain\n\na"),
        ]
        for other in others { #expect(other != plain) }
        #expect(Set(others).count == others.count)
    }
}
