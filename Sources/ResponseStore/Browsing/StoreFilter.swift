import HTTPCaching
import HTTPMessage

/// Selects the stored responses that meet all of its conditions. A filter without conditions selects all responses.
///
/// It has a textual form (`StoreFilter+Words.swift`), so that command line, admin socket and stored purges select the same responses.
package struct StoreFilter: Equatable, Sendable {
    package enum Freshness: String, CaseIterable, Sendable { case fresh, stale }

    package var url: URLPattern?
    /// A pattern for the host, with or without a port; `*` matches any characters.
    package var host: String?
    package var status: [StatusRange] = []
    package var type: MediaTypePattern?
    /// Limits on the age (RFC 9111 §4.2.3): greater than `olderThan`, less than `youngerThan`.
    package var olderThan: DeltaSeconds?
    package var youngerThan: DeltaSeconds?
    /// Whether the response is fresh or stale by the origin server's directives alone.
    package var freshness: Freshness?
    /// The response must have all of these tags.
    package var tags: [String] = []
    /// Limits on the body's length in bytes: greater than `largerThan`, less than `smallerThan`.
    package var largerThan: UInt64?
    package var smallerThan: UInt64?

    package init() {}

    package var isEmpty: Bool { self == StoreFilter() }

    package func matches(_ entry: borrowing StoredEntry, at now: Timestamp) -> Bool {
        guard mayMatch(key: entry.key), status.isEmpty || status.contains(where: { $0.contains(entry.facts.status) }),
            type?.matches(entry.contentType.span) ?? true, tags.allSatisfy(entry.tags.contains)
        else { return false }
        if let largerThan, entry.bodyLength <= largerThan { return false }
        if let smallerThan, entry.bodyLength >= smallerThan { return false }
        let age = entry.facts.currentAge(at: now)
        if let olderThan, age <= olderThan { return false }
        if let youngerThan, age >= youngerThan { return false }
        return freshness.map { ($0 == .fresh) == entry.facts.isFresh(at: now) } ?? true
    }

    /// Whether a response with this key may match, judging by the key alone.
    package func mayMatch(key: [UInt8]) -> Bool {
        if let host, !StoreFilter.matches(host, hostOf: key) { return false }
        return url?.matches(StoredURL.text(ofKey: key)) ?? true
    }

    /// The keys that the filter selects if its only condition is a single URL; otherwise `nil`.
    var onlyKeys: [[UInt8]]? {
        guard let url, url.isExact else { return nil }
        var rest = self
        rest.url = nil
        return rest.isEmpty ? url.exactKey.map(CacheKey.withContentKeys) : nil
    }

    private static func matches(_ pattern: String, hostOf key: [UInt8]) -> Bool {
        guard let authority = StoredURL.authority(of: key) else { return false }
        let pattern = pattern.utf8.map(ASCII.lowercased)
        let host = key.span.extracting(authority.host)
        let withPort = key.span.extracting(authority.host.lowerBound..<authority.port.upperBound)
        return Glob.matches(pattern.span, host) || Glob.matches(pattern.span, withPort)
    }
}
