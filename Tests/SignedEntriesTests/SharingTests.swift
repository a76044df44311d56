import HTTPCaching
import HTTPMessage
import TestSupport
import Testing

@testable import SignedEntries

@Suite("What may be shared between machines (RFC 9111 §3, §3.5, §5.2.2)")
struct SharingTests {
    struct Row: Sendable {
        let name: String
        var cacheControl = "max-age=60"
        var fields: [(String, String)] = []
        var request: [(String, String)] = []
        var facts: @Sendable (inout SharingFacts) -> Void = { _ in }
        var settings = SharingSettings()
        var expected: SharingDecision = .share
    }

    static let rows: [Row] = [
        Row(name: "a public response"),
        Row(name: "a heuristic lifetime with a validator", cacheControl: "", fields: [("ETag", "\"1\"")]),
        Row(name: "no lifetime and no validator", cacheControl: "max-age=0", expected: .withhold(.useless)),
        // §5.2.2.4: the response is stored, and must be validated.
        Row(name: "no-cache with a validator", cacheControl: "no-cache", fields: [("ETag", "\"1\"")]),
        // §3.5
        Row(
            name: "Authorization", request: [("Authorization", "Basic YTpi")], expected: .withhold(.credentials)),
        Row(name: "Authorization and public", cacheControl: "max-age=60, public", request: [("Authorization", "Basic YTpi")]),
        Row(name: "Authorization and s-maxage", cacheControl: "s-maxage=60", request: [("Authorization", "Basic YTpi")]),
        Row(
            name: "Authorization and must-revalidate", cacheControl: "max-age=60, must-revalidate",
            request: [("Authorization", "Basic YTpi")]),
        Row(
            name: "Authorization and proxy-revalidate", cacheControl: "max-age=60, proxy-revalidate",
            request: [("Authorization", "Basic YTpi")], expected: .withhold(.credentials)),
        Row(
            name: "Authorization and public, selected by Authorization", cacheControl: "max-age=60, public",
            fields: [("Vary", "Accept, Authorization")], request: [("Authorization", "Basic YTpi")],
            expected: .withhold(.varies)),
        Row(name: "Cookie or an added field", facts: { $0.hadCredentials = true }, expected: .withhold(.credentials)),
        Row(
            name: "a client certificate", facts: { $0.hadClientCertificate = true }, expected: .withhold(.credentials)),
        Row(
            name: "a client certificate and public", cacheControl: "max-age=60, public",
            facts: { $0.hadClientCertificate = true }),
        // RFC 9213: only recipients that know the field may share.
        Row(
            name: "private for recipients without a targeted field", cacheControl: "private",
            fields: [("CDN-Cache-Control", "max-age=60")], expected: .withhold(.private)),
        Row(name: "Set-Cookie", fields: [("Set-Cookie", "a=b")], expected: .withhold(.setCookie)),
        Row(
            name: "Set-Cookie, permitted by the settings", fields: [("Set-Cookie", "a=b")],
            settings: SharingSettings(cookies: .explicit)),
        Row(
            name: "Set-Cookie without a lifetime, permitted by the settings", cacheControl: "",
            fields: [("Set-Cookie", "a=b"), ("ETag", "\"1\"")], settings: SharingSettings(cookies: .explicit),
            expected: .withhold(.setCookie)),
        Row(name: "a rule forbids it", facts: { $0.isForbiddenByRule = true }, expected: .withhold(.rule)),
        Row(name: "a recording", facts: { $0.isRecorded = true }, expected: .withhold(.recorded)),
        Row(name: "not whole, or not checked", facts: { $0.isWholeAndChecked = false }, expected: .withhold(.unchecked)),
        Row(name: "write: off", settings: SharingSettings(write: .off), expected: .withhold(.off)),
        Row(
            name: "the first request", settings: SharingSettings(write: .secondRequest), expected: .withhold(.firstRequest)),
        Row(name: "the second request", facts: { $0.requestCount = 2 }, settings: SharingSettings(write: .secondRequest)),
        Row(name: "a body at max_body", settings: SharingSettings(maximumBody: 8)),
        Row(name: "a body beyond max_body", settings: SharingSettings(maximumBody: 7), expected: .withhold(.tooLarge)),
    ]

    @Test("A response is shared, or withheld with a reason", arguments: rows)
    func table(row: Row) throws {
        let response = try #require(
            Origin.stored(row.cacheControl, row.fields, row.request, targets: row.name.contains("targeted"), isForced: true))
        var facts = SharingFacts()
        facts.isWholeAndChecked = true
        row.facts(&facts)
        #expect(Sharing.decide(response, facts, row.settings) == row.expected, "\(row.name)")
    }

    @Test("A response that only an unsafe rule stored is not shared", arguments: ["private, max-age=60", "no-store, max-age=60"])
    func overrides(cacheControl: String) throws {
        var overrides = CacheOverrides()
        overrides.ignored = [.noStore, .private]
        let response = try #require(Origin.stored(cacheControl, [], [], overrides: overrides))
        var facts = SharingFacts()
        facts.isWholeAndChecked = true
        #expect(Sharing.decide(response, facts, SharingSettings()) == .withhold(.override))
    }

    /// RFC 9111 in a second reading: by the text of the fields alone.
    @Test(
        "Of 10,000 generated pairs of requests and responses, none is shared wrongly",
        arguments: Array(1...10 as ClosedRange<UInt64>))
    func generated(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (shared, withheld) = (0, 0)
        let directives = [
            "private", "Private", "no-store", "NO-STORE", "public", "s-maxage=60", "max-age=60", "must-revalidate", "no-cache",
            "proxy-revalidate", "private=\"set-cookie\"", "immutable", "no-transform", "max-age=0", "x-private", "s-maxage=0",
        ]
        for number in 0..<1000 {
            let chosen = (0..<random.below(5)).map { _ in random.one(of: directives) }
            var fields: [(String, String)] = []
            // Several lines of a field are one list (RFC 9110 §5.3).
            let cut = random.below(chosen.count + 1)
            let (first, second) = (chosen[..<cut].joined(separator: ","), chosen[cut...].joined(separator: " , "))
            if !second.isEmpty { fields.append((random.chance(50) ? "cache-control" : "CACHE-CONTROL", second)) }
            let hasCookie = random.chance(15)
            if hasCookie { fields.append(("Set-Cookie", "session=1")) }
            if random.chance(50) { fields.append(("ETag", "\"1\"")) }
            if random.chance(20) { fields.append(("Vary", random.one(of: ["Accept", "Authorization", "Cookie, Accept"]))) }
            let isAuthorised = random.chance(50)
            var facts = SharingFacts()
            facts.isWholeAndChecked = true
            facts.hadCredentials = random.chance(20)
            facts.hadClientCertificate = random.chance(10)
            var overrides = CacheOverrides()
            if random.chance(30) { overrides.ignored = [.noStore, .private] }
            let request = isAuthorised ? [("Authorization", "Bearer 0123456789")] : []
            guard
                let response = Origin.stored(
                    first, fields, request, overrides: overrides, targets: random.chance(20), isForced: random.chance(50))
            else { continue }
            let decision = Sharing.decide(response, facts, SharingSettings())
            guard decision == .share else {
                withheld += 1
                continue
            }
            shared += 1
            let said = Set(chosen.map { $0.lowercased() })
            let isPermitted =
                said.contains("public") || said.contains("must-revalidate") || said.contains { $0.hasPrefix("s-maxage") }
            let hadCredentials = isAuthorised || facts.hadCredentials || facts.hadClientCertificate
            #expect(!said.contains("private") && !said.contains("no-store"), "pair \(number) of seed \(seed)")
            #expect(!hadCredentials || isPermitted, "pair \(number) of seed \(seed)")
            #expect(!hasCookie || said.contains("private=\"set-cookie\""), "pair \(number) of seed \(seed)")
            #expect(!response.nominatedFields.contains(sequence: "0123456789"), "pair \(number) of seed \(seed)")
        }
        #expect(shared > 50 && withheld > 100)
    }
}

/// What the local store makes of a request and its response. With `isForced`, the response is stored although the local store refuses it:
/// what is shared does not depend on the local store's decision alone.
private enum Origin {
    static func stored(
        _ cacheControl: String, _ fields: [(String, String)], _ request: [(String, String)],
        overrides: CacheOverrides = CacheOverrides(), targets: Bool = false, isForced: Bool = false
    ) -> StoredResponse? {
        var head = ResponseHead()
        if !cacheControl.isEmpty { head.fields.append(name: "Cache-Control", value: cacheControl) }
        for (name, value) in fields { head.fields.append(name: name, value: value) }
        var requestHead = RequestHead()
        requestHead.method = .get
        for (name, value) in request { requestHead.fields.append(name: name, value: value) }
        let targeted = targets ? TargetedCacheControl(["cdn-cache-control"]) : TargetedCacheControl.none
        let decision = Storability.decide(
            request: requestHead, response: head, overrides: overrides, targets: targeted, requestTime: TestFarm.now,
            responseTime: TestFarm.now)
        var facts: ReuseFacts
        switch decision {
        case .store(let stored, _): facts = stored
        case .doNotStore:
            if !isForced { return nil }
            facts = Storability.facts(
                of: head, directives: ResponseDirectives(head.fields, targets: targeted), requestTime: TestFarm.now,
                responseTime: TestFarm.now)
            if requestHead.fields.contains(.authorization) { facts.flags.insert(.authorized) }
        }
        guard let prepared = StoredFields.prepare(head, to: requestHead, facts: facts) else { return nil }
        return StoredResponse(
            key: Array("http://origin.example:80/".utf8), nominatedFields: prepared.nominatedFields, facts: facts,
            head: prepared.head, requestTime: TestFarm.now, body: .bytes(Array("the body".utf8)))
    }
}

extension [UInt8] {
    fileprivate func contains(sequence text: String) -> Bool { String(decoding: self, as: UTF8.self).contains(text) }
}
