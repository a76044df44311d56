import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Storing responses (RFC 9111 §3)")
struct StorabilityTests {
    @Test(
        "Storable responses are stored",
        arguments: [
            (200, "Cache-Control: max-age=60"), (200, "Cache-Control: s-maxage=60"), (200, "Expires: " + date(60)),
            (302, "Cache-Control: max-age=60"), (500, "Cache-Control: max-age=60"), (404, "Cache-Control: max-age=60"),
            // A heuristic lifetime, from Last-Modified, for a heuristically cacheable status.
            (200, "Last-Modified: " + date(-86_400)), (203, "Last-Modified: " + date(-86_400)),
            (204, "Last-Modified: " + date(-86_400)), (301, "Last-Modified: " + date(-86_400)),
            (308, "Last-Modified: " + date(-86_400)), (404, "Last-Modified: " + date(-86_400)),
            (410, "Last-Modified: " + date(-86_400)), (414, "Last-Modified: " + date(-86_400)),
            (501, "Last-Modified: " + date(-86_400)),
            // Without a lifetime, but with a validator.
            (200, #"ETag: "x""#), (200, "Cache-Control: no-cache, max-age=60\r"),
            // An unknown status with an explicit lifetime: only must-understand requires that the status is understood.
            (299, "Cache-Control: max-age=60"), (599, "Cache-Control: max-age=60"),
        ] as [(UInt16, String)])
    func stores(status: UInt16, field: String) {
        let extra = field.contains("no-cache") ? #"ETag: "x""# : "X-Extra: 1"
        #expect(decide(response(status, field.replacing("\r", with: ""), extra)).refusal == nil)
    }

    @Test(
        "Only responses to GET are stored",
        arguments: ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PROPFIND", "BREW", "get"])
    func storesOnlyGET(method: String) {
        #expect(decide(response(200, "Cache-Control: max-age=60"), to: request(method)).refusal == .method)
    }

    @Test(
        "The status must be final and independent of this request",
        arguments: [
            (100, StorageRefusal.status), (103, .status), (199, .status), (206, .partialContent), (304, .notModified),
            (412, .status), (416, .status), (417, .status), (407, .status), (408, .status), (421, .status), (429, .status),
            (431, .status),
            (600, .status), (999, .status),
        ] as [(UInt16, StorageRefusal)])
    func refusesStatuses(status: UInt16, refusal: StorageRefusal) {
        #expect(decide(response(status, "Cache-Control: public, max-age=60")).refusal == refusal)
    }

    @Test(
        "A response with no-store is not stored, whatever the spelling and position",
        arguments: [
            "no-store", "NO-STORE", "max-age=60, no-store", "no-store, max-age=60", "public,no-store", #"no-store="x""#,
            "no-store,",
            #"ext="a, b", no-store"#, "no-store ; x",
        ])
    func obeysNoStore(value: String) {
        #expect(decide(response(200, "Cache-Control: \(value)", #"ETag: "x""#)).refusal == .noStore)
    }

    @Test("A no-store inside a quoted string is ignored")
    func readsQuotedStrings() {
        #expect(decide(response(200, #"Cache-Control: max-age=60, ext="no-store, private""#)).refusal == nil)
        #expect(decide(response(200, #"Cache-Control: max-age=60, ext="a\", no-store""#)).refusal == nil)
    }

    @Test(
        "A response with an unclosed quote in Cache-Control is not stored",
        arguments: [#"ext="a, private"#, #"ext="a", no-store"#, #"ext="a"", no-store"#, #"must-understand, ext=""#])
    func refusesOpenQuotes(value: String) {
        #expect(decide(response(200, "Cache-Control: max-age=60, \(value)")).refusal != nil)
    }

    @Test("All Cache-Control lines apply")
    func readsAllLines() {
        let head = response(200, "Cache-Control: max-age=60", "Cache-Control: private")
        #expect(decide(head).refusal == .private)
    }

    @Test("The response to a request with no-store is not stored")
    func obeysRequestNoStore() {
        let request = get("Cache-Control: no-store")
        #expect(decide(response(200, "Cache-Control: public, max-age=60"), to: request).refusal == .requestNoStore)
    }

    @Test(
        "A private response is not stored in a shared cache",
        arguments: ["private", "Private, max-age=60", "public, private", #"private="""#, #"private="a b""#])
    func obeysPrivate(value: String) {
        #expect(decide(response(200, "Cache-Control: \(value)", #"ETag: "x""#)).refusal == .private)
    }

    @Test("must-understand: no-store is ignored if the status is understood; with any other status nothing is stored (§5.2.2.3)")
    func obeysMustUnderstand() {
        #expect(decide(response(200, "Cache-Control: must-understand, no-store, max-age=60")).refusal == nil)
        #expect(decide(response(299, "Cache-Control: must-understand, max-age=60")).refusal == .mustUnderstand)
        #expect(decide(response(299, "Cache-Control: must-understand, no-store, max-age=60")).refusal == .mustUnderstand)
        #expect(decide(response(200, "Cache-Control: must-understand, no-store, private, max-age=60")).refusal == .private)
    }

    @Test(
        "A response that nothing allows to be stored is not stored",
        arguments: [302, 303, 307, 400, 403, 500, 502, 503] as [UInt16])
    func needsPermission(status: UInt16) {
        let modified = "Last-Modified: " + date(-86_400)
        #expect(decide(response(status, modified)).refusal == .notCacheable)
        #expect(decide(response(status, modified, "Cache-Control: public")).refusal == nil)
    }

    @Test(
        "A response without lifetime and validator is not stored",
        arguments: [
            "X: 1", "Cache-Control: max-age=0", "Cache-Control: max-age=60, no-cache", "Expires: 0", "Cache-Control: public",
        ])
    func needsUse(field: String) {
        #expect(decide(response(200, field)).refusal == .noLifetime)
    }

    @Test("Unknown directives are ignored (§5.2.3)")
    func ignoresExtensions() {
        #expect(decide(response(200, #"Cache-Control: community="UCI", max-age=60, x-no-store"#)).refusal == nil)
    }

    @Test("must-revalidate and similar directives do not allow storing other statuses")
    func knowsPermissions() {
        #expect(decide(response(302, "Cache-Control: must-revalidate")).refusal == .notCacheable)
    }
}

@Suite("Responses to requests with Authorization (RFC 9111 §3.5)")
struct AuthorizationStorabilityTests {
    @Test(
        "T22: a response is stored only with public, s-maxage or must-revalidate",
        arguments: [
            ("max-age=60", false), ("max-age=60, public", true), ("s-maxage=60", true), ("max-age=60, must-revalidate", true),
            ("max-age=60, proxy-revalidate", false), ("max-age=60, immutable", false),
        ])
    func needsDirective(value: String, isStored: Bool) {
        let decision = decide(response(200, "Cache-Control: \(value)"), to: get("Authorization: Basic eDp5"))
        #expect(decision.refusal == (isStored ? nil : .authorization))
    }

    @Test("T22: an unsafe rule does not share a response to an authenticated request")
    func ruleDoesNotShare() {
        let overrides = CacheOverrides(timeToLive: DeltaSeconds(60), ignored: [.noStore, .private], unsafe: true)
        let decision = decide(
            response(200, "Cache-Control: max-age=60"), to: get("Authorization: Basic eDp5"), overrides: overrides)
        #expect(decision.refusal == .authorization)
    }

    @Test("A response shared only because of must-revalidate is never served stale, not even by an unsafe rule")
    func keepsItsTerms() throws {
        let facts = try facts(
            response(200, "Cache-Control: max-age=60, must-revalidate", #"ETag: "x""#), to: get("Authorization: Basic eDp5"))
        let overrides = CacheOverrides(policy: .storedElseLoad, timeToLive: DeltaSeconds(600), unsafe: true)
        #expect(reuse(facts, overrides: overrides, after: 59).isFresh)
        #expect(reuse(facts, overrides: overrides, after: 61) == .validate(.mustRevalidate))
    }
}

@Suite("Set-Cookie in stored responses (RFC 9111 §7.3)")
struct SetCookieStorabilityTests {
    @Test(
        "T23: a response with Set-Cookie is stored only with an explicit lifetime",
        arguments: [
            ("Cache-Control: max-age=60", nil), ("Cache-Control: s-maxage=60", nil), ("Expires: " + date(60), nil),
            ("Last-Modified: " + date(-864_000), StorageRefusal.setCookie), (#"ETag: "x""#, .setCookie),
            ("Cache-Control: public", .setCookie),
        ] as [(String, StorageRefusal?)])
    func needsExplicitLifetime(field: String, refusal: StorageRefusal?) {
        #expect(decide(response(200, field, "Set-Cookie: a=b")).refusal == refusal)
    }

    @Test("T23: a response with Set-Cookie is not stored if the setting is never")
    func obeysSetting() {
        let overrides = CacheOverrides(setCookie: .never)
        #expect(decide(response(200, "Cache-Control: max-age=60", "Set-Cookie: a=b"), overrides: overrides).refusal == .setCookie)
    }

    @Test("T23: a rule's lifetime does not count as explicit", arguments: [false, true])
    func ruleIsNotExplicit(isUnsafe: Bool) {
        let overrides = CacheOverrides(timeToLive: DeltaSeconds(60), unsafe: isUnsafe)
        #expect(decide(response(200, #"ETag: "x""#, "Set-Cookie: a=b"), overrides: overrides).refusal == .setCookie)
    }

    @Test("A rule that always shares cookies applies to heuristic lifetimes, reports it, and only such a rule uses the response")
    func sharesAlways() throws {
        let overrides = CacheOverrides(setCookie: .always)
        let head = response(200, "Set-Cookie: a=b", "Last-Modified: " + date(-864_000))
        guard case .store(let facts, let usedUnsafe) = decide(head, overrides: overrides) else {
            Issue.record("not stored")
            return
        }
        #expect(usedUnsafe)
        #expect(reuse(facts, overrides: overrides, after: 1).terms?.usedUnsafe == true)
        #expect(reuse(facts, after: 1) == .forward(.unsafeRuleGone))
    }
}

@Suite("Unkeyed inputs")
struct UnkeyedInputTests {
    @Test(
        "T18: a request that may select another resource does not change a shared response",
        arguments: [
            "X-Forwarded-Host: evil.example", "x-forwarded-for: 10.0.0.1", "X-Forwarded-Proto: https", "X-Forwarded-Prefix: /x",
            "X-Original-URL: /admin", "X-Rewrite-URL: /admin", "X-HTTP-Method-Override: DELETE", "X-Method-Override: PUT",
            "X-HTTP-Method: PUT", "X-Host: evil.example", "X-HTTP-Host-Override: evil.example", "Forwarded: host=evil.example",
            "X-Forwarded: host=evil.example", "X-Original-URI: /admin", "X-Forwarded_Host: evil.example",
            "X_Forwarded_Host: evil.example", "x_original_url: /admin", "X-Scheme: http", "X-Real-Host: evil.example",
            "X-Backend-Host: evil.example", "X-Middleware-Subrequest: middleware", "X-Invoke-Path: /admin", "X-Nextjs-Data: 1",
        ])
    func isNotStored(field: String) {
        #expect(decide(response(200, "Cache-Control: public, max-age=60"), to: get(field)).refusal == .unkeyedInput)
    }

    @Test(
        "T18: other extension fields do not matter",
        arguments: [
            "X-Request-Id: 1", "X-: 1", "X_: 1", "XForwarded-Host: 1", "X-Forward: 1", "X-Hosts: 1", "X-Real-IP: 1",
            "X-Scheme2: 1",
        ])
    func othersAreStored(field: String) {
        let refusal = decide(response(200, "Cache-Control: max-age=60"), to: get(field)).refusal
        #expect(refusal == nil)
    }

    @Test(
        "T18: a GET with content neither uses nor changes a shared response",
        arguments: ["Content-Length: 5", "Transfer-Encoding: chunked"])
    func contentIsApart(field: String) throws {
        #expect(decide(response(200, "Cache-Control: max-age=60"), to: get(field)).refusal == .requestContent)
        let facts = try facts(response(200, "Cache-Control: max-age=60"))
        #expect(reuse(facts, for: get(field), after: 1) == .forward(.requestContent))
        #expect(reuse(facts, for: get("Content-Length: 0"), after: 1).isFresh)
    }

    @Test(
        "T21: only the response's fields decide, not a path that looks like a style sheet",
        arguments: [
            "http://example.com/account/x.css", "http://example.com/account%2fx.css", "http://example.com/account;x.css",
            "http://example.com/account/..%2fx.js",
        ])
    func extensionNeverDecides(target: String) {
        #expect(decide(response(200, "Content-Type: text/html"), to: request("GET", target)).refusal == .noLifetime)
        #expect(decide(response(200, "Cache-Control: private, max-age=60"), to: request("GET", target)).refusal == .private)
    }
}

@Suite("Rules on storing")
struct StorageRuleTests {
    @Test("A response is not stored if a rule sets store: never")
    func neverStores() {
        #expect(decide(response(200, "Cache-Control: max-age=60"), overrides: CacheOverrides(storeNever: true)).refusal == .rule)
    }

    @Test(
        "A body whose declared length is at the limit is stored, one byte more is not",
        arguments: [
            ("100", nil), ("101", StorageRefusal.bodyTooLarge), ("99999999999999999999999", .bodyTooLarge), ("0", nil),
        ] as [(String, StorageRefusal?)])
    func limitsBody(length: String, refusal: StorageRefusal?) {
        let overrides = CacheOverrides(maximumBodyLength: 100)
        let head = response(200, "Cache-Control: max-age=60", "Content-Length: \(length)")
        #expect(decide(head, overrides: overrides).refusal == refusal)
    }

    @Test("A rule's lifetime allows storing a response without one, within the limits of §3")
    func givesLifetime() {
        let rule = CacheOverrides(timeToLive: DeltaSeconds(60))
        #expect(decide(response(200), overrides: rule).refusal == nil)
        #expect(decide(response(302), overrides: rule).refusal == .notCacheable)
        #expect(decide(response(302), overrides: CacheOverrides(timeToLive: DeltaSeconds(60), unsafe: true)).refusal == nil)
    }

    @Test(
        "Neither lifetime nor policy overrides no-store and private; a rule that ignores them does, and the decision reports it",
        arguments: [
            ("no-store", StorageRefusal.noStore, .noStore), ("private", .private, .private),
            ("private, no-store", .noStore, [.noStore, .private]),
        ] as [(String, StorageRefusal, CacheOverrides.Directives)])
    func ignoresDirectives(value: String, refusal: StorageRefusal, ignored: CacheOverrides.Directives) {
        let head = response(200, "Cache-Control: \(value)")
        let lifetime = CacheOverrides(policy: .storedElseLoad, timeToLive: DeltaSeconds(60), unsafe: true)
        #expect(decide(head, overrides: lifetime).refusal == refusal)
        for other in [CacheOverrides.Directives.noStore, .private] where !other.isSuperset(of: ignored) {
            #expect(decide(head, overrides: CacheOverrides(timeToLive: DeltaSeconds(60), ignored: other)).refusal != nil)
        }
        let decision = decide(head, overrides: CacheOverrides(timeToLive: DeltaSeconds(60), ignored: ignored))
        guard case .store(let facts, let usedUnsafe) = decision else { return #expect(Bool(false), "\(decision)") }
        #expect(usedUnsafe)
        #expect(facts.isMemoryOnly == value.contains("no-store"), "T45: no-store never touches the disk")
    }

    @Test("A response that an unsafe rule stored is used only under such a rule")
    func needsUnsafeForUse() throws {
        let overrides = CacheOverrides(timeToLive: DeltaSeconds(60), ignored: .noStore)
        let facts = try facts(response(200, "Cache-Control: no-store"), overrides: overrides)
        #expect(reuse(facts, overrides: overrides, after: 1).terms?.usedUnsafe == true)
        #expect(reuse(facts, after: 1) == .forward(.unsafeRuleGone))
        #expect(reuse(facts, overrides: CacheOverrides(policy: .storedOnly), after: 1) == .notSatisfiable(.unsafeRuleGone))
    }

    @Test("No rule overrides the request's no-store")
    func requestNoStoreHolds() {
        let overrides = CacheOverrides(timeToLive: DeltaSeconds(60), ignored: [.noStore, .private], unsafe: true)
        #expect(decide(response(200), to: get("Cache-Control: no-store"), overrides: overrides).refusal == .requestNoStore)
    }

    @Test(
        "A rule's lifetime for a status applies to every status class; the origin's directives take precedence",
        arguments: [
            (404, "X: y", Int64(60)), (503, "X: y", 10), (500, "X: y", 10), (200, "X: y", nil), (302, "X: y", nil),
            (503, "Cache-Control: max-age=5", 5), (503, "Cache-Control: no-store", nil), (404, "Cache-Control: private", nil),
        ] as [(UInt16, String, Int64?)])
    func lifetimeByStatus(code: UInt16, field: String, seconds: Int64?) throws {
        var overrides = CacheOverrides()
        overrides.statusLifetimes.add(404...404, lifetime: DeltaSeconds(60))
        overrides.statusLifetimes.add(500...599, lifetime: DeltaSeconds(10))
        let decision = decide(response(code, field), overrides: overrides)
        guard let seconds else { return #expect(decision.refusal != nil) }
        guard case .store(let facts, false) = decision else { return #expect(Bool(false), "\(decision)") }
        #expect(reuse(facts, overrides: overrides, after: seconds - 1).isFresh)
        #expect(!reuse(facts, overrides: overrides, after: seconds).isFresh)
    }

    @Test("heuristic: false disables heuristic lifetimes, and the response is validated each time")
    func forbidsHeuristic() throws {
        var overrides = CacheOverrides()
        overrides.permitsHeuristic = false
        let head = response(200, "Last-Modified: " + date(-864_000))
        let facts = try facts(head, overrides: overrides)
        #expect(reuse(facts, after: 1).isFresh)
        #expect(reuse(facts, overrides: overrides, after: 1) == .validate(.stale))
        #expect(decide(response(404, "Last-Modified: " + date(-864_000)), overrides: overrides).refusal == .noLifetime)
    }

    @Test("A policy that serves any age allows storing a response without lifetime and validator")
    func storesForAnyAge() {
        #expect(decide(response(200), overrides: CacheOverrides(policy: .storedElseLoad)).refusal == nil)
        let unusable = response(200, "Cache-Control: max-age=0, must-revalidate")
        #expect(decide(unusable, overrides: CacheOverrides(policy: .storedElseLoad)).refusal == .noLifetime)
    }
}
