import HTTPCaching
import HTTPMessage

/// A stored response to be shown: complete or partial.
package struct FoundResponse: Sendable {
    package let response: StoredResponse
    /// The stored byte ranges of its content, in order; `nil` if all bytes are stored.
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

    /// `0-999, 2000-2999`: the stored bytes, as first and last positions.
    var storedRanges: String {
        (extents ?? [0..<response.body.length]).filter { !$0.isEmpty }.map { "\($0.lowerBound)-\($0.upperBound - 1)" }
            .joined(separator: ", ")
    }

    var storedCount: UInt64 { extents?.reduce(0) { $0 + UInt64($1.count) } ?? response.body.length }

    /// Why the content cannot be written.
    package enum Refusal: Error {
        case badRange
        /// The range begins after the end of the content.
        case unsatisfiable(length: UInt64)
        /// Some of the requested bytes are not stored.
        case incomplete(stored: String, length: UInt64)

        /// Whether the fault is in the request, not in the stored response.
        package var isOfRequest: Bool { if case .badRange = self { true } else { false } }

        package var sentence: String {
            switch self {
            case .badRange: "A range is FIRST-LAST, FIRST- or -COUNT."
            case .unsatisfiable(let length): "The range is outside the content, which has \(length) bytes."
            case .incomplete(let stored, let length):
                "Only a part of the content is stored: bytes \(stored) of \(length). Request a range within these bytes."
            }
        }
    }

    /// The requested bytes: all of them, or a range as in `Range: bytes=…`.
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
