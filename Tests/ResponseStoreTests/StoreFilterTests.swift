import HTTPCaching
import HTTPMessage
import Testing

@testable import ResponseStore

@Suite("Filters for stored responses")
struct StoreFilterTests {
    private func filter(_ words: [(StoreFilter.Word, String)]) throws -> StoreFilter {
        var filter = StoreFilter()
        for (word, text) in words {
            let fits = filter.set(word, to: text)
            #expect(fits, "\(word) \(text)")
        }
        return filter
    }

    /// 100 seconds old and fresh for 20 more.
    private func entry(_ key: String = "http://example.test:80/a/b.json?q=1", status: UInt16 = 200) -> StoredEntry {
        var facts = ReuseFacts(status: Status(status), responseTime: Timestamp(seconds: 1_700_000_000))
        facts.freshnessLifetime = DeltaSeconds(120)
        facts.lifetimeSource = .maxAge
        var head = ResponseHead()
        head.fields.append(name: "Content-Type", value: "application/json; charset=utf-8")
        return StoredEntry(
            StoredResponse(
                key: Array(key.utf8), nominatedFields: [], facts: facts, head: head,
                requestTime: Timestamp(seconds: 1_700_000_000), body: .bytes([UInt8](repeating: 1, count: 1000)),
                tags: ["index", "json"]))
    }

    private static let now = Timestamp(seconds: 1_700_000_100)

    @Test(
        "Each condition matches exactly what it names",
        arguments: [
            (.url, "http://example.test/a/*", true), (.url, "http://example.test:80/a/*", true),
            (.url, "https://example.test/a/*", false), (.url, "http://example.test:8080/a/*", false),
            (.url, "example.test/*", true), (.url, "HTTP://Example.TEST/a/b.json?q=1", true),
            (.url, "http://example.test/a/b.json", false), (.url, "*.json?q=*", true), (.url, "*.json", false),
            (.url, "http://example.test", false), (.url, "http://example.test/A/*", false), (.url, "*", true),
            (.host, "example.test", true), (.host, "EXAMPLE.test", true), (.host, "*.test", true), (.host, "ample.test", false),
            (.host, "example.test:80", true), (.host, "example.test:81", false),
            (.status, "200", true), (.status, "2xx", true), (.status, "404,200-206", true), (.status, "4xx,5xx", false),
            (.type, "application/json", true), (.type, "application/*", true), (.type, "text/*", false),
            (.olderThan, "99", true), (.olderThan, "100", false), (.youngerThan, "101", true), (.youngerThan, "100", false),
            (.freshness, "fresh", true), (.freshness, "stale", false), (.tag, "json", true), (.tag, "js", false),
            (.largerThan, "999", true), (.largerThan, "1000", false), (.smallerThan, "1001", true), (.smallerThan, "1000", false),
        ] as [(StoreFilter.Word, String, Bool)])
    func word(word: StoreFilter.Word, text: String, expected: Bool) throws {
        #expect(try filter([(word, text)]).matches(entry(), at: Self.now) == expected)
    }

    @Test(
        "Invalid conditions are rejected",
        arguments: [
            (.status, "99"), (.status, "200-"), (.status, ""), (.type, "json"), (.olderThan, "-1"), (.olderThan, "1h"),
            (.url, ""),
            (.url, "http://a b"), (.tag, ""), (.tag, "a\nb"), (.freshness, "old"), (.largerThan, "1k"), (.host, ""),
        ] as [(StoreFilter.Word, String)])
    func refuses(word: StoreFilter.Word, text: String) {
        var filter = StoreFilter()
        let fits = filter.set(word, to: text)
        #expect(!fits)
    }

    @Test("All conditions must match, and an empty filter matches everything")
    func combines() throws {
        #expect(StoreFilter().matches(entry(), at: Self.now))
        let both = try filter([(.host, "example.test"), (.status, "200"), (.tag, "index"), (.tag, "json")])
        #expect(both.matches(entry(), at: Self.now))
        #expect(!both.matches(entry(status: 404), at: Self.now))
        #expect(!both.matches(entry("http://other.test:80/"), at: Self.now))
    }

    @Test("A filter is restored from its encoded conditions")
    func encodes() throws {
        let all = try filter([
            (.url, "http://*.test/*"), (.host, "*.test"), (.status, "404,200-299"), (.type, "image/*"), (.olderThan, "1"),
            (.youngerThan, "2"), (.freshness, "stale"), (.tag, "a"), (.tag, "b"), (.largerThan, "3"), (.smallerThan, "4"),
        ])
        #expect(StoreFilter(encoded: all.encoded) == all)
        #expect(Set(all.words.map(\.word)).count == StoreFilter.Word.allCases.count)
    }

    @Test(
        "A URL without stars names one key, with or without the default port",
        arguments: [
            ("http://example.test/a?b", "http://example.test:80/a?b"), ("https://Example.test", "https://example.test:443/"),
            ("http://example.test:8080/", "http://example.test:8080/"), ("http://[::1]/x", "http://[::1]:80/x"),
            ("http://[::1]:81/x", "http://[::1]:81/x"),
        ])
    func findsKey(url: String, key: String) throws {
        let pattern = try #require(URLPattern(url))
        #expect(pattern.exactKey == Array(key.utf8))
        #expect(pattern.matches(StoredURL.text(ofKey: Array(key.utf8))))
        #expect(URLPattern(url + "*")?.exactKey == nil)
    }

    @Test("A URL also matches responses that are keyed by content", arguments: ["QUERY", "POST"])
    func meansContent(method: String) throws {
        let key = Array("http://example.test:80/a \(method)".utf8)
        var filter = StoreFilter()
        filter.url = URLPattern("http://example.test/a")
        #expect(filter.mayMatch(key: key))
        #expect(filter.onlyKeys?.contains(key) == true)
        filter.url = URLPattern("*/a")
        #expect(filter.mayMatch(key: key))
        filter.url = URLPattern("http://example.test/b")
        #expect(!filter.mayMatch(key: key))
    }

    @Test("A pattern of many stars is matched quickly")
    func boundsGlobs() throws {
        let pattern = try #require(URLPattern("http://" + String(repeating: "*a", count: 1000) + "b"))
        let url = Array(("http://" + String(repeating: "a", count: 8000)).utf8)
        #expect(!pattern.matches(url))
    }
}
