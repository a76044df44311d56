import HTTPMessage

/// What is stored of a representation that has not come whole (RFC 9111 §3.3), under one strong entity tag. Never served as whole.
package final class PartialResponse: Sendable {
    /// Head and facts as those of the whole. Its body can be read only where `extents` say.
    package let response: StoredResponse
    /// The bytes that are there: in order, apart from one another.
    package let extents: [Range<UInt64>]

    package init(_ response: StoredResponse, extents: [Range<UInt64>]) {
        self.response = response
        self.extents = extents
    }

    package var wholeLength: UInt64 { response.body.length }

    package func holds(_ range: Range<UInt64>) -> Bool {
        extents.contains { $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound }
    }

    /// From the first to the last byte that is missing of a range; empty where none is. What is stored in between is asked for
    /// again, so that one request is enough.
    package func missing(of range: Range<UInt64>) -> Range<UInt64> {
        var (lower, upper) = (range.lowerBound, range.upperBound)
        for extent in extents where extent.contains(lower) { lower = min(extent.upperBound, upper) }
        for extent in extents.reversed() where upper > lower && extent.contains(upper - 1) {
            upper = max(extent.lowerBound, lower)
        }
        return lower..<upper
    }

    /// The first bytes that are missing of the whole, up to what is stored behind them.
    package var firstGap: Range<UInt64> {
        let lower = extents.first.map { $0.lowerBound == 0 ? $0.upperBound : 0 } ?? 0
        let next = extents.first { $0.lowerBound >= lower }
        return lower..<(next?.lowerBound ?? wholeLength)
    }
}

extension StoredResponse {
    /// Whether the bytes of both may be joined: they have one strong entity tag, and one coding, since an origin server that codes
    /// on the way may leave the tag as it was.
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

    /// The entity tag, where it is strong.
    package var strongTag: [UInt8]? {
        let fields = head.fields
        guard facts.flags.contains(.strongETag), let line = fields.first(.etag) else { return nil }
        var tag: [UInt8] = []
        tag.append(fields.value(of: line))
        return tag
    }
}
