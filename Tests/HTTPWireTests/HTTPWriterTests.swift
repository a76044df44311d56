import HTTPMessage
import Testing

@testable import HTTPWire

@Suite("Writing heads (RFC 9112 §3, §4, §5)")
struct HTTPWriterTests {
    @Test("A request that was read is written the same, in our version")
    func writesRequest() throws {
        let text = "GET http://a/b?c HTTP/1.0\r\nHost: a\r\nX: \r\nAccept: */*\r\n\r\n"
        let (head, _) = try Reading.request(text)
        var output: [UInt8] = []
        HTTPWriter.writeRequestLine(method: head.span(of: head.methodName), target: head.span(of: head.rawTarget), into: &output)
        HTTPWriter.writeFields(head.fields, into: &output)
        HTTPWriter.writeLineEnd(into: &output)
        #expect(String(decoding: output, as: UTF8.self) == text.replacing("HTTP/1.0", with: "HTTP/1.1"))
    }

    @Test("A response that was read keeps its reason, one that is made has the usual one")
    func writesStatusLine() throws {
        let (head, _) = try Reading.response("HTTP/1.1 299 Odd but fine\r\n\r\n")
        var output: [UInt8] = []
        HTTPWriter.writeStatusLine(head.status, reasonOf: head, into: &output)
        HTTPWriter.writeStatusLine(Status(404), into: &output)
        HTTPWriter.writeStatusLine(Status(299), version: .http10, into: &output)
        #expect(
            String(decoding: output, as: UTF8.self)
                == "HTTP/1.1 299 Odd but fine\r\nHTTP/1.1 404 Not Found\r\nHTTP/1.0 299 \r\n")
    }

    @Test("Fields of our own are written with name, colon, space and value")
    func writesFields() {
        var output: [UInt8] = []
        HTTPWriter.writeField("Age", decimal: 61, into: &output)
        HTTPWriter.writeField("Via", "1.1 larder", into: &output)
        HTTPWriter.writeField("ETag", Array("\"a\"".utf8).span, into: &output)
        #expect(String(decoding: output, as: UTF8.self) == "Age: 61\r\nVia: 1.1 larder\r\nETag: \"a\"\r\n")
    }
}
