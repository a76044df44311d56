import LarderHTTP

/// Classifies a response for a file of which nothing or a part exists.
///
/// Content is only added to a part with the same strong entity tag (RFC 9110 §13.1.5, §15.3.7.3). The request has If-Range, and the
/// response is checked as well.
enum PartDecision: Equatable, Sendable {
    /// The complete content, from its first byte.
    case whole(FetchedEntity)
    /// A part of the entity: the bytes of this range.
    case part(Range<UInt64>, FetchedEntity)
    /// The response has a part without a strong validator or without a known end, so no other part can be combined with it.
    case lonePart
    /// The existing part cannot be continued: the response is from a different entity, or the requested range no longer exists.
    case changed
    /// The response is not the file.
    case refused
    /// The response has a part that was not requested.
    case malformed

    /// - Parameters:
    ///   - asked: the requested range; `nil` if there was none.
    ///   - entity: the entity of the existing part; `nil` if there is none.
    init(status: Int, fields: SessionFields, asked: Range<UInt64>?, entity: FetchedEntity?) {
        let tag = fields.strongEntityTag
        switch status {
        case 206:
            guard let asked else {
                self = .malformed
                return
            }
            guard case .part(let range, let total) = fields.contentRange else {
                self = entity == nil ? .lonePart : .changed
                return
            }
            guard let entity else {
                guard let tag, let total, range.lowerBound == asked.lowerBound else {
                    self = .lonePart
                    return
                }
                self = .part(range, FetchedEntity(tag: tag, total: total))
                return
            }
            // A 206 carries the entity tag of the 200 (RFC 9110 §15.3.7); without one, its representation is unknown.
            guard tag == entity.tag, range.lowerBound == asked.lowerBound, range.upperBound <= asked.upperBound,
                total ?? entity.total == entity.total || entity.total == nil
            else {
                self = .changed
                return
            }
            self = .part(range, FetchedEntity(tag: entity.tag, total: entity.total ?? total))
        case 416 where asked != nil: self = entity == nil ? .lonePart : .changed
        // A 304 is not expected: the requests have no conditions besides If-Range.
        case 200, 203: self = .whole(FetchedEntity(tag: tag, total: fields["Content-Length"].flatMap { UInt64($0) }))
        case 200...299: self = .whole(FetchedEntity(tag: nil, total: fields["Content-Length"].flatMap { UInt64($0) }))
        default: self = .refused
        }
    }
}

/// The known properties of the entity that is fetched.
struct FetchedEntity: Equatable, Sendable {
    /// The strong entity tag, with its quotes.
    var tag: String?
    /// The length of the whole entity, in bytes; `nil` if it is not known.
    var total: UInt64?
}
