import HTTPMessage
import HTTPWire
import ProxyCore

/// The result of parsing a request's head and its body's framing.
enum HeadRead {
    case incomplete
    case request(BodyFraming, length: Int)
    /// The bytes begin with the preface of HTTP/2, sent with prior knowledge (RFC 9113 §3.3). No bytes are consumed.
    case http2Preface
    /// The request is refused. It is unknown where the next request begins, so all bytes are consumed.
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
            if case .unsupportedVersion = error, HTTP2Preface.begins(bytes) {
                self = .http2Preface
                return
            }
            self = .refused(FaultMapping.fault(error), length: bytes.byteCount)
        }
    }

    /// The number of bytes consumed; `nil` if the head is incomplete.
    var length: Int? {
        switch self {
        case .incomplete: nil
        case .http2Preface: 0
        case .request(_, let length), .refused(_, let length): length
        }
    }
}
