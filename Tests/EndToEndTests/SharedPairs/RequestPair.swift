import TestSupport

/// Two requests that differ in one thing, the origin's response to both, and whether Larder may reuse one response for the other request.
///
/// The rules for reuse are written here a second time from the RFCs, independent of the tested code.
struct RequestPair: CustomStringConvertible {
    struct Half {
        var method = "GET"
        var host = "a.test"
        var path: String
        var fields: [String] = []
        var content = ""
    }

    /// The difference between the two requests.
    enum Difference: CaseIterable {
        /// No difference. Most of these share a response, which shows that the others could.
        case nothing
        /// A field that is in no cache key and that some origin servers obey (T18).
        case unkeyedField
        /// The path, the query or the host (T18, T21).
        case target
        /// Content of a GET (T18).
        case content
        case method
        case authorization
        case cookie
        /// A field that the response lists in Vary.
        case nominated
        case range
        /// Content of a QUERY that a rule puts in the cache key.
        case queryContent
        /// A field that a rule puts in the cache key.
        case keyedField
        /// A parameter spelled so that a rule might confuse it with another one.
        case cloakedParameter
    }

    let difference: Difference
    var first: Half
    var second: Half
    /// Field lines of the response.
    let answer: [String]
    /// Whether both requests are sent before either response.
    let isTogether: Bool
    /// Whether the first response may be reused for the second request, and the reverse.
    private var mayShareFirst: Bool
    private var mayShareSecond: Bool

    init(number: Int, using generator: inout SeededGenerator) {
        difference = generator.one(of: Difference.allCases)
        isTogether = generator.chance(40)
        let lifetime = generator.one(of: Self.lifetimes)
        var lines = [lifetime.line]
        var half = Half(path: "/p\(number)/x?id=1")
        var isShareable = lifetime.isShareable
        let setsCookie = generator.chance(15)
        if setsCookie {
            lines.append("Set-Cookie: id=\(number)")
            isShareable = isShareable && lifetime.isExplicit
        }
        if generator.chance(50) { lines.append("ETag: \"v\(number)\"") }
        var varies = generator.one(of: ["", "", "Accept-Encoding", "Cookie, X-Own", "*"])
        if difference == .nominated { varies = "X-Own" }
        if !varies.isEmpty { lines.append("Vary: \(varies)") }
        if varies == "*" { isShareable = false }
        if difference == .queryContent { half.method = "QUERY" }
        first = half
        second = half
        var mayShareFirst = isShareable
        var mayShareSecond = isShareable
        switch difference {
        case .nothing:
            if half.method == "GET", generator.chance(30) { first.fields.append("Accept-Language: de") }
            second.fields = first.fields
        case .unkeyedField:
            // The response to the request with this field is for that request alone. The request itself may get a shared stored response.
            first.fields.append(generator.one(of: Self.unkeyedFields))
            mayShareFirst = false
        case .target:
            let other = generator.one(of: Self.targets)
            second.host = other.host
            second.path = "/p\(number)" + other.path
            (mayShareFirst, mayShareSecond) = (false, false)
        case .content:
            first.content = "fat"
            (mayShareFirst, mayShareSecond) = (false, false)
        case .method:
            second.method = generator.one(of: ["POST", "PUT", "OPTIONS", "QUERY", "REPORT"])
            (mayShareFirst, mayShareSecond) = (false, false)
        case .authorization:
            first.fields.append("Authorization: Basic one")
            if generator.chance(50) { second.fields.append("Authorization: Basic two") }
            mayShareFirst = isShareable && lifetime.sharesAuthorized
            if second.fields.contains("Authorization: Basic two") { mayShareSecond = mayShareFirst }
        case .cookie:
            first.fields.append("Cookie: id=one")
            if generator.chance(50) { second.fields.append("Cookie: id=two") }
            if varies.contains("Cookie") { (mayShareFirst, mayShareSecond) = (false, false) }
        case .nominated:
            first.fields.append("X-Own: one")
            if generator.chance(70) { second.fields.append("X-Own: two") }
            (mayShareFirst, mayShareSecond) = (false, false)
        case .range:
            second.fields.append("Range: bytes=\(generator.below(20))-\(20 + generator.below(20))")
        case .queryContent:
            first.content = "one\(generator.below(3))"
            second.content = "two\(generator.below(3))"
            (mayShareFirst, mayShareSecond) = (false, false)
        case .keyedField:
            first.fields.append("X-Tenant: one")
            if generator.chance(70) { second.fields.append("X-Tenant: two") }
            (mayShareFirst, mayShareSecond) = (false, false)
        case .cloakedParameter:
            let parameters = generator.one(of: Self.cloakedParameters)
            (first.host, second.host) = (parameters.host, parameters.host)
            first.path = "/p\(number)/x?" + parameters.first
            second.path = "/p\(number)/x?" + parameters.second
            (mayShareFirst, mayShareSecond) = (false, false)
        }
        answer = lines
        self.mayShareFirst = mayShareFirst
        self.mayShareSecond = mayShareSecond
        if generator.chance(50) { swap() }
    }

    private mutating func swap() {
        (first, second) = (second, first)
        (mayShareFirst, mayShareSecond) = (mayShareSecond, mayShareFirst)
    }

    /// Whether the first or second request may get the response to the other one.
    func mayShare(into index: Int) -> Bool { index == 1 ? mayShareFirst : mayShareSecond }

    var description: String { "\(difference)\(isTogether ? ", together" : "") \(answer): \(first) and \(second)" }

    // MARK: Choices

    /// The rules for the pairs: one host drops parameters, one keeps some, one sorts them.
    static let settings = """
        resolve: {a.test: 127.0.0.1, b.test: 127.0.0.1, drop.test: 127.0.0.1, keep.test: 127.0.0.1, sort.test: 127.0.0.1}
        rules:
          - {name: tenants, cache: {key: {fields: X-Tenant, body: QUERY}}}
          - {name: drops, match: {host: drop.test}, cache: {key: {drop_query: "utm_*"}}}
          - {name: keeps, match: {host: keep.test}, cache: {key: {keep_query: id}}}
          - {name: sorts, match: {host: sort.test}, cache: {key: {sort_query: true}}}
        """

    private struct Lifetime {
        let line: String
        var isShareable = true
        var isExplicit = true
        var sharesAuthorized = false
    }

    private static let lifetimes = [
        Lifetime(line: "Cache-Control: max-age=600"), Lifetime(line: "Cache-Control: max-age=600"),
        Lifetime(line: "Cache-Control: public, max-age=600", sharesAuthorized: true),
        Lifetime(line: "Cache-Control: s-maxage=600", sharesAuthorized: true),
        Lifetime(line: "Cache-Control: max-age=600, must-revalidate", sharesAuthorized: true),
        Lifetime(line: "Last-Modified: Mon, 06 Jul 2020 10:00:00 GMT", isExplicit: false),
        Lifetime(line: "Cache-Control: private, max-age=600", isShareable: false),
        Lifetime(line: "Cache-Control: no-store", isShareable: false),
    ]

    private static let unkeyedFields = [
        "X-Forwarded-Host: evil", "X-Forwarded-For: 10.0.0.1", "X-Forwarded-Proto: https", "X-Forwarded-Prefix: /evil",
        "X-Original-URL: /evil", "X-Rewrite-URL: /evil", "X-HTTP-Method-Override: DELETE", "X-Method-Override: PUT",
        "X-HTTP-Method: PUT", "X-Host: evil", "X-HTTP-Host-Override: evil", "X-Original-Host: evil", "Forwarded: host=evil",
        "Cache-Control: no-store",
    ]

    private static let targets: [(host: String, path: String)] = [
        ("b.test", "/x?id=1"), ("a.test", "/x?id=2"), ("a.test", "/X?id=1"), ("a.test", "/x/?id=1"), ("a.test", "/x"),
        ("a.test", "/x?id=1&id=1"), ("a.test", "/x?id=1&"), ("a.test", "/x?ID=1"), ("a.test", "/x.css?id=1"),
        ("a.test", "/x%2f?id=1"), ("a.test", "/x;a?id=1"), ("a.test", "/x/../x?id=1"), ("a.test", "//x?id=1"),
        ("a.test", "/%78?id=1"),
        ("a.test", "/x?%69d=1"), ("a.test", "/x?"),
    ]

    private static let cloakedParameters: [(host: String, first: String, second: String)] = [
        ("drop.test", "id=1&utm_a=1;id=2", "id=1&utm_a=1"), ("drop.test", "id=1", "id=1&utm_%61=2"),
        ("drop.test", "utm_a=1&id=1", "utm_a=1&id=2"), ("keep.test", "id=1", "id=1&ID=2"), ("keep.test", "id=1", "id=1&i%64=2"),
        ("keep.test", "id=1&x=1", "id=1&x=1;id=2"), ("keep.test", "id=1", "id=1&id[]=2"), ("keep.test", "id=1&id=2", "id=2&id=1"),
        ("sort.test", "a=1&a=2", "a=2&a=1"), ("sort.test", "a=1&A=2", "A=2&a=1"), ("sort.test", "a=1&%61=2", "%61=2&a=1"),
        ("sort.test", "a.b=1&a_b=2", "a_b=2&a.b=1"), ("sort.test", "b=1;a=3&a=2", "a=2&b=1;a=3"),
    ]
}
