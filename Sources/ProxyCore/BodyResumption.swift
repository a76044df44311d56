import HTTPCaching
import HTTPMessage

/// Resumes a body that was cut off (RFC 9110 §13.1.5, §14.2): requests the rest from where it stopped. A strong entity tag in If-Range and
/// in the response ensures that the rest belongs to the same representation. If a response does not continue exactly at the byte where the
/// body stopped, the message fails.
package struct BodyResumption: Equatable, Sendable {
    /// The maximum number of resumptions of one body, and the maximum number of resumptions in a row that bring no byte.
    static let limit = 128, barrenLimit = 3

    let entityTag: [UInt8]
    /// The bytes of the representation that the message carries. `end` and `whole`, the length of the representation, are `nil` if no
    /// response head gave a length.
    let start: UInt64
    private(set) var end: UInt64?
    private(set) var whole: UInt64?
    /// The next byte to request.
    private(set) var position: UInt64
    /// The end of the part that was requested last; set when the head of that part arrives.
    private(set) var pieceEnd: UInt64?
    /// The reason, found in the head of one of the parts, why the whole response is not stored.
    var refusal: StorageRefusal?
    private var count = 0
    private var barrenCount = 0

    /// Prepares to resume the response to a GET, according to the response's head. `nil` if the response has no strong entity tag, or if
    /// the origin refuses ranges.
    init?(of response: ResponseHead) {
        let fields = response.fields
        guard let tag = Self.strongTag(of: fields), !Self.refusesRanges(fields) else { return nil }
        switch response.status.code {
        case 200:
            start = 0
            whole = Self.contentLength(of: fields)
            end = whole
        case 206:
            guard case .part(let range, let length)? = Self.contentRange(of: fields) else { return nil }
            start = range.lowerBound
            end = range.upperBound
            whole = length
        default: return nil
        }
        entityTag = tag
        position = start
    }

    /// Begins to resume a body that was cut off after this many bytes.
    /// - Returns: `false` if the body was already resumed too many times, or without progress.
    mutating func begin(after received: UInt64) -> Bool {
        let reached = start + received
        barrenCount = count > 0 && reached == position ? barrenCount + 1 : 0
        count += 1
        position = reached
        pieceEnd = nil
        if let end, reached >= end { return false }
        return count <= Self.limit && barrenCount < Self.barrenLimit
    }

    /// Whether the response has the requested part of the same representation. Remembers the length that the response gives.
    mutating func accepts(_ response: ResponseHead, body: BodyLength, continuing first: ResponseHead) -> Bool {
        guard response.status.code == 206, case .part(let range, let length)? = Self.contentRange(of: response.fields),
            range.lowerBound == position, body == .known(range.upperBound - range.lowerBound),
            let tag = Self.strongTag(of: response.fields), tag == entityTag,
            Self.hasSameCoding(response.fields, first.fields)
        else { return false }
        if let whole, let length, whole != length { return false }
        guard let last = end ?? length, range.upperBound <= last else { return false }
        end = last
        whole = whole ?? length
        pieceEnd = range.upperBound
        return true
    }

    /// Whether the part that ended after this many bytes in total was shorter than requested. An origin may send less than the requested
    /// range.
    func isUnfinished(after received: UInt64) -> Bool {
        guard pieceEnd != nil, let end else { return false }
        return start + received < end
    }

    /// The fields of the request for the missing bytes.
    func fields(from request: Fields) -> Fields {
        let last = end == whole ? nil : end.map { $0 - 1 }
        return request.askingForPart(from: position, to: last, of: entityTag.span)
    }

    // MARK: Response heads

    /// The response's entity tag if it is strong, otherwise `nil`.
    static func strongTag(of fields: Fields) -> [UInt8]? {
        guard let line = fields.entityTagLine, let tag = EntityTag(fields.value(of: line)), !tag.isWeak
        else { return nil }
        var octets: [UInt8] = []
        octets.append(fields.value(of: line).extracting(tag.opaqueTag))
        return octets
    }

    static func contentRange(of fields: Fields) -> ContentRange? {
        guard fields.lineCount(of: .contentRange) == 1, let line = fields.first(.contentRange) else { return nil }
        return ContentRange(fields.value(of: line))
    }

    private static func contentLength(of fields: Fields) -> UInt64? {
        guard !fields.contains(.transferEncoding), let line = fields.first(.contentLength) else { return nil }
        return ContentRange.position(fields.value(of: line))
    }

    /// A 206 need not repeat Content-Encoding (RFC 9110 §15.3.7); if it does, the value must be the same.
    static func hasSameCoding(_ fields: Fields, _ first: Fields) -> Bool {
        guard let line = fields.first(.contentEncoding) else { return true }
        guard let firstLine = first.first(.contentEncoding) else { return false }
        return fields.value(of: line).equals(first.value(of: firstLine))
    }

    private static func refusesRanges(_ fields: Fields) -> Bool {
        guard let index = fields.index(ofName: Self.acceptRanges.span) else { return false }
        return fields.value(of: fields.lines[index]).equals("none")
    }

    private static let acceptRanges = Array("accept-ranges".utf8)
}
