import HTTPMessage
import Testing

@testable import HTTPWire

@Suite("Request heads (RFC 9112 §2, §3, §5)")
struct RequestParserTests {
    @Test("A request to a proxy is read into method, target, version and fields")
    func readsAbsoluteForm() throws {
        let text = "GET http://www.example.com:8080/a/b?c=d HTTP/1.1\r\nHost: www.example.com:8080\r\nX-One:  two \r\n\r\nrest"
        let (head, length) = try Reading.request(text)
        #expect(length == text.utf8.count - 4)
        #expect(head.method == .get)
        #expect(head.fields.text(of: head.methodName) == "GET")
        #expect(head.fields.text(of: head.rawTarget) == "http://www.example.com:8080/a/b?c=d")
        #expect(head.target.form == .absolute)
        #expect(head.fields.text(of: head.target.host) == "www.example.com")
        #expect(head.target.port == 8080)
        #expect(head.fields.text(of: head.target.path) == "/a/b")
        #expect(head.fields.text(of: head.target.query) == "?c=d")
        #expect(head.version == .http11)
        #expect(head.fields.count == 2)
        #expect(head.fields.combinedValue(of: .host) == "www.example.com:8080")
        #expect(head.fields.text(of: head.fields.lines[1].value) == "two")
    }

    @Test("More is asked for until the empty line is there")
    func asksForMore() throws {
        let text = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        for count in 0..<text.utf8.count {
            var parser = RequestParser()
            var head = RequestHead()
            #expect(try parser.parse(Array(text.utf8.prefix(count)).span.bytes, into: &head) == nil)
        }
    }

    @Test("One parser and one head read the requests of a connection one after the other")
    func readsPipelinedRequests() throws {
        var input = Array("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n\r\nPOST /22 HTTP/1.1\r\nHost: bb\r\nX: y\r\n\r\n".utf8)
        var parser = RequestParser()
        var head = RequestHead()
        let first = try #require(try parser.parse(input.span.bytes, into: &head))
        #expect(head.fields.text(of: head.rawTarget) == "/1")
        input.removeFirst(first)
        let second = try #require(try parser.parse(input.span.bytes, into: &head))
        #expect(second == input.count)
        #expect(head.method == .post)
        #expect(head.fields.text(of: head.rawTarget) == "/22")
        #expect(head.fields.combinedValue(of: .host) == "bb")
        #expect(head.fields.count == 2)
    }
}
