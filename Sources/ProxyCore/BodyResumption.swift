import HTTPCaching
import HTTPMessage

/// How the rest of a body that broke off on its way is asked for (RFC 9110 §13.1.5, §14.2): from where it stopped, and only of the
/// same representation, which a strong entity tag tells in If-Range and in the answer. An answer that does not fit to the byte
/// ends the message as broken.
package struct BodyResumption: Equatable, Sendable {
    /// How often one body is continued, and how often in a row without a byte coming of it.
    static let limit = 128, barrenLimit = 3

    let entityTag: [UInt8]
    /// The bytes of the representation that the message carries. `end` and `whole` are not known where nobody told a length.
    let start: UInt64
    private(set) var end: UInt64?
    private(set) var whole: UInt64?
    /// The next byte that is wanted.
    private(set) var position: UInt64
    /// Where the piece ends that was asked for last, once its head has come.
    private(set) var pieceEnd: UInt64?
    /// Why the whole is not stored, by what the head of a piece of it said.
    var refusal: StorageRefusal?
    private var count = 0
    private var barrenCount = 0

    /// For the response to a GET, from its head; `nil` where nothing would tell that the rest is of the same representation.
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

    /// The body has broken off after so many bytes.
    /// - Returns: `false` where it has been continued too often, or in vain.
    mutating func begin(after received: UInt64) -> Bool {
        let reached = start + received
        barrenCount = count > 0 && reached == position ? barrenCount + 1 : 0
        count += 1
        position = reached
        pieceEnd = nil
        if let end, reached >= end { return false }
        return count <= Self.limit && barrenCount < Self.barrenLimit
    }

    /// Whether the answer holds what was asked for, in the same representation. What is known of the length is taken over.
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

    /// Whether the piece that has ended after so many bytes in all was shorter than what is wanted: an origin may send less than
    /// it is asked for.
    func isUnfinished(after received: UInt64) -> Bool {
        guard pieceEnd != nil, let end else { return false }
        return start + received < end
    }

    /// The fields of the request for what is missing.
    func fields(from request: Fields) -> Fields {
        let last = end == whole ? nil : end.map { $0 - 1 }
        return request.askingForPart(from: position, to: last, of: entityTag.span)
    }

    // MARK: What a head says

    /// The entity tag, where there is one, and it is strong.
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

    /// A 206 need not say the coding again (RFC 9110 §15.3.7); where it does, it has to be the same.
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
