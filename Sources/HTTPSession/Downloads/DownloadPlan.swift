import HTTPMessage

/// What a response is to a download that has a part already, or none.
enum DownloadPlan: Equatable {
    /// The whole, from its first byte.
    case fromStart(entityTag: String?, total: UInt64?)
    /// The bytes behind those that are there, so many.
    case part(length: UInt64, total: UInt64)
    /// There are no more.
    case alreadyWhole
    /// It does not fit to what is there.
    case anew

    /// - Throws: `unacceptable_status`, and `malformed_response` for a part that nobody asked for.
    init(_ head: ResponseChannel.Head, having part: DownloadPart) throws(SessionError) {
        let tag = head.fields.strongEntityTag
        switch head.status.code {
        case 206:
            guard part.canGoOn else { throw SessionError(.malformedResponse, "the server sent a range that was not requested") }
            guard case .part(let range, let total) = head.fields.contentRange, range.lowerBound == part.length,
                part.total == nil || total == nil || part.total == total,
                // Without it nobody knows whether the part's end is the whole's.
                let whole = total ?? part.total,
                // A 206 has the tag that a 200 would have had (RFC 9110 §15.3.7): one without is of nobody knows what.
                tag == part.entityTag
            else {
                self = .anew
                return
            }
            self = .part(length: UInt64(range.count), total: whole)
        case 416 where part.canGoOn:
            // Only the same entity's length says that the whole is there.
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
