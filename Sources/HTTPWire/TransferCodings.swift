import HTTPMessage

/// The result of parsing a message's `Transfer-Encoding` lines (RFC 9112 §6.1). Larder supports only `chunked`, without another coding.
enum TransferCodings: Equatable {
    case chunked
    /// The value is empty, is not a list of codings, or has `chunked` with a parameter.
    case malformed
    /// Another coding follows `chunked`, or `chunked` is missing: the end of the body cannot be determined.
    case chunkedNotFinal
    /// The value has a coding that Larder does not decode.
    case unsupported

    init(of fields: Fields) {
        var hasChunked = false
        var hasRegistered = false
        var hasUnknown = false
        for line in fields.lines where line.known == .transferEncoding {
            let value = fields.value(of: line)
            var elements = ListElements()
            while let element = elements.next(in: value) {
                if hasChunked {
                    self = .chunkedNotFinal
                    return
                }
                switch Coding(value.extracting(element)) {
                case .chunked: hasChunked = true
                case .registered: hasRegistered = true
                case .unknown: hasUnknown = true
                case .malformed:
                    self = .malformed
                    return
                }
            }
        }
        if hasUnknown {
            self = .unsupported
        } else if hasChunked {
            self = hasRegistered ? .unsupported : .chunked
        } else {
            self = hasRegistered ? .chunkedNotFinal : .malformed
        }
    }

    private enum Coding {
        case chunked, registered, unknown, malformed

        init(_ element: Span<UInt8>) {
            var end = 0
            while end < element.count, ASCII.isTokenCharacter(element[end]) { end += 1 }
            let name = element.extracting(0..<end)
            let isChunked = name.equalsIgnoringCase("chunked")
            if end < element.count {
                // RFC 9112 §7.1: chunked has no parameters.
                let parameters = element.trimmedBounds(in: end..<element.count)
                guard end > 0, !isChunked, element[parameters.lowerBound] == ASCII.semicolon else {
                    self = .malformed
                    return
                }
            }
            self = isChunked ? .chunked : Self.isRegistered(name) ? .registered : .unknown
        }

        /// The codings in the registry of RFC 9112 §7.3, and `identity` of RFC 2616.
        private static func isRegistered(_ name: Span<UInt8>) -> Bool {
            name.equalsIgnoringCase("gzip") || name.equalsIgnoringCase("x-gzip") || name.equalsIgnoringCase("deflate")
                || name.equalsIgnoringCase("compress") || name.equalsIgnoringCase("x-compress")
                || name.equalsIgnoringCase("identity")
        }
    }
}
