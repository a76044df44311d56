import HTTPMessage
import Testing

@testable import HTTPWire

/// Parses whole messages given as text (in UTF-8) or bytes, for tests.
enum Reading {
    static func request(_ text: String, limits: ParseLimits = ParseLimits()) throws -> (RequestHead, Int) {
        try request(Array(text.utf8), limits: limits)
    }

    static func request(_ octets: [UInt8], limits: ParseLimits = ParseLimits()) throws -> (RequestHead, Int) {
        var parser = RequestParser(limits: limits)
        var head = RequestHead()
        let length = try parser.parse(octets.span.bytes, into: &head)
        return (head, try #require(length, "the head is not complete"))
    }

    static func response(_ text: String, limits: ParseLimits = ParseLimits()) throws -> (ResponseHead, Int) {
        var parser = ResponseParser(limits: limits)
        var head = ResponseHead()
        let length = try parser.parse(Array(text.utf8).span.bytes, into: &head)
        return (head, try #require(length, "the head is not complete"))
    }

    /// The head and the framing of a request.
    static func framing(ofRequest text: String) throws -> BodyFraming {
        try BodyFraming.ofRequest(request(text).0)
    }

    static func framing(ofResponse text: String, to method: HTTPMessage.Method = .get) throws -> BodyFraming {
        try BodyFraming.ofResponse(response(text).0, to: method)
    }
}
