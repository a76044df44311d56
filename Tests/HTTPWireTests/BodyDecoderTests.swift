import HTTPMessage
import Testing

@testable import HTTPWire

@Suite("Bodies by their framing (RFC 9112 §6.3, §8)")
struct BodyDecoderTests {
    private let input = Array("abcdefghij".utf8)

    @Test("A message without a body ends at once")
    func endsAtOnce() throws {
        for framing in [BodyFraming.none, .length(0)] {
            var decoder = BodyDecoder(framing: framing)
            #expect(decoder.hasEnded)
            #expect(try decoder.next(input.span.bytes, from: 3) == .end(consumed: 3))
            try decoder.inputEnded()
        }
    }

    @Test("A body with a length ends after exactly that many bytes, over all pieces")
    func countsLength() throws {
        var decoder = BodyDecoder(framing: .length(15))
        #expect(try decoder.next(input.span.bytes, from: 0) == .data(0..<10))
        #expect(try decoder.next(input.span.bytes, from: 10) == .needMore(consumed: 10))
        #expect(!decoder.hasEnded)
        #expect(try decoder.next(input.span.bytes, from: 2) == .data(2..<7))
        #expect(decoder.hasEnded)
        #expect(try decoder.next(input.span.bytes, from: 7) == .end(consumed: 7))
    }

    @Test("A body without a length ends only with the connection")
    func readsUntilClose() throws {
        var decoder = BodyDecoder(framing: .untilClose)
        #expect(try decoder.next(input.span.bytes, from: 0) == .data(0..<10))
        #expect(try decoder.next(input.span.bytes, from: 10) == .needMore(consumed: 10))
        try decoder.inputEnded()
        #expect(decoder.hasEnded)
    }

    @Test(
        "A body cut short by the end of the connection is incomplete",
        arguments: [
            (BodyFraming.length(11), "abcdefghij"), (.chunked, ""), (.chunked, "5\r\nhell"), (.chunked, "5\r\nhello\r\n"),
            (.chunked, "0\r\n"), (.chunked, "0\r\na: b\r\n"), (.chunked, "0\r\n\r"),
        ])
    func tellsIncomplete(framing: BodyFraming, text: String) {
        #expect(throws: BodyDecodeError.incomplete) { try Decoded(Array(text.utf8), framing: framing, cuts: []) }
    }

    @Test("One decoder decodes the bodies of a connection one after another")
    func startsAgain() throws {
        var decoder = BodyDecoder(framing: .chunked)
        let chunked = Array("0\r\na: b\r\n\r\n".utf8)
        #expect(try decoder.next(chunked.span.bytes, from: 0) == .end(consumed: chunked.count))
        #expect(decoder.trailers.count == 1)
        decoder.reset(to: .length(2))
        #expect(decoder.trailers.isEmpty)
        #expect(try decoder.next(input.span.bytes, from: 0) == .data(0..<2))
        decoder.reset(to: .chunked)
        #expect(try decoder.next(chunked.span.bytes, from: 0) == .end(consumed: chunked.count))
    }
}
