import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Cache-Status (RFC 9211)")
struct CacheStatusTests {
    static func write(_ status: CacheStatus) -> String {
        var output: [UInt8] = []
        output.append(addingCapacity: CacheStatus.lineLimit) { status.write(into: &$0) }
        return text(output)
    }

    @Test("A hit reports the remaining lifetime (§2.1, §2.4)")
    func writesHit() throws {
        let facts = try facts(response(200, "Cache-Control: max-age=376"))
        #expect(Self.write(try #require(CacheStatus(reuse(facts, after: 0)))) == "Larder; hit; ttl=376")
        let stale = reuse(facts, for: get("Cache-Control: max-stale"), after: 788)
        #expect(Self.write(try #require(CacheStatus(stale))) == "Larder; hit; ttl=-412; detail=max_stale")
    }

    @Test("A rule's lifetime, and the use of an unsafe rule, are reported")
    func tellsRules() throws {
        let facts = try facts(response(200, #"ETag: "x""#))
        let rule = reuse(facts, overrides: CacheOverrides(timeToLive: DeltaSeconds(9)), after: 1)
        #expect(Self.write(try #require(CacheStatus(rule))) == "Larder; hit; ttl=8; detail=rule")
        let strict = try HTTPCachingTests.facts(response(200, "Cache-Control: max-age=1, must-revalidate", #"ETag: "x""#))
        let unsafe = reuse(strict, overrides: CacheOverrides(policy: .storedElseLoad, unsafe: true), after: 2)
        #expect(Self.write(try #require(CacheStatus(unsafe))) == "Larder; hit; ttl=-1; detail=unsafe")
    }

    @Test("A forwarded request reports the reason and the result (§2.2 to §2.6)")
    func writesForwarding() {
        var status = CacheStatus(.forwarded(.uriMiss))
        #expect(Self.write(status) == "Larder; fwd=uri-miss")
        status.stored = true
        status.remaining = 60
        #expect(Self.write(status) == "Larder; fwd=uri-miss; stored; ttl=60")
        status.collapsing = .collapsed
        #expect(Self.write(status) == "Larder; fwd=uri-miss; stored; collapsed; ttl=60")
        status = CacheStatus(.forwarded(.stale))
        status.forwardStatus = .notModified
        #expect(Self.write(status) == "Larder; fwd=stale; fwd-status=304")
        status = CacheStatus(.forwarded(.varyMiss))
        status.collapsing = .failed
        status.detail = StorageRefusal.private.word
        #expect(Self.write(status) == "Larder; fwd=vary-miss; collapsed=?0; detail=private")
    }

    @Test("A request that is neither served from the store nor forwarded reports the reason only (§2.1, §2.2)")
    func writesNotSatisfied() throws {
        let status = try #require(CacheStatus(ReuseDecision.notSatisfiable(.uriMiss)))
        #expect(Self.write(status) == "Larder; detail=cache_miss_only_if_cached")
    }

    @Test("detail gives the reason if fwd does not")
    func writesDetail() {
        #expect(Self.write(CacheStatus(.forwarded(.requestMaxAge))) == "Larder; fwd=request; detail=request_max_age")
        #expect(Self.write(CacheStatus(.forwarded(.reload))) == "Larder; fwd=bypass; detail=reload")
        #expect(Self.write(CacheStatus(.forwarded(.mustRevalidate))) == "Larder; fwd=stale; detail=must_revalidate")
        #expect(Self.write(CacheStatus(.forwarded(.method))) == "Larder; fwd=method")
    }

    @Test("The field line ends with one line break, and numbers are valid sf-integers (RFC 9651 §3.3.1)")
    func writesField() throws {
        var status = CacheStatus(.hit)
        status.remaining = -(1 << 31)
        var output: [UInt8] = []
        output.append(addingCapacity: CacheStatus.lineLimit) { status.writeField(into: &$0) }
        #expect(text(output) == "Cache-Status: Larder; hit; ttl=-2147483648\r\n")
    }

    @Test("The key is written as a String (§2.7, RFC 9651 §4.1.6)")
    func writesKey() {
        var output = Array("Cache-Status: Larder; hit\r\n".utf8)
        CacheStatus.append(key: Array("http://a:80/\"\\".utf8) + [0xFC, 0x09], toFieldAtEndOf: &output)
        #expect(text(output) == #"Cache-Status: Larder; hit; key="http://a:80/\"\\%FC%09""# + "\r\n")
    }

    @Test("Every word is a token of RFC 9651, and no two reasons share a word")
    func wordsAreTokens() {
        let forwards = ForwardReason.allCases.map { $0.word.description }
        let refusals = StorageRefusal.allCases.map { $0.word.description }
        let stales = StaleReason.allCases.map { $0.word.description }
        for word in forwards + refusals + stales {
            #expect(word.wholeMatch(of: /[a-z][a-z0-9_]*/) != nil, "\(word)")
        }
        #expect(Set(forwards).count == forwards.count)
        #expect(Set(refusals).count == refusals.count)
        let tokens: Set = ["bypass", "method", "uri-miss", "vary-miss", "miss", "request", "stale", "partial"]
        #expect(ForwardReason.allCases.allSatisfy { tokens.contains($0.forwardToken.description) })
    }
}
