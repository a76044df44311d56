import HTTPMessage
import HTTPWire

/// Reads the request that an exchange writes as HTTP/1.1, for a stream that sends it in frames. Larder itself has written the request, so
/// a syntax error in it is a bug in Larder.
///
/// States and moves: head → content → ended.
struct WrittenRequest {
    enum Step {
        case content(Range<Int>)
        /// All bytes were used, and more of the request follows.
        case needsMore
        /// The request ends here. Its trailers are in `trailers`.
        case ended
    }

    private var parser: RequestParser
    private var decoder: BodyDecoder

    /// Heads that Larder sends may be longer than clients' heads, because Larder and its rules add fields.
    private static let limits: ParseLimits = {
        var limits = ParseLimits()
        limits.requestLineLength = 1 << 24
        limits.headLength = 1 << 24
        limits.fieldCount = 1 << 16
        return limits
    }()

    init(framing: BodyFraming) {
        let limits = Self.limits
        parser = RequestParser(limits: limits)
        decoder = BodyDecoder(framing: framing, limits: limits)
    }

    /// Whether no content follows the bytes that were read.
    var hasEnded: Bool { decoder.hasEnded }

    var trailers: Fields { decoder.trailers }

    /// Reads the head, and expands its target to the full URL on this server.
    /// - Returns: the number of bytes of the head; `nil` if the bytes are not a head.
    mutating func readHead(_ bytes: RawSpan, to server: TunnelAuthority, into head: inout RequestHead) -> Int? {
        // The caller does not need the reason of an error.
        guard let length = try? parser.parse(bytes, into: &head) else { return nil }
        guard (try? head.resolve(in: server)) != nil else { return nil }
        return length
    }

    /// The next piece of content, from `offset` on.
    /// - Returns: `nil` if the bytes are not content in the request's framing.
    mutating func next(_ bytes: RawSpan, from offset: Int) -> Step? {
        guard let step = try? decoder.next(bytes, from: offset) else { return nil }
        return switch step {
        case .data(let range): .content(range)
        case .needMore: .needsMore
        case .end: .ended
        }
    }
}
