import HTTPCaching
import HTTPMessage

/// A request that is answered in part from the store: what is missing is asked for in If-Range, so that an origin that has another
/// representation by now sends the whole of that, and nothing is mixed (RFC 9111 §3.4, §4.3.1).
package struct Completion: Sendable {
    package let partial: PartialResponse
    /// The octets that the client gets.
    package let wanted: Range<UInt64>
    /// The octets that the origin is asked for.
    package let missing: Range<UInt64>

    /// The fields of the request for what is missing: the client's, without its own conditions on the whole.
    func fields(from request: Fields) -> Fields {
        var fields = request
        for field in [KnownField.range, .ifRange, .ifNoneMatch, .ifModifiedSince] { fields.remove(field) }
        var range: [UInt8] = []
        range.append("bytes=")
        range.append(decimal: missing.lowerBound)
        range.append(0x2D)
        range.append(decimal: missing.upperBound - 1)
        fields.append("Range", range.span)
        let tag = partial.response.strongTag ?? []
        fields.append("If-Range", tag.span)
        return fields
    }

    /// Whether the answer is what was asked for, of the same representation.
    func accepts(_ response: ResponseHead, body: BodyLength) -> Bool {
        guard response.status.code == 206, case .part(let range, let length)? = Continuation.contentRange(of: response.fields),
            range == missing, length == partial.wholeLength, body == .known(range.upperBound - range.lowerBound),
            let tag = Continuation.strongTag(of: response.fields)
        else { return false }
        return tag == partial.response.strongTag
    }
}
