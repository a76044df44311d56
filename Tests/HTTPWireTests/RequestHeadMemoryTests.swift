import HTTPMessage
import Testing

@testable import HTTPWire

@Suite("Reuse of parsed request heads")
struct RequestHeadMemoryTests {
    /// Heads that are nearly alike: each is parsed after others.
    static let heads: [String] = {
        let requestLines = [
            "GET http://example.org/ HTTP/1.1", "GET http://example.org/another?query HTTP/1.1",
            "HEAD http://example.org/ HTTP/1.0",
            "GET http://example.org:80/ HTTP/1.1", "GET http://example.org:8080/ HTTP/1.1", "GET http://example.org HTTP/1.1",
            "GET http://example.org?query HTTP/1.1", "GET http://example.orgs/ HTTP/1.1",
            "GET http://example.org@elsewhere/ HTTP/1.1",
            "GET http://example.org/#fragment HTTP/1.1", "GET HTTP://EXAMPLE.ORG/ HTTP/1.1", "GET http://[::1]:8080/ HTTP/1.1",
            "CONNECT example.org:443 HTTP/1.1", "OPTIONS * HTTP/1.1", "GET / HTTP/1.1", "GET http://example.org/ HTTP/2.0",
        ]
        let sections = [
            "Host: example.org\r\nAccept: */*\r\n\r\n", "Host: example.org\r\nAccept: */*\r\nVia: 1.1 x\r\n\r\n",
            "Host: example.org\r\n\r\nAccept: */*\r\n\r\n", "host: example.org\r\nAccept: */*\r\n\r\n",
            "Host: example.org\r\nHost: example.org\r\n\r\n", "Host: elsewhere\r\nAccept: */*\r\n\r\n",
            "Host: example.org\r\nAccept: */*\n\r\n", "Host : example.org\r\nAccept: */*\r\n\r\n",
            "Host: example.org\r\nAccept: */*\r\n", "Host:\r\nAccept: */*\r\n\r\n", "Host: not one\r\nAccept: */*\r\n\r\n",
            "\r\n", "",
        ]
        return requestLines.flatMap { line in sections.map { "\(line)\r\n\($0)" } }
    }()

    @Test("The result of parsing a head does not depend on the heads parsed before")
    func anyBehindAny() {
        let alone = Self.heads.map { Outcome($0) }
        // Every fifth as the first, so that each request line and each section is included.
        for place in stride(from: 0, to: Self.heads.count, by: 5) {
            let first = Self.heads[place]
            for (second, expected) in zip(Self.heads, alone) {
                var memory = RequestHeadMemory()
                // Twice, since facts about a section may be noted when it repeats.
                _ = Outcome(first, with: &memory)
                _ = Outcome(first, with: &memory)
                #expect(Outcome(second, with: &memory) == expected, "\(second) behind \(first)")
            }
        }
    }

    @Test("A head that arrives byte by byte is parsed like one that arrives whole")
    func octetByOctet() {
        for head in Self.heads {
            var memory = RequestHeadMemory()
            let whole = Outcome(head, with: &memory)
            #expect(Outcome(head, with: &memory, inPiecesOf: 1) == whole, "\(head)")
        }
    }

    @Test("A remembered section must fit the limit for a head, at the limit and one byte past it", arguments: [0, 1])
    func headLength(excess: Int) {
        let section = "Host: example.org\r\nAccept: */*\r\n\r\n"
        let first = "GET http://example.org/ HTTP/1.1\r\n\(section)"
        let longer = "GET http://example.org/longer HTTP/1.1\r\n\(section)"
        var limits = ParseLimits()
        limits.headLength = longer.utf8.count - excess
        var memory = RequestHeadMemory()
        _ = Outcome(first, with: &memory)
        #expect(Outcome(longer, with: &memory, limits: limits).error == (excess == 0 ? nil : .headTooLarge))
    }

    @Test("A remembered section must fit the number of fields that a reload has lowered", arguments: [2, 1])
    func fieldCount(limit: Int) {
        let head = "GET http://example.org/ HTTP/1.1\r\nHost: example.org\r\nAccept: */*\r\n\r\n"
        var memory = RequestHeadMemory()
        _ = Outcome(head, with: &memory)
        var limits = ParseLimits()
        limits.fieldCount = limit
        #expect(Outcome(head, with: &memory, limits: limits).error == (limit == 2 ? nil : .tooManyFields))
    }

    /// The result of parsing a head.
    private struct Outcome: Equatable {
        var length: Int?
        var error: RequestParseError?
        var bytes: [UInt8] = []
        var lines: [FieldLine] = []
        var present: UInt64 = 0
        var target = RequestTarget()
        var method: HTTPMessage.Method?

        init(_ text: String) {
            var memory = RequestHeadMemory()
            self.init(text, with: &memory)
        }

        init(
            _ text: String, with memory: inout RequestHeadMemory, limits: ParseLimits = ParseLimits(), inPiecesOf size: Int? = nil
        ) {
            let octets = Array(text.utf8)
            var parser = RequestParser(limits: limits)
            var head = RequestHead()
            var end = 0
            do throws(RequestParseError) {
                while length == nil, end < octets.count {
                    end = min(octets.count, end + (size ?? octets.count))
                    length = try parser.parse(octets.span.extracting(0..<end).bytes, into: &head, with: &memory)
                }
            } catch {
                self.error = error
            }
            guard length != nil else { return }
            bytes = head.fields.bytes
            lines = head.fields.lines
            present = head.fields.present
            target = head.target
            method = head.method
        }
    }
}
