import HTTPMessage

/// The stored parts of an incomplete response (RFC 9111 §3.3), all with one strong entity tag. Never served as complete.
package final class PartialResponse: Sendable {
    /// Has the head and facts of the complete response. Of its body, only the ranges in `extents` can be read.
    package let response: StoredResponse
    /// The stored byte ranges, in order, separated by missing bytes.
    package let extents: [Range<UInt64>]

    package init(_ response: StoredResponse, extents: [Range<UInt64>]) {
        self.response = response
        self.extents = extents
    }

    package var wholeLength: UInt64 { response.body.length }

    package func holds(_ range: Range<UInt64>) -> Bool {
        extents.contains { $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound }
    }

    /// The range from the first to the last missing byte within `range`; empty if no byte is missing. Stored bytes between missing
    /// bytes are fetched again, so that one request is enough.
    package func missing(of range: Range<UInt64>) -> Range<UInt64> {
        var (lower, upper) = (range.lowerBound, range.upperBound)
        for extent in extents where extent.contains(lower) { lower = min(extent.upperBound, upper) }
        for extent in extents.reversed() where upper > lower && extent.contains(upper - 1) {
            upper = max(extent.lowerBound, lower)
        }
        return lower..<upper
    }

    /// The first missing range of the complete response: the bytes up to the next stored range.
    package var firstGap: Range<UInt64> {
        let lower = extents.first.map { $0.lowerBound == 0 ? $0.upperBound : 0 } ?? 0
        let next = extents.first { $0.lowerBound >= lower }
        return lower..<(next?.lowerBound ?? wholeLength)
    }
}

extension StoredResponse {
    /// Whether the bytes of the two responses may be joined: both have the same strong entity tag and the same content coding. An origin
    /// server that compresses dynamically may leave the tag unchanged.
    package func isOfSameRepresentation(as other: StoredResponse) -> Bool {
        guard let tag = strongTag, tag == other.strongTag else { return false }
        return contentCoding == other.contentCoding
    }

    private var contentCoding: [UInt8] {
        let fields = head.fields
        var coding: [UInt8] = []
        for line in fields.lines where line.known == .contentEncoding {
            if !coding.isEmpty { coding.append(ASCII.comma) }
            coding.append(fields.value(of: line))
        }
        return coding
    }

    /// The entity tag, if it is strong.
    package var strongTag: [UInt8]? {
        let fields = head.fields
        guard facts.flags.contains(.strongETag), let line = fields.first(.etag) else { return nil }
        var tag: [UInt8] = []
        tag.append(fields.value(of: line))
        return tag
    }
}
