import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Targeted cache control (RFC 9213)")
struct TargetedCacheControlTests {
    private static let targets = TargetedCacheControl(["Larder-Cache-Control", "CDN-Cache-Control"])

    private func decide(
        _ fields: [String], status: UInt16 = 200, to request: RequestHead = request(), targets: TargetedCacheControl = targets
    ) -> StorageDecision {
        var head = response(status)
        for field in fields {
            let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            head.fields.append(name: String(parts[0]), value: parts[1].trimmingPrefix(" ").description)
        }
        return Storability.decide(
            request: request, response: head, overrides: .none, targets: targets, requestTime: arrival, responseTime: arrival)
    }

    private func lifetime(_ fields: String..., targets: TargetedCacheControl = targets) -> Int64? {
        guard case .store(let facts, _) = decide(fields + [#"ETag: "x""#], targets: targets) else { return nil }
        return Int64(facts.freshnessLifetime.seconds)
    }

    @Test("The first listed field that is valid and not empty replaces Cache-Control and Expires (§2.2)")
    func selects() {
        #expect(lifetime("CDN-Cache-Control: max-age=60", "Cache-Control: max-age=5") == 60)
        #expect(lifetime("CDN-Cache-Control: max-age=60", "Cache-Control: no-store") == 60)
        #expect(lifetime("CDN-Cache-Control: max-age=60", "Expires: 0") == 60)
        #expect(lifetime("CDN-Cache-Control: max-age=60", "Larder-Cache-Control: max-age=7") == 7)
        #expect(lifetime("Larder-Cache-Control: max-age=?", "CDN-Cache-Control: max-age=60") == 60)
        // Cache-Control and Expires have no effect: there is no lifetime if the targeted field gives none.
        #expect(lifetime("CDN-Cache-Control: none", "Cache-Control: no-store, max-age=60", "Expires: " + date(60)) == 0)
        #expect(lifetime("CDN-Cache-Control: none", "Last-Modified: " + date(-1000)) == 100)
        #expect(lifetime("cdn-cache-control: max-age=60") == 60)
    }

    @Test("A field that is not listed has no effect (§2.2)")
    func ignoresOthers() {
        #expect(lifetime("CDN-Cache-Control: max-age=60", "Cache-Control: max-age=5", targets: .none) == 5)
        #expect(lifetime("Other-Cache-Control: no-store", "Cache-Control: max-age=5") == 5)
        #expect(lifetime("CDN-Cache-Control: no-store", "Cache-Control: max-age=5", targets: .none) == 5)
    }

    @Test(
        "A field that is empty or does not parse is ignored completely (§2.1)",
        arguments: [
            "", " ", ",", "max-age=60,", "max-age =60", "max-age= 60", "MaX-aGe=60", "max-age=60; ;", "max-age=60 no-store",
            "max-age=\u{FC}",
            "no-store=\"", "=1", "max-age=1000000000000000",
        ])
    func ignoresInvalid(value: String) { #expect(lifetime("CDN-Cache-Control: \(value)", "Cache-Control: max-age=5") == 5) }

    @Test(
        "Values of another type are ignored: such a lifetime is zero (§2.1)",
        arguments: ["max-age=\"60\"", "max-age=60.0", "max-age", "max-age=a", "max-age=(60)", "max-age=-60", "max-age=:YQ==:"])
    func refusesTypes(value: String) { #expect(lifetime("CDN-Cache-Control: \(value)", "Cache-Control: max-age=5") == 0) }

    @Test("Parameters are ignored, lines form one list, and of two members with one key the last applies (§2.1, RFC 9651 §3.2)")
    func readsDictionary() {
        #expect(lifetime("CDN-Cache-Control: max-age=60;a=b;c") == 60)
        #expect(lifetime("CDN-Cache-Control: a=1", "CDN-Cache-Control: max-age=60") == 60)
        #expect(lifetime("CDN-Cache-Control: max-age=5, max-age=60") == 60)
        #expect(lifetime("CDN-Cache-Control: foo=(1 2), max-age=60, bar=\"no-store\"") == 60)
        #expect(lifetime("CDN-Cache-Control: no-store=?0, max-age=60") == 60)
    }

    @Test(
        "Directives on storing have the same meaning as in Cache-Control (§2.2)",
        arguments: [
            ("no-store", StorageRefusal.noStore), ("max-age=60, no-store", .noStore), ("no-store=1", .noStore),
            ("private", .private), ("private=\"x-own\"", .private),
        ])
    func refuses(value: String, refusal: StorageRefusal) {
        #expect(decide(["CDN-Cache-Control: \(value)", "Cache-Control: max-age=5"]).refusal == refusal)
    }

    @Test("Directives on reuse have the same meaning as in Cache-Control")
    func reuses() throws {
        func facts(_ value: String) throws -> ReuseFacts {
            guard case .store(let facts, _) = decide(["CDN-Cache-Control: \(value)", #"ETag: "x""#]) else { throw NotStored() }
            return facts
        }
        #expect(try reuse(facts("no-cache, max-age=60"), after: 0) == .validate(.noCache))
        #expect(
            try reuse(facts("must-revalidate, max-age=60"), for: get("Cache-Control: max-stale"), after: 61)
                == .validate(.mustRevalidate))
        #expect(try reuse(facts("max-age=60, stale-while-revalidate=9"), after: 61).staleReason == .staleWhileRevalidate)
        #expect(try reuse(facts("max-age=5, s-maxage=60"), after: 30).isFresh)
        #expect(try facts("max-age=60, stale-if-error=9").staleIfError == DeltaSeconds(9))
        #expect(
            decide(["CDN-Cache-Control: max-age=60, public"], to: get("Authorization: a")).refusal == nil)
        #expect(
            decide(["CDN-Cache-Control: max-age=60", "Cache-Control: public"], to: get("Authorization: a")).refusal
                == .authorization)
    }

    @Test("Both fields are stored and forwarded, and so are the fields that only Cache-Control names (§2.2, §3)")
    func passesOn() throws {
        let head = response(200, "CDN-Cache-Control: max-age=60", "Cache-Control: private=\"x-own\"", "X-Own: a")
        guard
            case .store(let facts, _) = Storability.decide(
                request: request(), response: head, overrides: .none, targets: Self.targets, requestTime: arrival,
                responseTime: arrival)
        else { throw NotStored() }
        let stored = StoredFields.makeHead(from: head, facts: facts)
        for name in ["cdn-cache-control", "cache-control", "x-own"] { #expect(stored.fields.values(of: name).count == 1) }
    }
}
