import HTTPMessage
import HTTPWire

/// What is to be explained: a request's head, perhaps its content, and perhaps a response's head behind that, as they would stand on
/// a connection.
package struct ExplainedHeads {
    package enum Fault: Error {
        case request(RequestParseError)
        case response(ResponseParseError)
        case incomplete

        /// Nothing of the heads stands in it.
        package var sentence: String {
            switch self {
            case .request(let error): "The request's head is malformed: \(error.reason)."
            case .response(let error): "The saved response's head is malformed: \(error.reason)."
            case .incomplete: "The head has no end: an empty line."
            }
        }
    }

    package let request: RequestHead
    /// `nil` where it was not given.
    let requestContent: [UInt8]?
    package let response: ResponseHead?
    let responseBody: BodyFraming

    /// - Parameter contentLength: How many octets behind the request's head are its content; `nil`: none are given.
    package init(_ octets: [UInt8], contentLength: Int? = nil) throws(Fault) {
        var request = RequestHead()
        var response = ResponseHead()
        var framing = BodyFraming.none
        let length: Int?
        do throws(RequestParseError) {
            var parser = RequestParser()
            length = try parser.parse(octets.span.bytes, into: &request)
        } catch {
            throw .request(error)
        }
        guard let length else { throw .incomplete }
        let end = length + (contentLength ?? 0)
        guard contentLength ?? 0 >= 0, end <= octets.count else { throw .incomplete }
        requestContent = contentLength.map { _ in Array(octets[length..<end]) }
        let rest = Array(octets[end...])
        if rest.isEmpty {
            self.response = nil
        } else {
            let end: Int?
            do throws(ResponseParseError) {
                var parser = ResponseParser()
                end = try parser.parse(rest.span.bytes, into: &response)
                if end != nil { framing = try BodyFraming.ofResponse(response, to: request.method) }
            } catch {
                throw .response(error)
            }
            guard end != nil else { throw .incomplete }
            self.response = response
        }
        self.request = request
        responseBody = framing
    }
}
