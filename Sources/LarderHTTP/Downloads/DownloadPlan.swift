import HTTPMessage
import HTTPWire

/// How a download continues after a response, given the part that is already on disk.
enum DownloadPlan: Equatable {
    /// The response has the complete content, from its first byte.
    case fromStart(validator: DownloadPart.Validator?, total: UInt64?)
    /// The response has `length` bytes, which follow the part on disk.
    case part(length: UInt64, total: UInt64)
    /// The part on disk is already complete.
    case alreadyWhole
    /// The response does not match the part: start over.
    case anew

    /// Whether the response is acceptable is checked elsewhere (`DownloadValidation`).
    /// - Throws: `malformed_response` for a range that was not requested.
    init(_ head: ResponseChannel.Head, having part: DownloadPart) throws(SessionError) {
        switch head.status.code {
        case 206:
            guard part.canGoOn else { throw SessionError(.malformedResponse, "the server sent a range that was not requested") }
            guard case .part(let range, let total) = head.fields.contentRange, range.lowerBound == part.length,
                part.total == nil || total == nil || part.total == total,
                // Without a total length, we cannot tell whether the complete file ends where this part ends.
                let whole = total ?? part.total,
                // A 206 carries the entity tag that a 200 would have had (RFC 9110 §15.3.7). Without a validator, we cannot tell which
                // representation the part belongs to.
                part.matches(head.fields)
            else {
                self = .anew
                return
            }
            self = .part(length: UInt64(range.count), total: whole)
        case 416 where part.canGoOn:
            // The part is complete only if the response reports the part's length as the total length, for the same entity.
            let isWhole =
                head.fields.contentRange == .unsatisfied(length: part.length) && part.matches(head.fields)
                && (part.total == nil || part.total == part.length)
            self = isWhole ? .alreadyWhole : .anew
        case 200...299:
            self = .fromStart(validator: head.fields.strongValidator, total: head.framing.length)
        default: self = .fromStart(validator: nil, total: head.framing.length)
        }
    }
}

extension BodyFraming {
    /// The length in bytes, if it is known.
    fileprivate var length: UInt64? {
        if case .length(let length) = self { length } else { nil }
    }
}
