import HTTPMessage
import Testing

@testable import HTTPWire

@Suite("Chunked transfer coding (RFC 9112 §7.1)")
struct ChunkedDecoderTests {
    @Test(
        "Chunks become content, and extensions are ignored",
        arguments: [
            ("0\r\n\r\n", ""), ("5\r\nhello\r\n0\r\n\r\n", "hello"), ("1\r\na\r\n2\r\nbc\r\n000\r\n\r\n", "abc"),
            ("A\r\n0123456789\r\n0\r\n\r\n", "0123456789"), ("0a\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
            ("1;a\r\nx\r\n0;b=c\r\n\r\n", "x"), ("1 ; a = \"b c;\\\"d\" ;e\t\r\nx\r\n0\r\n\r\n", "x"),
            ("1;a=\"; ;\"\r\nx\r\n0\r\n\r\n", "x"), ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n"), ("0\r\nX-Sum: 1\r\n\r\n", ""),
        ])
    func decodes(text: String, content: String) throws {
        let body = try Decoded(chunked: text)
        #expect(String(decoding: body.content, as: UTF8.self) == content)
        #expect(body.consumed == text.utf8.count)
    }

    @Test("Bytes after the end belong to the next message")
    func leavesWhatFollows() throws {
        let body = try Decoded(chunked: "1\r\na\r\n0\r\n\r\nGET / HTTP/1.1\r\n")
        #expect(body.consumed == 11)
    }

    @Test("Trailer fields are kept separate, without those that are not allowed in a trailer section (RFC 9110 §6.5.1)")
    func keepsTrailers() throws {
        let body = try Decoded(
            chunked: "0\r\nX-Sum: 1\r\nSet-Cookie: a=b\r\nCache-Control: no-store\r\nETag: \"x\"\r\nX-sum:2\r\n\r\n")
        #expect(body.trailers.lines.map { body.trailers.text(of: $0.name) } == ["X-Sum", "ETag", "X-sum"])
        #expect(body.trailers.lines.map { body.trailers.text(of: $0.value) } == ["1", "\"x\"", "2"])
    }

    @Test("T12 A body with ambiguous chunks is rejected with its own reason", arguments: refused)
    func refuses(row: Refusal) {
        let error = #expect(throws: BodyDecodeError.self) { try Decoded(chunked: row.octets) }
        #expect(error.map { "\($0.reason)" } == row.reason)
        #expect(error?.status.code == 400)
    }

    private static let refused: [Refusal] = {
        let size = "malformed_chunk_size"
        return [
            Refusal("T12 size one past Int64", "8000000000000000\r\n", "chunk_size_too_large"),
            Refusal("T12 size of 16 f", "ffffffffffffffff\r\n", "chunk_size_too_large"),
            Refusal("T12 size that wraps to 5", "10000000000000005\r\nhello\r\n0\r\n\r\n", "chunk_size_too_large"),
            Refusal("T12 size with a sign", "+5\r\nhello\r\n", size),
            Refusal("T12 negative size", "-1\r\n", size),
            Refusal("T12 size with 0x", "0x5\r\nhello\r\n", size),
            Refusal("T12 no size", "\r\nhello\r\n", size),
            Refusal("T12 extension without a size", ";a=b\r\n", size),
            Refusal("T12 extension without a name", "5;\r\nhello\r\n", "malformed_chunk_extension"),
            Refusal("T12 blanks instead of an extension's name", "5;a; \t\r\nhello\r\n", "malformed_chunk_extension"),
            Refusal("T12 blank before the size", " 5\r\nhello\r\n", size),
            Refusal("T12 blank behind the size", "5 \r\nhello\r\n", size),
            Refusal("T12 letters in the size", "5g\r\nhello\r\n", size),
            Refusal("T12 underscore in the size", "5_0\r\nhello\r\n", size),
            Refusal("T12 bare LF behind the size", "5\nhello\r\n", "bare_lf"),
            Refusal("T12 bare CR behind the size", "5\rhello\r\n", "bare_cr"),
            Refusal("T12 LF in an extension", "5;a\nhello\r\n0\r\n\r\n", "bare_lf"),
            Refusal("T12 CR in an extension", "5;a\rb\r\nhello\r\n", "bare_cr"),
            Refusal("T12 LF in a quoted extension", "5;a=\"\n\"\r\nhello\r\n", "bare_lf"),
            Refusal("T12 NUL in an extension", "5;a\0\r\nhello\r\n", "nul"),
            Refusal("T12 control in an extension", "5;a\u{1}\r\nhello\r\n", "control_octet"),
            Refusal("T12 more data than the size", "5\r\nhello!\r\n0\r\n\r\n", "unterminated_chunk"),
            Refusal("T12 bare LF behind the data", "5\r\nhello\n0\r\n\r\n", "unterminated_chunk"),
            Refusal("T12 bare CR behind the data", "5\r\nhello\r0\r\n\r\n", "unterminated_chunk"),
            Refusal("T12 no CRLF behind the data", "5\r\nhello0\r\n\r\n", "unterminated_chunk"),
            Refusal("T12 trailer without a colon", "0\r\nabc\r\n\r\n", "missing_colon"),
            Refusal("T12 trailer with an empty name", "0\r\n: b\r\n\r\n", "empty_field_name"),
            Refusal("T12 trailer with a blank before the colon", "0\r\na : b\r\n\r\n", "blank_before_colon"),
            Refusal("T12 folded trailer", "0\r\na: b\r\n c\r\n\r\n", "obs_fold"),
            Refusal("T12 bare LF in the trailers", "0\r\na: b\n\r\n", "bare_lf"),
            Refusal("T12 bare LF as the end", "0\r\n\n", "bare_lf"),
            Refusal("T12 bare CR as the end", "0\r\n\rx", "bare_cr"),
            Refusal("T12 NUL in a trailer", "0\r\na: \0\r\n\r\n", "nul"),
            Refusal("T12 Content-Length as a trailer", "0\r\nContent-Length: 5\r\n\r\n", "forbidden_trailer"),
            Refusal("T12 Transfer-Encoding as a trailer", "0\r\ntransfer-encoding: chunked\r\n\r\n", "forbidden_trailer"),
            Refusal("T12 Host as a trailer", "0\r\nHost: b\r\n\r\n", "forbidden_trailer"),
        ]
    }()

    // MARK: Limits

    @Test("T12 The largest chunk size that Larder's counters can hold is accepted")
    func acceptsLargestSize() throws {
        var decoder = BodyDecoder(framing: .chunked)
        let input = Array("7fffffffffffffff\r\nab".utf8)
        #expect(try decoder.next(input.span.bytes, from: 0) == .data(18..<20))
    }

    @Test("T12 A chunk's line may be as long as the limit, including leading zeros")
    func limitsChunkLine() throws {
        var limits = ParseLimits()
        limits.chunkLineLength = 8
        _ = try Decoded(chunked: "00000000\r\n\r\n", limits: limits)
        _ = try Decoded(chunked: "1;abcdef\r\nx\r\n0\r\n\r\n", limits: limits)
        #expect(throws: BodyDecodeError.chunkLineTooLong) { try Decoded(chunked: "000000000\r\n\r\n", limits: limits) }
        #expect(throws: BodyDecodeError.chunkLineTooLong) { try Decoded(chunked: "1;abcdefg\r\n", limits: limits) }
    }

    @Test("T37 The extensions of all chunks together are limited")
    func limitsExtensions() throws {
        var limits = ParseLimits()
        limits.chunkExtensionsLength = 9
        let chunk = "1;ab\r\nx\r\n"
        _ = try Decoded(chunked: chunk + chunk + chunk + "0\r\n\r\n", limits: limits)
        #expect(throws: BodyDecodeError.chunkExtensionsTooLong) {
            try Decoded(chunked: chunk + chunk + chunk + "0;\r\n\r\n", limits: limits)
        }
    }

    @Test("T12 A trailer section may be as long as the limit")
    func limitsTrailerSection() throws {
        var limits = ParseLimits()
        limits.trailerSectionLength = 20
        _ = try Decoded(chunked: "0\r\na: 3456789012345\r\n\r\n".replacing("45\r\n\r\n", with: "\r\n\r\n"), limits: limits)
        _ = try Decoded(chunked: "0\r\na: 3456789012345\r\n\r\n".replacing("5\r\n\r\n", with: "\r\n\r\n"), limits: limits)
        #expect(throws: BodyDecodeError.trailersTooLarge) {
            try Decoded(chunked: "0\r\na: 34567890123456\r\n\r\n", limits: limits)
        }
        #expect(throws: BodyDecodeError.trailersTooLarge) {
            try Decoded(chunked: "0\r\n" + String(repeating: "a", count: 100), limits: limits)
        }
    }

    @Test("T12 A trailer section may have as many fields as the limit")
    func limitsTrailerFields() throws {
        var limits = ParseLimits()
        limits.trailerFieldCount = 2
        #expect(try Decoded(chunked: "0\r\na: b\r\nc: d\r\n\r\n", limits: limits).trailers.count == 2)
        #expect(throws: BodyDecodeError.tooManyTrailers) {
            try Decoded(chunked: "0\r\na: b\r\nc: d\r\ne: f\r\n\r\n", limits: limits)
        }
    }

    @Test("T37 A million chunks of one byte cost time, but no memory")
    func decodesManyChunks() throws {
        var decoder = BodyDecoder(framing: .chunked)
        let input = Array(String(repeating: "1\r\nx\r\n", count: 1000).utf8)
        var count = 0
        for _ in 0..<20 {
            var offset = 0
            reading: while true {
                switch try decoder.next(input.span.bytes, from: offset) {
                case .data(let range):
                    count += range.count
                    offset = range.upperBound
                case .needMore(let consumed):
                    #expect(consumed == input.count)
                    break reading
                case .end: Issue.record("an end")
                }
            }
        }
        #expect(count == 20_000)
    }
}
