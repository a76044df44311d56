import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Request directives (RFC 9111 §5.2.1)")
struct RequestDirectivesTests {
    @Test(
        "Each directive and field is noted",
        arguments: [
            ("Cache-Control: no-cache", RequestDirectives.Flags.noCache), ("Cache-Control: No-Store", .noStore),
            ("Cache-Control: only-if-cached", .onlyIfCached), ("Cache-Control: max-age=5", .maxAge),
            ("Cache-Control: max-stale", .maxStale), ("Cache-Control: max-stale=5", .maxStale),
            ("Cache-Control: min-fresh=5", .minFresh),
            ("Pragma: no-cache", .pragmaNoCache), ("Pragma: x, No-Cache", .pragmaNoCache),
            ("Authorization: Basic eDp5", .authorization),
            (#"If-None-Match: "a""#, .cacheCondition), ("If-Modified-Since: x", .cacheCondition),
            (#"If-Match: "a""#, .originCondition),
            ("If-Unmodified-Since: x", .originCondition), ("Range: bytes=0-1", .range), ("If-Range: x", .ifRange),
            ("Content-Length: 1", .content), ("Transfer-Encoding: chunked", .content), ("Content-Length: 0", []),
            ("Cookie: a=b", []), ("Pragma: x", []), ("Cache-Control: no-transform", []), ("Cache-Control: public", []),
        ] as [(String, RequestDirectives.Flags)])
    func notes(field: String, flags: RequestDirectives.Flags) {
        #expect(RequestDirectives(get(field)).flags == flags.union(.isGET))
    }

    @Test(
        "Invalid directives are ignored, so that they cannot bypass the cache (T26)",
        arguments: [
            "max-age", "max-age=", "max-age=x", "max-age=-1", "min-fresh", "min-fresh=x", "max-stale=x", "max-stale=", "no-cach",
            "=no-cache", ";;;", "\"", "\"no-cache", "x=\"no-cache", "max-age =5", ",,,", "x\\", "max-age=5 6",
        ])
    func passesOver(value: String) {
        #expect(RequestDirectives(get("Cache-Control: \(value)")).flags == .isGET)
    }

    @Test("Of several values, the most restrictive applies")
    func takesMostRestrictive() {
        let directives = RequestDirectives(
            get("Cache-Control: max-age=10, max-age=5, min-fresh=1", "Cache-Control: min-fresh=7, max-stale, max-stale=3"))
        #expect(directives.maxAge == DeltaSeconds(5))
        #expect(directives.minFresh == DeltaSeconds(7))
        #expect(directives.maxStale == DeltaSeconds(3))
    }

    @Test("Pragma counts only without Cache-Control (§5.4)")
    func pragmaIsSecond() {
        #expect(RequestDirectives(get("Pragma: no-cache", "Cache-Control: max-age=5")).flags == [.isGET, .maxAge])
    }

    @Test("RequestDirectives is a trivial type")
    func isTrivial() {
        #expect(_isPOD(RequestDirectives.self) && _isPOD(ReuseFacts.self) && _isPOD(ReuseDecision.self))
        #expect(_isPOD(StorageDecision.self) && _isPOD(CacheOverrides.self) && _isPOD(CacheStatus.self))
    }
}
