import HTTPCaching
import HTTPMessage

/// A stored response that somebody wants to see: whole, or in part.
package struct FoundResponse: Sendable {
    package let response: StoredResponse
    /// The bytes of its content that are stored, in order; `nil` where all are.
    let extents: [Range<UInt64>]?

    init(_ whole: StoredResponse) {
        response = whole
        extents = nil
    }

    init(_ partial: PartialResponse) {
        response = partial.response
        extents = partial.extents
    }

    package var isPartial: Bool { extents != nil }

    /// `0-999, 2000-2999`: the bytes that are stored, first and last.
    var storedRanges: String {
        (extents ?? [0..<response.body.length]).filter { !$0.isEmpty }.map { "\($0.lowerBound)-\($0.upperBound - 1)" }
            .joined(separator: ", ")
    }

    var storedCount: UInt64 { extents?.reduce(0) { $0 + UInt64($1.count) } ?? response.body.length }

    /// Why content is not written.
    package enum Refusal: Error {
        case badRange
        /// It begins behind the end.
        case unsatisfiable(length: UInt64)
        /// Not all that was asked for is there.
        case incomplete(stored: String, length: UInt64)

        /// It is not what is stored that is in the way.
        package var isOfRequest: Bool { if case .badRange = self { true } else { false } }

        package var sentence: String {
            switch self {
            case .badRange: "A range is FIRST-LAST, FIRST- or -COUNT."
            case .unsatisfiable(let length): "The content has \(length) bytes, and the range contains none of them."
            case .incomplete(let stored, let length):
                "Only a part is stored: bytes \(stored) of \(length). Request a range of these."
            }
        }
    }

    /// The bytes that are asked for: all of them, or a range as in `Range: bytes=…`.
    package func bytes(in range: String?) throws(Refusal) -> Range<UInt64> {
        var wanted = 0..<response.body.length
        if let range {
            guard let set = ByteRangeSet(Array("bytes=\(range)".utf8).span), set.count == 1 else { throw .badRange }
            guard let resolved = set[0].resolved(inLength: response.body.length) else {
                throw .unsatisfiable(length: response.body.length)
            }
            wanted = resolved
        }
        let isThere = extents?.contains { $0.lowerBound <= wanted.lowerBound && wanted.upperBound <= $0.upperBound } ?? true
        guard isThere else { throw .incomplete(stored: storedRanges, length: response.body.length) }
        return wanted
    }
}
