import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Sentences of RFC 8246 on immutable")
struct ImmutableSentencesTests {
    private static let tag = #"ETag: "x""#

    @Test(
        "§2, §2.1: a fresh response is not validated unless the client's directives require it; the same without https (§3)",
        arguments: [("X: 1", true), ("Cache-Control: no-cache", false), ("Pragma: no-cache", false)])
    func validatesFreshOnRequestAlone(field: String, isFresh: Bool) throws {
        for control in ["max-age=60, immutable", "max-age=60"] {
            let facts = try facts(response(200, "Cache-Control: \(control)", Self.tag))
            #expect(reuse(facts, for: get(field), after: 59).isFresh == isFresh)
        }
    }

    @Test("§2: a stale response is validated like any other")
    func validatesStale() throws {
        let facts = try facts(response(200, "Cache-Control: max-age=60, immutable", Self.tag))
        #expect(reuse(facts, after: 59).isFresh)
        #expect(reuse(facts, after: 60) == .validate(.stale))
    }

    @Test("§2: arguments and repetition have no effect", arguments: ["immutable=0", #"immutable="no""#, "immutable, immutable"])
    func ignoresArguments(directive: String) throws {
        let plain = try facts(response(200, "Cache-Control: max-age=60, immutable", Self.tag))
        #expect(try facts(response(200, "Cache-Control: max-age=60, \(directive)", Self.tag)) == plain)
    }

    @Test("§2: immutable in a request has no effect")
    func saysNothingInRequests() throws {
        #expect(RequestDirectives(get("Cache-Control: immutable")) == RequestDirectives(get("Cache-Control: x")))
        let facts = try facts(response(200, "Cache-Control: max-age=60", Self.tag))
        #expect(reuse(facts, for: get("Cache-Control: immutable, no-cache"), after: 1) == .validate(.requestNoCache))
    }
}
