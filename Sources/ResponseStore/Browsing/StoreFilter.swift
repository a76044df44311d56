import HTTPCaching
import HTTPMessage

/// Which stored responses are meant: those for which everything that is said here holds. Without a word, all of them.
///
/// A value with a textual form of its own (`StoreFilter+Words.swift`), so that command line, admin socket and the file's marks of
/// purges speak of the same.
package struct StoreFilter: Equatable, Sendable {
    package enum Freshness: String, CaseIterable, Sendable { case fresh, stale }

    package var url: URLPattern?
    /// With stars; with a port or without.
    package var host: String?
    package var status: [StatusRange] = []
    package var type: MediaTypePattern?
    /// Ages (RFC 9111 §4.2.3) that are greater than the one, and less than the other.
    package var olderThan: DeltaSeconds?
    package var youngerThan: DeltaSeconds?
    /// By the origin server's words alone.
    package var freshness: Freshness?
    /// All of these.
    package var tags: [String] = []
    /// Lengths of bodies that are greater than the one, and less than the other, in bytes.
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

    /// Whether a response with this key can be meant, as far as the key alone tells.
    package func mayMatch(key: [UInt8]) -> Bool {
        if let host, !StoreFilter.matches(host, hostOf: key) { return false }
        return url?.matches(StoredURL.text(ofKey: key)) ?? true
    }

    /// The keys of the one URL that is meant, where the filter says nothing else.
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
