import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Redirects with a signed Location")
struct SignedLocationTests {
    /// `{"alg":"HS256"}`, `{"sub":"a","exp":1717200300}` and a signature; then the same with blanks and a nested, earlier `exp`.
    private static let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIiwiZXhwIjoxNzE3MjAwMzAwfQ.c2ln"
    private static let nestedToken =
        "eyJhbGciOiJIUzI1NiJ9.eyAiZXhwIiA6IDE3MTcyMDA2MDAsImEiOnsiZXhwIjoxNzE3MjAwMzAwfX0.c2ln"

    /// A custom policy of CloudFront: it begins at 1717100000, and ends at 1717200300.
    private static let policy = Base64.encode(
        Array(
            #"{"Statement":[{"Resource":"https://d.example/?a~b","Condition":{"DateGreaterThan":{"AWS:EpochTime":1717100000},"DateLessThan":{"AWS:EpochTime":1717200300}}}]}"#
                .utf8)
    ).replacing("+", with: "-").replacing("=", with: "_").replacing("/", with: "~")

    private static func redirect(_ query: String, _ fields: String..., status: UInt16 = 302) -> ResponseHead {
        let place = query.hasPrefix("/") ? query : "?\(query)"
        var head = response(status, "Location: https://store.example/blob\(place)")
        for field in fields {
            let parts = field.split(separator: ": ", maxSplits: 1)
            head.fields.append(name: String(parts[0]), value: String(parts[1]))
        }
        return head
    }

    @Test(
        "A response stays fresh at most until the signature expires",
        arguments: [
            "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20240601T000000Z&X-Amz-Expires=300&X-Amz-Signature=ab",
            "x-amz-expires=600&x-amz-date=20240531T235500Z#X-Amz-Expires=1",
            "X-Goog-Date=20240601T000100Z&X-Goog-Expires=240&X-Goog-Signature=ab",
            "AWSAccessKeyId=a&Expires=1717200300&Signature=ab", "expires=1717200300&Key-Pair-Id=a&Signature=ab",
            "sv=2023-11-03&se=2024-06-01T00%3A05%3A00Z&sig=ab", "se=2024-06-01T00:05Z&sig=ab", "se=2024-06-01T00:05:00.1234567Z",
            "se=2024-06-01T02:05:00%2B02:00&sig=ab", "se=2024-06-01T02%3A05+02:00", "se=2024-05-31T19:05:00-0500",
            "se=2024-06-01T02:05%2B02",
            "%73e=2024-06-01T00:05Z&%73ig=ab", "x-oss-date=20240601T000000Z&x-oss-expires=300&x-oss-signature=ab",
            "OSSAccessKeyId=a&Expires=1717200300&Signature=ab", "Policy=\(policy)&Signature=ab&Key-Pair-Id=K1",
            "/cb#id_token=\(token)&state=1", "/cb#\(token)", "a=b#jwt=\(nestedToken)", "jwt=\(token)",
            "a=b&token=\(nestedToken)&c", "/\(token)/file", "/\(token)?a", "jwt=\(token)&Expires=1717209999",
            "Expires=1717209999&X-Amz-Date=20240601T000000Z&X-Amz-Expires=300",
        ])
    func endsWithTheSignature(query: String) throws {
        for control in ["Cache-Control: max-age=3600", "Cache-Control: s-maxage=3600", "Expires: " + date(3600)] {
            let facts = try facts(Self.redirect(query, control))
            #expect(facts.freshnessLifetime == DeltaSeconds(300), "\(control)")
            #expect(facts.lifetimeSource == .signature)
            #expect(reuse(facts, after: 299).isFresh && !reuse(facts, after: 300).isFresh)
        }
        let short = try facts(Self.redirect(query, "Cache-Control: max-age=60"))
        #expect(short.freshnessLifetime == DeltaSeconds(60) && short.lifetimeSource == .maxAge)
    }

    @Test(
        "Other queries, and statuses that do not redirect, do not limit freshness",
        arguments: [
            "", "a=b", "X-Amz-Expires=300", "X-Amz-Date=20240601T000000Z", "X-Amz-Date=20240601T000000Z&X-Goog-Expires=300",
            "X-Amz-Date=20241301T000000Z&X-Amz-Expires=300", "X-Amz-Date=20240601T000000Z&X-Amz-Expires=3x", "Expires=300",
            "Expires=never", "Expires=", "se=5", "se=2024-06-01T25:00:00Z", "se=tomorrow", "se=2024-06-01T00:05+2",
            "se=2024-06-01T00:05+99:00", "Policy=none", "x-oss-expires=300", "/cb#Expires=1717200300",
            "jwt=eyJhbGciOiJIUzI1NiJ9.x.c2ln",
            "jwt=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln",
            // 913113831648622805 seconds, which are more milliseconds than 64 bits hold.
            "jwt=eyJhbGciOiJub25lIn0.eyJleHAiOjkxMzExMzgzMTY0ODYyMjgwNX0.a", "exp=1717200300", "%=%&X-Amz-Date",
            "/x\(token)", "/a#/\(token)", "/se=2024-06-01T00:05Z",
        ])
    func boundsNothing(query: String) throws {
        let facts = try facts(Self.redirect(query, "Cache-Control: max-age=3600"))
        #expect(facts.freshnessLifetime == DeltaSeconds(3600) && facts.signatureLifetime == .greatest)
    }

    @Test("A 301, 303, 307 or 308 can have a signed Location, a 200 or 304 cannot")
    func statuses() throws {
        for status in [200, 301, 302, 303, 307, 308] as [UInt16] {
            let facts = try facts(Self.redirect("Expires=1717200300", "Cache-Control: max-age=3600", status: status))
            #expect((facts.lifetimeSource == .signature) == (status != 200), "\(status)")
        }
    }

    @Test("A rule's lifetime is also limited by the signature, even an unsafe one", arguments: [false, true])
    func boundsRules(isUnsafe: Bool) throws {
        let overrides = CacheOverrides(timeToLive: DeltaSeconds(3600), unsafe: isUnsafe)
        let control = isUnsafe ? "Cache-Control: no-cache" : "X: 1"
        let facts = try facts(Self.redirect("Expires=1717200300", control, status: 301), overrides: overrides)
        #expect(facts.lifetime(under: overrides).source == .signature)
        #expect(reuse(facts, overrides: overrides, after: 299).isFresh)
        #expect(!reuse(facts, overrides: overrides, after: 300).isFresh)
    }

    @Test("A redirect with an expired signature is not served during validation, but is served if the origin fails")
    func isNotServedStale() throws {
        let facts = try facts(
            Self.redirect("Expires=1717200300", "Cache-Control: max-age=60, stale-while-revalidate=3600, stale-if-error=3600"))
        guard case .staleAllowed(_, .staleWhileRevalidate) = reuse(facts, after: 299) else {
            Issue.record("\(reuse(facts, after: 299))")
            return
        }
        #expect(reuse(facts, after: 300) == .forward(.stale))
        let standIn = Reuse.staleAfterFailure(
            .error, facts, for: RequestDirectives(get()), overrides: .none, at: arrival.advanced(seconds: 300))
        #expect(standIn?.staleReason == .staleIfError)
    }

    @Test("A redirect with an expired signature is not stored")
    func isNotStored() {
        for query in ["Expires=1717200000", "X-Amz-Date=20240531T000000Z&X-Amz-Expires=300"] {
            #expect(decide(Self.redirect(query, "Cache-Control: max-age=3600")).refusal == .signature, "\(query)")
        }
    }

    @Test("The store keeps the expiry of the signature; facts of earlier versions have none")
    func survivesTheStore() throws {
        for query in ["Expires=1717200300", "a=b"] {
            let facts = try facts(Self.redirect(query, "Cache-Control: max-age=3600"))
            var octets: [UInt8] = []
            facts.encode(into: &octets)
            #expect(octets.count == ReuseFacts.encodedCount && ReuseFacts(decoding: octets.span) == facts)
        }
    }

    @Test("The signature expires by the origin server's clock, as Expires does")
    func countsFromDate() throws {
        let head = response(
            302, "Location: /x?Expires=1717200300", "Cache-Control: max-age=3600", "Date: " + date(-100), "Age: 50")
        let facts = try facts(head)
        #expect(facts.freshnessLifetime == DeltaSeconds(400) && facts.currentAge(at: arrival) == DeltaSeconds(100))
    }
}
