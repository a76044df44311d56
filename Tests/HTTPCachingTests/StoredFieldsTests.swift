import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Storing header fields (RFC 9111 §3.1)")
struct StoredFieldsTests {
    static func stored(_ fields: String...) throws -> Fields {
        var head = response(200, "Cache-Control: max-age=60")
        for field in fields {
            let parts = field.split(separator: ": ", maxSplits: 1)
            head.fields.append(name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
        }
        return try HTTPCachingTests.stored(head).head.fields
    }

    @Test("All fields are stored unchanged and in order, known or not")
    func storesAll() throws {
        let fields = try Self.stored("X-One: 1", "content-TYPE: text/html; x=\"ä\"", "X-One: 2", "Warning: 199 - x", "X-Empty: ")
        let names = fields.lines.map { fields.text(of: $0.name) }
        #expect(names == ["Date", "Cache-Control", "X-One", "content-TYPE", "X-One", "Warning", "X-Empty"])
        #expect(fields.values(of: "x-one") == ["1", "2"])
        #expect(fields.values(of: "content-type") == ["text/html; x=\"ä\""])
    }

    @Test(
        "Connection, the fields it names, and other hop-by-hop fields are not stored",
        arguments: [
            "Connection: close", "Keep-Alive: timeout=5", "Proxy-Connection: close", "Transfer-Encoding: chunked", "Upgrade: h2c",
            "TE: trailers", "Proxy-Authenticate: Basic", "Proxy-Authentication-Info: x",
            "Proxy-Authorization: x", "Age: 5",
        ])
    func leavesOutHopByHop(field: String) throws {
        let name = String(field.prefix(while: { $0 != ":" }))
        #expect(try Self.stored(field).values(of: name) == [])
    }

    @Test("Connection removes the fields it names, except those that every recipient needs (T42)")
    func leavesOutNamed() throws {
        let fields = try Self.stored("Connection: X-Hop , close", "Connection: x-other", "X-Hop: 1", "X-Other: 1", "X-Kept: 1")
        #expect(fields.values(of: "x-hop") == [] && fields.values(of: "x-other") == [])
        #expect(fields.values(of: "x-kept") == ["1"])
        let attack = try Self.stored(
            "Connection: Date, ETag, Vary, Set-Cookie, Cache-Control, Content-Type", #"ETag: "x""#, "Content-Type: a/b")
        #expect(attack.values(of: "date") == [arrivalDate] && attack.values(of: "etag") == [#""x""#])
        #expect(attack.values(of: "cache-control") == ["max-age=60"] && attack.values(of: "content-type") == ["a/b"])
    }

    @Test(
        "Fields named by a qualified private or no-cache are not stored (§5.2.2.4, §5.2.2.7)",
        arguments: [
            #"private="X-User, x-Mail""#, #"no-cache="X-User, X-Mail""#, #"private="X-User", no-cache="X-Mail""#,
            "private=X-User, private=X-Mail",
        ])
    func leavesOutQualified(directive: String) throws {
        let head = response(200, "Cache-Control: max-age=60, \(directive)", "X-User: me", "x-mail: me", "X-Kept: 1")
        let fields = try HTTPCachingTests.stored(head).head.fields
        #expect(fields.values(of: "x-user") == [] && fields.values(of: "x-mail") == [])
        #expect(fields.values(of: "x-kept") == ["1"])
        #expect(fields.values(of: "cache-control").count == 1)
    }

    @Test(
        "A missing or invalid Date is replaced by the time of reception (RFC 9110 §6.6.1)",
        arguments: ["X: 1", "Date: 0", "Date: yesterday"])
    func dates(field: String) throws {
        let stored = try HTTPCachingTests.stored(response(200, "Cache-Control: max-age=60", field, date: false))
        #expect(stored.head.fields.values(of: "date") == [arrivalDate])
    }

    @Test("The prepared head is sent unchanged, metadata of the content last, with one correct Content-Length")
    func preparesHead() throws {
        var head = response(
            200, "Content-Type: text/html", "Cache-Control: max-age=60", "Content-Length: 10", "Age: 3", "Via: 1.1 x")
        head.reason = head.fields.appendBytes(Array("Fine".utf8).span)
        #expect(
            text(try HTTPCachingTests.stored(head).preparedHead) == """
                HTTP/1.1 200 Fine\r
                Date: \(arrivalDate)\r
                Cache-Control: max-age=60\r
                Via: 1.1 x\r
                Content-Type: text/html\r
                Content-Length: 10\r\n
                """)
        let chunked = response(200, "Cache-Control: max-age=60", "Transfer-Encoding: chunked")
        #expect(text(try HTTPCachingTests.stored(chunked).preparedHead).hasSuffix("Content-Length: 10\r\n"))
        let empty = try HTTPCachingTests.stored(response(204, "Cache-Control: max-age=60"), body: .bytes([]))
        #expect(text(empty.preparedHead).hasPrefix("HTTP/1.1 204 No Content\r\n"))
        #expect(!text(empty.preparedHead).contains("Content-Length"))
    }
}

@Suite("The encoding of heads and facts")
struct StoredFormTests {
    static func encode(_ head: ResponseHead) -> [UInt8] {
        var output: [UInt8] = []
        StoredHead.encode(head, into: &output)
        return output
    }

    static func encode(_ facts: ReuseFacts) -> [UInt8] {
        var output: [UInt8] = []
        facts.encode(into: &output)
        return output
    }

    static let head: ResponseHead = {
        var head = response(
            200, "Cache-Control: max-age=60", #"ETag: "x""#, "X-Empty:", "Vary: Accept", "Set-Cookie: ä=1", "X-Own: 1")
        head.reason = head.fields.appendBytes(Array("OK then".utf8).span)
        return head
    }()

    @Test("A decoded head equals the encoded one")
    func readsHead() throws {
        let decoded = StoredHead.decode(Self.encode(Self.head).span)
        let head = try #require(decoded)
        #expect(head.status == .ok)
        #expect(head.fields.text(of: head.reason) == "OK then")
        #expect(
            head.fields.lines.map { head.fields.text(of: $0.name) }
                == Self.head.fields.lines.map { Self.head.fields.text(of: $0.name) })
        #expect(
            head.fields.lines.map { head.fields.text(of: $0.value) }
                == Self.head.fields.lines.map { Self.head.fields.text(of: $0.value) })
        #expect(head.fields.present == Self.head.fields.present)
    }

    @Test("Decoded trailers equal the encoded ones, and are not a head")
    func readsTrailers() throws {
        var trailers = Fields()
        trailers.append(name: "X-Sum", value: "1")
        var bytes: [UInt8] = []
        StoredHead.encode(trailers: trailers, into: &bytes)
        #expect(StoredHead.decodeTrailers(bytes.span)?.values(of: "x-sum") == ["1"])
        #expect(StoredHead.decode(bytes.span) == nil)
        #expect(StoredHead.decodeTrailers(Self.encode(Self.head).span) == nil)
    }

    @Test("A shorter or longer encoding is rejected")
    func refusesOtherLengths() {
        let bytes = Self.encode(Self.head)
        for count in 0..<bytes.count { #expect(StoredHead.decode(bytes.span.extracting(0..<count)) == nil) }
        #expect(StoredHead.decode((bytes + [0x20]).span) == nil)
    }

    @Test("Damage is rejected or decoded as another well-formed head, and never traps", arguments: 0..<2000 as Range<UInt64>)
    func survivesDamage(seed: UInt64) {
        var bytes = Self.encode(Self.head)
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        for _ in 0...(seed % 4) {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes[Int((state >> 33) % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: state >> 20)
        }
        guard let head = StoredHead.decode(bytes.span) else { return }
        for line in head.fields.lines {
            #expect(line.name.range.allSatisfy { ASCII.isTokenCharacter(head.fields.bytes[$0]) } && !line.name.isEmpty)
            #expect(line.value.range.allSatisfy { ASCII.isFieldValueCharacter(head.fields.bytes[$0]) })
        }
    }

    @Test("Decoded facts equal the encoded ones")
    func readsFacts() throws {
        var facts = try facts(
            response(
                200,
                "Cache-Control: max-age=60, must-revalidate, stale-if-error=5, stale-while-revalidate=7, no-cache, immutable, public",
                #"ETag: W/"x""#, "Last-Modified: " + date(-100), "Vary: Accept", "Set-Cookie: a=b", "Age: 7"),
            to: get("Authorization: x"), requestTime: Timestamp(milliseconds: arrival.milliseconds - 1234))
        facts.trust = 0xFEDC_BA98_7654_3210
        let bytes = Self.encode(facts)
        #expect(bytes.count == ReuseFacts.encodedCount)
        #expect(ReuseFacts(decoding: bytes.span) == facts)
    }

    @Test("The encoding of facts is fixed: later versions must read it")
    func formIsFixed() throws {
        let bytes = Self.encode(try facts(response(200, "Cache-Control: max-age=60", #"ETag: "x""#)))
        #expect(bytes[..<24] == [1, 3, 200, 0, 0x80, 0, 0, 0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    }

    @Test("Impossible facts are rejected, and accepted ones never overflow", arguments: 0..<2000 as Range<UInt64>)
    func survivesDamagedFacts(seed: UInt64) throws {
        var bytes = Self.encode(try facts(response(200, "Cache-Control: max-age=60", #"ETag: "x""#)))
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        for _ in 0...(seed % 8) {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes[Int((state >> 33) % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: state >> 20)
        }
        guard let facts = ReuseFacts(decoding: bytes.span) else { return }
        for policy in CachePolicy.allCases {
            _ = reuse(facts, overrides: CacheOverrides(policy: policy, unsafe: true), after: 10)
        }
        #expect(facts.currentAge(at: arrival) <= .greatest)
    }

    @Test("Facts of another version or length are rejected")
    func refusesOtherFacts() throws {
        var bytes = Self.encode(try facts(response(200, "Cache-Control: max-age=60")))
        #expect(ReuseFacts(decoding: bytes.span.extracting(0..<63)) == nil)
        #expect(ReuseFacts(decoding: (bytes + [0]).span) == nil)
        bytes[0] = 2
        #expect(ReuseFacts(decoding: bytes.span) == nil)
        #expect(ReuseFacts(decoding: bytes.span.extracting(0..<0)) == nil)
    }

    @Test("A stored response can be restored from its row")
    func reconstructs() throws {
        let original = try stored(response(200, "Cache-Control: max-age=60", "Vary: Accept"), to: get("Accept: a"))
        let decodedFacts = ReuseFacts(decoding: Self.encode(original.facts).span)
        let decodedHead = StoredHead.decode(Self.encode(original.head).span)
        let again = StoredResponse(
            key: original.key, nominatedFields: original.nominatedFields, facts: try #require(decodedFacts),
            head: try #require(decodedHead), requestTime: original.requestTime, body: .onDisk(BodyReference(id: 1, length: 10)),
            row: 7)
        #expect(again.preparedHead == original.preparedHead)
        #expect(again.facts == original.facts)
        #expect(Vary.select(among: [again], for: get("Accept: a")) == 0)
    }
}
