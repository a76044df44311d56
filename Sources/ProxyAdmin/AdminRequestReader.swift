import HTTPMessage
import HTTPWire

/// Assembles one request, head and body, from the received bytes, within the limits.
struct AdminRequestReader {
    enum Outcome {
        case incomplete
        case request(AdminRequest)
        case refused(AdminProblem)
    }

    private let limits: AdminLimits
    private var parser: RequestParser
    private var head = RequestHead()
    private var input: [UInt8] = []
    private var decoder: BodyDecoder?
    private var body: [UInt8] = []

    init(limits: AdminLimits) {
        self.limits = limits
        parser = RequestParser(limits: limits.head)
    }

    mutating func take(_ bytes: ArraySlice<UInt8>) -> Outcome {
        input += bytes
        do throws(RequestParseError) {
            guard try readHead() else { return .incomplete }
        } catch {
            return .refused(AdminProblem(status: error.status, code: "\(error.reason)", detail: "The request is malformed."))
        }
        do throws(BodyDecodeError) {
            guard try readBody() else { return .incomplete }
        } catch {
            return .refused(
                AdminProblem(status: Status(400), code: "\(error.reason)", detail: "The request's body is malformed."))
        }
        if body.count > limits.bodyLength { return .refused(.ofLongBody) }
        guard let request = AdminRequest(head, body: body) else { return .refused(.ofTarget) }
        return .request(request)
    }

    /// - Returns: whether the head is complete.
    private mutating func readHead() throws(RequestParseError) -> Bool {
        if decoder != nil { return true }
        let received = input
        guard let length = try parser.parse(received.span.bytes, into: &head) else { return false }
        decoder = BodyDecoder(framing: try BodyFraming.ofRequest(head), limits: limits.head)
        input.removeFirst(length)
        return true
    }

    /// - Returns: whether the body is complete, or longer than the limit.
    private mutating func readBody() throws(BodyDecodeError) -> Bool {
        let received = input
        var offset = 0
        defer { input.removeFirst(offset) }
        while body.count <= limits.bodyLength {
            switch try decoder?.next(received.span.bytes, from: offset) {
            case .data(let range):
                body += received[range]
                offset = range.upperBound
            case .needMore(let consumed):
                offset = consumed
                return false
            case .end(let consumed):
                offset = consumed
                return true
            case nil: return false
            }
        }
        return true
    }
}

extension AdminProblem {
    static let ofLongBody = AdminProblem(
        status: Status(413), code: "body_too_long", detail: "The request's body is too long.")
    static let ofTarget = AdminProblem(status: Status(400), code: "bad_target", detail: "The request's target is malformed.")
}
