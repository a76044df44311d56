import HTTPMessage

/// How a download continues after a response, given the part that is already on disk.
enum DownloadPlan: Equatable {
    /// The response has the complete content, from its first byte.
    case fromStart(entityTag: String?, total: UInt64?)
    /// The response has `length` bytes, which follow the part on disk.
    case part(length: UInt64, total: UInt64)
    /// The part on disk is already complete.
    case alreadyWhole
    /// The response does not match the part: start over.
    case anew

    /// - Throws: `unacceptable_status`, and `malformed_response` for a range that was not requested.
    init(_ head: ResponseChannel.Head, having part: DownloadPart) throws(SessionError) {
        let tag = head.fields.strongEntityTag
        switch head.status.code {
        case 206:
            guard part.canGoOn else { throw SessionError(.malformedResponse, "the server sent a range that was not requested") }
            guard case .part(let range, let total) = head.fields.contentRange, range.lowerBound == part.length,
                part.total == nil || total == nil || part.total == total,
                // Without a total length, we cannot tell whether the complete file ends where this part ends.
                let whole = total ?? part.total,
                // A 206 carries the entity tag that a 200 would have had (RFC 9110 §15.3.7). Without an entity tag, we cannot tell
                // which representation the part belongs to.
                tag == part.entityTag
            else {
                self = .anew
                return
            }
            self = .part(length: UInt64(range.count), total: whole)
        case 416 where part.canGoOn:
            // The part is complete only if the response reports the part's length as the total length, for the same entity.
            let isWhole =
                head.fields.contentRange == .unsatisfied(length: part.length) && tag == part.entityTag
                && (part.total == nil || part.total == part.length)
            self = isWhole ? .alreadyWhole : .anew
        case 200...299:
            var total: UInt64?
            if case .length(let length) = head.framing { total = length }
            self = .fromStart(entityTag: tag, total: total)
        default:
            throw SessionError(.unacceptableStatus, "status \(head.status.code)")
        }
    }
}
