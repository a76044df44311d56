import HTTPMessage

/// A content coding that Larder can decode (RFC 9110 §8.4.1).
package enum ContentCoding: UInt8, Sendable, CaseIterable {
    case gzip
    /// The zlib format (RFC 1950), or bare deflate (RFC 1951), which some servers also send as `deflate`.
    case deflate
    /// The Brotli format (RFC 7932).
    case brotli
    /// The Zstandard format (RFC 8878).
    case zstandard

    /// - Parameter name: compared without regard to case; `x-gzip` means `gzip` (RFC 9110 §8.4.1.3).
    init?(_ name: Span<UInt8>) {
        if name.equalsIgnoringCase("gzip") || name.equalsIgnoringCase("x-gzip") {
            self = .gzip
        } else if name.equalsIgnoringCase("deflate") {
            self = .deflate
        } else if name.equalsIgnoringCase("br") {
            self = .brotli
        } else if name.equalsIgnoringCase("zstd") {
            self = .zstandard
        } else {
            return nil
        }
    }
}

/// The codings of a body as its head lists them, in the order in which they were applied.
package enum ContentCodings: Equatable, Sendable {
    /// The codings, at most `ContentCodings.limit`; empty for a body that is not encoded.
    case known([ContentCoding])
    /// A coding that Larder cannot decode, or more codings than the limit.
    case unsupported

    /// How many codings may be applied to one body (threat T35 in docs/threats.md).
    package static let limit = 2

    /// Reads all Content-Encoding lines of the head. `identity` is ignored (RFC 9110 §12.5.3).
    package init(of fields: borrowing Fields) {
        var codings: [ContentCoding] = []
        var isSupported = true
        for line in fields.lines where line.known == .contentEncoding {
            let value = fields.value(of: line)
            var elements = ListElements()
            while let element = elements.next(in: value) {
                let name = value.extracting(element)
                if name.equalsIgnoringCase("identity") { continue }
                if let coding = ContentCoding(name) { codings.append(coding) } else { isSupported = false }
            }
        }
        self = isSupported && codings.count <= Self.limit ? .known(codings) : .unsupported
    }
}
