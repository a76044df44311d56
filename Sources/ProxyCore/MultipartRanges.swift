import HTTPMessage

/// Several parts of one representation in one message: multipart/byteranges (RFC 9110 §14.6).
package struct MultipartRanges: Equatable, Sendable {
    /// Parts with a gap of fewer bytes between them are joined, because the gap is shorter than a part's head (RFC 9110 §15.3.7.2).
    private static let joinedGap: UInt64 = 128

    /// The ranges in the requested order; ranges that were joined are at the place of the first of them.
    package let parts: [Range<UInt64>]
    private let whole: UInt64
    /// The representation's Content-Type; empty if it has none.
    private var contentType: [UInt8] = []
    private var boundary: [UInt8] = []

    private init(parts: [Range<UInt64>], whole: UInt64) {
        self.parts = parts
        self.whole = whole
    }

    /// The response to a set of ranges, for a representation of this length.
    enum Choice: Equatable {
        case one(Range<UInt64>)
        case several(MultipartRanges)
        /// Send the complete representation: the ranges cover it, or the parts together would not be shorter.
        case whole
        case unsatisfiable
    }

    static func choose(_ ranges: ByteRangeSet, of whole: UInt64) -> Choice {
        var parts: [Range<UInt64>] = []
        for index in 0..<ranges.count {
            guard let range = ranges[index].resolved(inLength: whole) else { continue }
            // A suffix range of an empty representation is empty, and Content-Range cannot express an empty range.
            if range.isEmpty { return .whole }
            join(range, to: &parts)
        }
        if parts.isEmpty { return .unsatisfiable }
        if ranges.count == 1 { return .one(parts[0]) }
        // Each part also has a head. If the parts together would be longer than the complete representation, Larder sends the complete one
        // (RFC 9110 §17.15).
        let length = parts.reduce(0) { $0 + UInt64($1.count) + (parts.count > 1 ? joinedGap : 0) }
        if length >= whole { return .whole }
        return parts.count == 1 ? .one(parts[0]) : .several(MultipartRanges(parts: parts, whole: whole))
    }

    /// Inserts a range, and joins it with the ranges that it overlaps or nearly touches.
    private static func join(_ range: Range<UInt64>, to parts: inout [Range<UInt64>]) {
        var range = range
        var place = parts.count
        while let index = parts.firstIndex(where: { isNear($0, range) }) {
            let other = parts.remove(at: index)
            range = min(other.lowerBound, range.lowerBound)..<max(other.upperBound, range.upperBound)
            place = min(place, index)
        }
        parts.insert(range, at: min(place, parts.count))
    }

    private static func isNear(_ one: Range<UInt64>, _ other: Range<UInt64>) -> Bool {
        let (first, second) = one.lowerBound <= other.lowerBound ? (one, other) : (other, one)
        return second.lowerBound <= first.upperBound || second.lowerBound - first.upperBound < joinedGap
    }

    /// - Parameters:
    ///   - number: identifies the message. Together with `secret` it gives the boundary, which authors of content cannot predict.
    mutating func describe(contentType: Span<UInt8>, number: UInt64, secret: UInt64) {
        self.contentType = []
        self.contentType.append(contentType)
        boundary = []
        boundary.append(hexadecimal: number)
        boundary.append(hexadecimal: secret)
    }

    /// The length of the message's content, in bytes.
    var length: UInt64 {
        var frame: [UInt8] = []
        for index in 0..<parts.count { writePartHead(index, into: &frame) }
        writeEnd(into: &frame)
        return parts.reduce(UInt64(frame.count)) { $0 + UInt64($1.count) }
    }

    func writeContentType(into output: inout [UInt8]) {
        output.append("Content-Type: multipart/byteranges; boundary=")
        output.append(boundary.span)
        output.append("\r\n")
    }

    /// The delimiter and head before a part's bytes.
    package func writePartHead(_ index: Int, into output: inout [UInt8]) {
        output.append("\r\n--")
        output.append(boundary.span)
        if !contentType.isEmpty {
            output.append("\r\nContent-Type: ")
            output.append(contentType.span)
        }
        output.append("\r\nContent-Range: ")
        ContentRange.part(parts[index], of: whole).write(into: &output)
        output.append("\r\n\r\n")
    }

    /// The delimiter after the last part.
    package func writeEnd(into output: inout [UInt8]) {
        output.append("\r\n--")
        output.append(boundary.span)
        output.append("--\r\n")
    }
}
