import HTTPMessage
import HTTPWire

/// Reads the response that a driver writes as HTTP/1.1, for a stream that sends it in frames. Larder itself has written the response, so a
/// syntax error in it is a bug in Larder.
///
/// States and moves: head ──informational──▶ head ──final──▶ content ──▶ ended.
struct WrittenResponse {
    enum Step {
        /// The head of an informational or final response; `isAlone` if neither content nor trailers follow.
        case head(isAlone: Bool)
        case content(Range<Int>)
        case needsMore
        /// The trailers are in `trailers`.
        case ended
    }

    private enum State { case head, content, ended }

    private var parser = ResponseParser()
    private var decoder = BodyDecoder(framing: .none)
    private var state = State.head
    /// The method of the request.
    var method = Method.get
    private(set) var head = ResponseHead()

    /// Whether the response has been read to its end.
    var hasEnded: Bool { state == .ended }
    /// Whether the head of the final response has been read.
    var hasHead: Bool { state != .head }
    var trailers: Fields { decoder.trailers }

    /// - Parameter offset: moved past the bytes that were used, except those of content.
    /// - Returns: `nil` if the bytes are not a response.
    mutating func next(_ bytes: RawSpan, from offset: inout Int) -> Step? {
        do throws(ResponseParseError) {
            if state == .head {
                let rest = bytes.extracting(offset..<bytes.byteCount)
                guard rest.byteCount > 0, let length = try parser.parse(rest, into: &head) else { return .needsMore }
                offset += length
                if head.status.isInformational { return .head(isAlone: false) }
                head.normalizeContentLength()
                decoder.reset(to: try BodyFraming.ofResponse(head, to: method))
                state = decoder.hasEnded ? .ended : .content
                return .head(isAlone: decoder.hasEnded)
            }
        } catch {
            return nil
        }
        return nextOfContent(bytes, from: &offset)
    }

    private mutating func nextOfContent(_ bytes: RawSpan, from offset: inout Int) -> Step? {
        guard state == .content else { return offset < bytes.byteCount ? nil : .ended }
        do throws(BodyDecodeError) {
            switch try decoder.next(bytes, from: offset) {
            case .data(let range):
                if decoder.hasEnded { state = .ended }
                return .content(range)
            case .needMore(let consumed):
                offset = consumed
                return .needsMore
            case .end(let consumed):
                offset = consumed
                state = .ended
                return .ended
            }
        } catch {
            return nil
        }
    }
}
