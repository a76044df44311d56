import HTTPMessage
import Testing

@testable import HTTPWire

/// A whole body decoded by `BodyDecoder` from pieces.
struct Decoded: Equatable {
    var content: [UInt8] = []
    /// The number of bytes that the body took.
    var consumed = 0
    var trailers = Fields()

    init(chunked text: String, limits: ParseLimits = ParseLimits()) throws {
        try self.init(chunked: Array(text.utf8), limits: limits)
    }

    init(chunked octets: [UInt8], limits: ParseLimits = ParseLimits()) throws {
        try self.init(octets, framing: .chunked, cuts: [], limits: limits)
    }

    /// Passes the bytes in the pieces between the cuts, and then the end of input.
    init(_ octets: [UInt8], framing: BodyFraming, cuts: [Int], limits: ParseLimits = ParseLimits()) throws(BodyDecodeError) {
        var decoder = BodyDecoder(framing: framing, limits: limits)
        var start = 0
        for end in cuts + [octets.count] {
            let piece = Array(octets[start..<end])
            if try read(piece, with: &decoder, at: start) { return }
            start = end
        }
        try decoder.inputEnded()
        consumed = octets.count
        trailers = decoder.trailers
    }

    /// Returns whether the body has ended.
    private mutating func read(
        _ piece: [UInt8], with decoder: inout BodyDecoder, at start: Int
    ) throws(BodyDecodeError) -> Bool {
        var offset = 0
        while true {
            switch try decoder.next(piece.span.bytes, from: offset) {
            case .data(let range):
                content += piece[range]
                offset = range.upperBound
            case .needMore:
                return false
            case .end(let used):
                consumed = start + used
                trailers = decoder.trailers
                return true
            }
        }
    }

    static func == (left: Decoded, right: Decoded) -> Bool {
        left.content == right.content && left.consumed == right.consumed && left.trailers.bytes == right.trailers.bytes
            && left.trailers.lines == right.trailers.lines
    }
}
