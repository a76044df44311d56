import HTTPCaching
import HTTPMessage

/// A request that is answered partly from the store. The missing part is requested with If-Range. If the representation has changed, the
/// origin sends the whole new one, and nothing is mixed (RFC 9111 §3.4, §4.3.1).
package struct RangeCompletion: Sendable {
    package let partial: PartialResponse
    /// The range of the bytes for the client.
    package let wanted: Range<UInt64>
    /// The range to request from the origin.
    package let missing: Range<UInt64>

    /// The fields of the request for the missing part.
    func fields(from request: Fields) -> Fields {
        let tag = partial.response.strongTag ?? []
        return request.askingForPart(from: missing.lowerBound, to: missing.upperBound - 1, of: tag.span)
    }

    /// Whether the response is the requested part of the same representation.
    func accepts(_ response: ResponseHead, body: BodyLength) -> Bool {
        guard response.status.code == 206, case .part(let range, let length)? = BodyResumption.contentRange(of: response.fields),
            range == missing, length == partial.wholeLength, body == .known(range.upperBound - range.lowerBound),
            let tag = BodyResumption.strongTag(of: response.fields)
        else { return false }
        return tag == partial.response.strongTag && BodyResumption.hasSameCoding(response.fields, partial.response.head.fields)
    }
}
