import HTTPCaching
import HTTPMessage

/// A request that is answered in part from the store: what is missing is asked for in If-Range, so that an origin that has another
/// representation by now sends the whole of that, and nothing is mixed (RFC 9111 §3.4, §4.3.1).
package struct RangeCompletion: Sendable {
    package let partial: PartialResponse
    /// The bytes that the client gets.
    package let wanted: Range<UInt64>
    /// The bytes that the origin is asked for.
    package let missing: Range<UInt64>

    /// The fields of the request for what is missing.
    func fields(from request: Fields) -> Fields {
        let tag = partial.response.strongTag ?? []
        return request.askingForPart(from: missing.lowerBound, to: missing.upperBound - 1, of: tag.span)
    }

    /// Whether the answer is what was asked for, of the same representation.
    func accepts(_ response: ResponseHead, body: BodyLength) -> Bool {
        guard response.status.code == 206, case .part(let range, let length)? = BodyResumption.contentRange(of: response.fields),
            range == missing, length == partial.wholeLength, body == .known(range.upperBound - range.lowerBound),
            let tag = BodyResumption.strongTag(of: response.fields)
        else { return false }
        return tag == partial.response.strongTag && BodyResumption.hasSameCoding(response.fields, partial.response.head.fields)
    }
}
