import HTTPSession

/// What a response is to a file of which a part is there, or nothing.
///
/// A part is only added to what has the same strong entity tag (RFC 9110 §13.1.5, §15.3.7.3). It is asked for with If-Range, and what
/// comes is looked at all the same.
enum PartDecision: Equatable, Sendable {
    /// The whole, from its first byte; `nil` where the length is not said.
    case whole(FetchedEntity)
    /// These bytes of that.
    case part(Range<UInt64>, FetchedEntity)
    /// A part of what has no strong validator, or no known end: nothing can be put to it.
    case lonePart
    /// Of something else than what is there.
    case changed
    /// No file at all.
    case refused
    /// A part that nobody asked for.
    case malformed

    /// - Parameters:
    ///   - asked: the range that was asked for; `nil` for none.
    ///   - entity: to which belongs what is there; `nil` for nothing.
    init(status: Int, fields: HTTPFields, asked: Range<UInt64>?, entity: FetchedEntity?) {
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
            // A 206 has the tag that a 200 would have had (RFC 9110 §15.3.7): one without is of nobody knows what.
            guard tag == entity.tag, range.lowerBound == asked.lowerBound, range.upperBound <= asked.upperBound,
                total ?? entity.total == entity.total || entity.total == nil
            else {
                self = .changed
                return
            }
            self = .part(range, FetchedEntity(tag: entity.tag, total: entity.total ?? total))
        case 416 where asked != nil: self = entity == nil ? .lonePart : .changed
        // Through a cache no conditions of ours are answered by 304.
        case 200, 203: self = .whole(FetchedEntity(tag: tag, total: fields["Content-Length"].flatMap { UInt64($0) }))
        case 200...299: self = .whole(FetchedEntity(tag: nil, total: fields["Content-Length"].flatMap { UInt64($0) }))
        default: self = .refused
        }
    }
}

/// What is known of the file that is fetched.
struct FetchedEntity: Equatable, Sendable {
    /// The strong entity tag, with its quotes.
    var tag: String?
    /// In bytes.
    var total: UInt64?
}
