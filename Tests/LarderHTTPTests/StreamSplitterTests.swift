import Testing

@testable import LarderHTTP

/// Reads bytes in pieces of a length, and gives the results with the fault at the end.
private func pieces<Result>(
    _ bytes: [UInt8], _ length: Int, _ next: (Span<UInt8>, inout Int) throws(StreamFault) -> Result?
) -> ([Result], StreamFault?) {
    var results: [Result] = []
    var start = 0
    while start < bytes.count {
        let piece = Array(bytes[start..<min(start + length, bytes.count)])
        start += piece.count
        var offset = 0
        do throws(StreamFault) {
            while let result = try next(piece.span, &offset) { results.append(result) }
        } catch { return (results, error) }
    }
    return (results, nil)
}

@Suite("HTTPSession: event streams (the HTML standard, Server-sent events)")
struct ServerSentEventReaderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let what: String
        let text: String
        /// Type, data and ID of each event.
        let events: [[String]]
        var testDescription: String { what }
    }

    static let cases = [
        Case(what: "one event", text: "data: a\n\n", events: [["", "a", ""]]),
        Case(what: "CR LF", text: "data: a\r\n\r\ndata: b\r\n\r\n", events: [["", "a", ""], ["", "b", ""]]),
        Case(what: "CR", text: "data: a\r\rdata: b\r\r", events: [["", "a", ""], ["", "b", ""]]),
        Case(what: "mixed line ends", text: "data: a\rdata: b\ndata: c\r\n\n", events: [["", "a\nb\nc", ""]]),
        Case(what: "a type and an ID", text: "event: add\nid: 7\ndata: x\n\n", events: [["add", "x", "7"]]),
        Case(
            what: "the type is for one event", text: "event: add\ndata: x\n\ndata: y\n\n",
            events: [["add", "x", ""], ["", "y", ""]]),
        Case(what: "the ID stays", text: "id: 7\ndata: x\n\ndata: y\n\n", events: [["", "x", "7"], ["", "y", "7"]]),
        Case(
            what: "an empty ID removes it", text: "id: 7\ndata: x\n\nid\ndata: y\n\n", events: [["", "x", "7"], ["", "y", ""]]),
        Case(what: "an ID with a zero byte is ignored", text: "id: 7\u{0}\ndata: x\n\n", events: [["", "x", ""]]),
        Case(what: "a comment", text: ": test\ndata: x\n:\n\n", events: [["", "x", ""]]),
        Case(what: "no data is no event", text: "event: add\nid: 1\n\ndata: x\n\n", events: [["", "x", "1"]]),
        Case(what: "one empty data line is an event", text: "data\n\ndata:\n\n", events: [["", "", ""], ["", "", ""]]),
        Case(what: "two empty data lines", text: "data\ndata\n\n", events: [["", "\n", ""]]),
        Case(
            what: "one space is removed", text: "data:a\n\ndata: a\n\ndata:  a\n\n",
            events: [["", "a", ""], ["", "a", ""], ["", " a", ""]]),
        Case(what: "a byte order mark", text: "\u{FEFF}data: a\n\n", events: [["", "a", ""]]),
        Case(what: "a byte order mark later is no mark", text: "data: a\n\n\u{FEFF}data: b\n\n", events: [["", "a", ""]]),
        Case(what: "an unknown field", text: "Data: a\nother: b\ndata: c\n\n", events: [["", "c", ""]]),
        Case(what: "a colon in the value", text: "data: a: b\n\n", events: [["", "a: b", ""]]),
        Case(what: "an event that does not end", text: "data: a\n\ndata: b\n", events: [["", "a", ""]]),
        Case(what: "an event without an end of line", text: "data: a", events: []),
        Case(what: "several data lines", text: "data: YHOO\ndata: +2\ndata: 10\n\n", events: [["", "YHOO\n+2\n10", ""]]),
    ]

    @Test("Each stream gives its events, whole and in pieces of any length", arguments: cases)
    func reads(example: Case) {
        for length in [1, 2, 3, 1000] {
            var reader = ServerSentEventReader(limit: 100)
            let (events, fault) = pieces(Array(example.text.utf8), length) { (input, offset) throws(StreamFault) in
                try reader.next(input, from: &offset)
            }
            let texts = events.map { [$0.type, $0.data, $0.lastEventID].map { String(decoding: $0, as: UTF8.self) } }
            #expect(texts == example.events && fault == nil, "in pieces of \(length)")
        }
    }

    @Test("The server's wait is a number of digits; the ID for the next connection is that of the last complete block")
    func remembers() throws {
        var reader = ServerSentEventReader(limit: 100, lastEventID: Array("0".utf8))
        var offset = 0
        let text = Array("retry: 50\nretry: +7\nretry: 1.5\nretry:\n\nid: 8\n\nid: 9\n".utf8)
        #expect(try reader.next(text.span, from: &offset) == nil)
        #expect(reader.retryMilliseconds == 50 && reader.lastEventID == Array("8".utf8))
    }

    @Test("A line and an event at the limit are read, and one byte more is a fault", arguments: [1, 7, 1000])
    func isLimited(length: Int) {
        for (text, isRead) in [
            ("data:" + String(repeating: "x", count: 5) + "\n\n", true),
            ("data:" + String(repeating: "x", count: 6) + "\n\n", false),
            (":" + String(repeating: "x", count: 10), false), ("data:xxxxx\ndata:xxxxx\n\n", false),
        ] {
            var reader = ServerSentEventReader(limit: 10)
            let (events, fault) = pieces(Array(text.utf8), length) { (input, offset) throws(StreamFault) in
                try reader.next(input, from: &offset)
            }
            #expect(events.count == (isRead ? 1 : 0) && fault == (isRead ? nil : .tooLong(limit: 10)), "\(text)")
        }
    }
}

@Suite("HTTPSession: bodies in pieces")
struct StreamSplitterTests {
    @Test(
        "Lines end with LF or CR LF, and the last one with the body",
        arguments: [
            ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\n\n", ["a", ""]), ("a\r\nb", ["a", "b"]), ("a\rb\n", ["a\rb"]),
            ("\n", [""]),
        ] as [(String, [String])])
    func splitsLines(text: String, lines: [String]) throws {
        for length in [1, 2, 100] {
            var splitter = LineSplitter(limit: 10)
            var (found, fault) = pieces(Array(text.utf8), length) { (input, offset) throws(StreamFault) in
                try splitter.next(input, from: &offset)
            }
            if let last = try splitter.finish() { found.append(last) }
            #expect(found.map { String(decoding: $0, as: UTF8.self) } == lines && fault == nil)
        }
    }

    @Test("A line at the limit is read, and one byte more is a fault, even if the line does not end", arguments: [1, 3, 100])
    func limitsLines(length: Int) {
        for (text, isRead) in [("12345\r\n", true), ("12345\n", true), ("123456\n", false), ("1234567", false)] {
            var splitter = LineSplitter(limit: 5)
            let (found, fault) = pieces(Array(text.utf8), length) { (input, offset) throws(StreamFault) in
                try splitter.next(input, from: &offset)
            }
            #expect(found.count == (isRead ? 1 : 0) && fault == (isRead ? nil : .tooLong(limit: 5)), "\(text)")
        }
    }

    @Test(
        "An array is split into the texts of its elements",
        arguments: [
            ("[]", []), (" [ ] ", []), ("[1]", ["1"]), ("[1,2]", ["1", "2"]), ("[ 1 , 2 ]\n", ["1 ", "2 "]),
            ("[{\"a\":[1,2]},[3,[4]]]", ["{\"a\":[1,2]}", "[3,[4]]"]), ("[\"a,]\\\"\",\"\\\\\"]", ["\"a,]\\\"\"", "\"\\\\\""]),
        ] as [(String, [String])])
    func splitsArrays(text: String, elements: [String]) throws {
        for length in [1, 2, 100] {
            var splitter = JSONArraySplitter(limit: 20)
            let (found, fault) = pieces(Array(text.utf8), length) { (input, offset) throws(StreamFault) in
                try splitter.next(input, from: &offset)
            }
            try splitter.finish()
            #expect(found.map { String(decoding: $0, as: UTF8.self) } == elements && fault == nil)
        }
    }

    @Test(
        "A text that is not one array is a fault",
        arguments: ["", "{}", "[1,]", "[,1]", "[1", "[1]]", "[1] x", "[1,,2]", "[\"]", "[1}", "1"])
    func rejectsArrays(text: String) {
        var splitter = JSONArraySplitter(limit: 20)
        var (_, fault) = pieces(Array(text.utf8), 3) { (input, offset) throws(StreamFault) in
            try splitter.next(input, from: &offset)
        }
        if fault == nil {
            do throws(StreamFault) { try splitter.finish() } catch { fault = error }
        }
        #expect(fault != nil)
    }

    @Test("An element at the limit is read, and one byte more is a fault")
    func limitsElements() {
        for (text, isRead) in [("[12345]", true), ("[123456]", false), ("[123456", false)] {
            var splitter = JSONArraySplitter(limit: 5)
            let (_, fault) = pieces(Array(text.utf8), 2) { (input, offset) throws(StreamFault) in
                try splitter.next(input, from: &offset)
            }
            #expect(fault == (isRead ? nil : .tooLong(limit: 5)))
        }
    }
}
