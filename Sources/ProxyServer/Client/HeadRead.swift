import HTTPMessage
import HTTPWire
import ProxyCore

/// What came of looking for a request's head, and for how its body ends.
enum HeadRead {
    case incomplete
    case request(BodyFraming, length: Int)
    /// Where the next request would begin is not known: all bytes are used.
    case refused(Fault, length: Int)

    init(
        _ bytes: RawSpan, with parser: inout RequestParser, _ memory: inout RequestHeadMemory, into head: inout RequestHead
    ) {
        do throws(RequestParseError) {
            guard let length = try parser.parse(bytes, into: &head, with: &memory) else {
                self = .incomplete
                return
            }
            self = .request(try BodyFraming.ofRequest(head), length: length)
        } catch {
            parser.reset()
            self = .refused(FaultMapping.fault(error), length: bytes.byteCount)
        }
    }

    /// How many bytes were used; `nil` while there is no head.
    var length: Int? {
        switch self {
        case .incomplete: nil
        case .request(_, let length), .refused(_, let length): length
        }
    }
}
