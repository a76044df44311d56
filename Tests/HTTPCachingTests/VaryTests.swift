import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Selecting by Vary (RFC 9111 §4.1)")
struct VaryTests {
    /// Whether a response to the first request with this Vary is selected for the second.
    static func matches(_ vary: String, _ first: RequestHead, _ second: RequestHead) throws -> Bool {
        let stored = try stored(response(200, "Cache-Control: max-age=60", "Vary: \(vary)"), to: first)
        return Vary.select(among: [stored], for: second) == 0
    }

    @Test(
        "A nominated field must have the same value in both requests",
        arguments: [
            ("Accept-Encoding", "Accept-Encoding: gzip", "Accept-Encoding: gzip", true),
            ("Accept-Encoding", "Accept-Encoding: gzip", "Accept-Encoding: br", false),
            ("Accept-Encoding", "Accept-Encoding: gzip", "Accept-Encoding: gzip, br", false),
            ("Accept-Encoding", "Accept-Encoding: gzip", "X-None: 1", false),
            ("Accept-Encoding", "X-None: 1", "Accept-Encoding: gzip", false),
            ("Accept-Encoding", "X-None: 1", "X-None: 2", true),
            // Absent is not the same as empty.
            ("Accept-Encoding", "Accept-Encoding:", "X-None: 1", false),
            ("Accept-Encoding", "Accept-Encoding:", "Accept-Encoding:", true),
            ("ACCEPT-encoding", "accept-ENCODING: gzip", "Accept-Encoding: gzip", true),
            ("X-Own", "X-Own: a", "x-own: a", true), ("X-Own", "X-Own: a", "X-Own: A", false),
            ("Cookie", "Cookie: a=1", "Cookie: a=2", false), ("X-Own", "X-Own: ab", "X-Own: a", false),
            ("X-Own", "X-Own: a", "X-Own: ab", false),
            ("Origin", "Origin: http://a", "Origin: http://b", false),
            ("User-Agent", "User-Agent: curl", "User-Agent: curl", true),
        ])
    func compares(vary: String, first: String, second: String, matches: Bool) throws {
        #expect(try Self.matches(vary, get(first), get(second)) == matches)
    }

    @Test(
        "Whitespace around a value, and around the commas of a list, does not matter; other whitespace does",
        arguments: [
            ("Accept-Encoding", "Accept-Encoding: gzip, br", "Accept-Encoding: gzip,br", true),
            ("Accept-Encoding", "Accept-Encoding: gzip \t,\t br", "Accept-Encoding: gzip,br", true),
            ("Accept", #"Accept: a;x="1, 2""#, #"Accept: a;x="1,2""#, false),
            ("X-Own", "X-Own:  a\t", "X-Own: a", true),
            // In a field that Larder does not know, blanks may have a meaning.
            ("X-Own", "X-Own: a, b", "X-Own: a,b", false),
            ("Accept-Language", "Accept-Language: de en", "Accept-Language: deen", false),
            // The order of a list's elements is not normalized; their case is, in fields where it has no meaning.
            ("Accept-Encoding", "Accept-Encoding: gzip, br", "Accept-Encoding: br, gzip", false),
            ("Accept-Encoding", "Accept-Encoding: gzip, Br", "Accept-Encoding: GZIP,br", true),
            ("Accept-Language", "Accept-Language: en-US,en;q=0.5", "Accept-Language: en-us, en;q=0.5", true),
            ("Accept", "Accept: text/html", "Accept: TEXT/html", false), ("X-Own", "X-Own: a", "X-Own: A", false),
        ])
    func normalises(vary: String, first: String, second: String, matches: Bool) throws {
        #expect(try Self.matches(vary, get(first), get(second)) == matches)
    }

    @Test("Several lines of one name are combined")
    func combinesLines() throws {
        let split = get("Accept-Encoding: gzip", "Accept-Encoding: br")
        #expect(try Self.matches("Accept-Encoding", split, get("Accept-Encoding: gzip, br")))
        #expect(try Self.matches("X-Own", get("X-Own: a", "X-Own: b"), get("X-Own: a, b")))
        #expect(try !Self.matches("X-Own", get("X-Own: a", "X-Own: b"), get("X-Own: b", "X-Own: a")))
    }

    @Test("All nominated fields must match, over all Vary lines")
    func matchesAll() throws {
        let first = get("Accept-Encoding: gzip", "Accept-Language: de", "Cookie: a")
        let head = response(
            200, "Cache-Control: max-age=60", "Vary: Accept-Encoding, Accept-Language", "Vary: cookie, accept-encoding")
        let stored = try stored(head, to: first)
        let form = canonical(("accept-encoding", "gzip"), ("accept-language", "de"), ("cookie", "a"))
        #expect(stored.nominatedFields == form)
        #expect(Vary.select(among: [stored], for: first) == 0)
        #expect(Vary.select(among: [stored], for: get("Accept-Encoding: gzip", "Accept-Language: de", "Cookie: b")) == nil)
        #expect(Vary.select(among: [stored], for: get("Accept-Encoding: gzip", "Accept-Language: de")) == nil)
    }

    @Test("Vary: * never matches, and is not stored", arguments: ["*", "Accept, *", " * ", "*, Accept"])
    func neverMatchesAny(vary: String) {
        #expect(decide(response(200, "Cache-Control: max-age=60", "Vary: \(vary)")).refusal == .varyAny)
    }

    @Test("A response with an invalid Vary is not stored", arguments: ["a b", "\"Accept\"", "Accept;q=1", "Accept, b@d"])
    func refusesInvalid(vary: String) {
        #expect(decide(response(200, "Cache-Control: max-age=60", "Vary: \(vary)")).refusal == .varyInvalid)
    }

    @Test("A response with as many nominated names as the limit is stored, one more is not")
    func limitsNames() {
        let names = (1...Vary.nameLimit).map { "X-\($0)" }.joined(separator: ",")
        #expect(decide(response(200, "Cache-Control: max-age=60", "Vary: \(names)")).refusal == nil)
        #expect(decide(response(200, "Cache-Control: max-age=60", "Vary: \(names),X-0")).refusal == .varyInvalid)
    }

    @Test("An empty Vary nominates nothing")
    func emptyVary() throws {
        #expect(try stored(response(200, "Cache-Control: max-age=60", "Vary: ,")).nominatedFields.isEmpty)
    }

    @Test("If several match, the newest is used (§4)")
    func prefersNewest() throws {
        let vary = "Vary: Accept-Encoding"
        let gzip = get("Accept-Encoding: gzip")
        let old = try stored(response(200, "Cache-Control: max-age=600", "Date: " + date(-50), vary), to: gzip)
        let new = try stored(response(200, "Cache-Control: max-age=600", "Date: " + date(-10), vary), to: gzip)
        let other = try stored(response(200, "Cache-Control: max-age=600", vary), to: get("Accept-Encoding: br"))
        let responses = [old, other, new].sorted { $0.isNewer(than: $1) }
        #expect(responses.map { $0 === other } == [true, false, false])
        let selected = try #require(Vary.select(among: responses, for: gzip))
        #expect(responses[selected] === new)
        #expect(Vary.select(among: responses, for: get("Accept-Encoding: zstd")) == nil)
        #expect(Vary.select(among: [], for: gzip) == nil)
    }

    @Test(
        "If several match, one with Vary takes precedence over a newer one without it, which serves the other requests",
        arguments: [false, true])
    func prefersVarying(hasLongFields: Bool) throws {
        // Fields too long for the request's form are compared one by one.
        let value = hasLongFields ? String(repeating: "x", count: RequestedVariant.limit) : "x"
        let varying = try stored(
            response(200, "Cache-Control: max-age=60", "Date: " + date(-50), "Vary: Foo"), to: get("Foo: " + value))
        let other = try stored(response(200, "Cache-Control: max-age=60", "Date: " + date(-20), "Vary: Foo"), to: get("Foo: b"))
        let plain = try stored(response(200, "Cache-Control: max-age=60"), to: get("Foo: c"))
        #expect(plain.nominatedFields.isEmpty)
        #expect(Vary.select(among: [plain, other, varying], for: get("Foo: " + value)) == 2)
        #expect(Vary.select(among: [plain, other, varying], for: get("Foo: c")) == 0)
        #expect(Vary.select(among: [plain, other, varying], for: request()) == 0)
        #expect(Vary.select(among: [varying, plain], for: get("Foo: " + value)) == 0)
        #expect(Vary.select(among: [varying, plain], for: get("Foo: b")) == 1)
    }

    @Test("A long run of blanks is scanned once")
    func readsBlanksOnce() throws {
        let blanks = String(repeating: " ", count: 8000)
        #expect(try Self.matches("Accept", get("Accept: a\(blanks),b"), get("Accept: a,\(blanks)b")))
        #expect(try !Self.matches("Accept", get("Accept: a\(blanks)b"), get("Accept: a b")))
    }

    @Test("A canonical form at the limit is stored, one byte more is not")
    func limitsValues() {
        // x-own, the three bytes of lengths, and two for a line that could be combined with another.
        let most = String(repeating: "a", count: Vary.canonicalFormLimit - 5 - 3 - 2)
        let head = response(200, "Cache-Control: max-age=60", "Vary: X-Own")
        #expect(decide(head, to: get("X-Own: " + most)).refusal == nil)
        #expect(decide(head, to: get("X-Own: a" + most)).refusal == .varyInvalid)
    }

    @Test("A shortened canonical form never matches, and damage never traps", arguments: 0..<1000 as Range<UInt64>)
    func survivesDamage(seed: UInt64) {
        let whole = canonical(("accept", nil), ("accept-encoding", "gzip"))
        let request = get("Accept-Encoding: gzip")
        #expect(Vary.matches(whole, request.fields))
        for count in 1..<whole.count where count != canonical(("accept", nil)).count {
            #expect(!Vary.matches(Array(whole[..<count]), request.fields))
        }
        var damaged = whole
        damaged[Int(seed % UInt64(whole.count))] = UInt8(truncatingIfNeeded: seed / 7)
        _ = Vary.matches(damaged, request.fields)
    }
}
