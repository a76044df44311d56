import HTTPMessage
import Testing

@testable import HTTPWire

@Suite("Message body length (RFC 9112 §6.1, §6.2, §6.3)")
struct BodyFramingTests {
    // MARK: Requests

    private static func request(_ fields: String, method: String = "POST", version: String = "1.1") -> String {
        let target = method == "CONNECT" ? "a:443" : "/"
        return "\(method) \(target) HTTP/\(version)\r\nHost: a\r\n\(fields)\r\n"
    }

    @Test(
        "A request is framed by its fields, whatever its method",
        arguments: [
            ("", BodyFraming.none), ("Content-Length: 0\r\n", .length(0)), ("Content-Length: 5\r\n", .length(5)),
            ("Content-Length:5\r\n", .length(5)), ("Content-Length: 005 \r\n", .length(5)),
            ("content-length: 9223372036854775807\r\n", .length(UInt64(Int64.max))),
            ("Transfer-Encoding: chunked\r\n", .chunked), ("transfer-encoding:\tChunked\r\n", .chunked),
            ("Transfer-Encoding: , chunked,\r\n", .chunked), ("Transfer-Encoding:\r\nTransfer-Encoding: chunked\r\n", .chunked),
        ])
    func framesRequest(fields: String, framing: BodyFraming) throws {
        #expect(try Reading.framing(ofRequest: Self.request(fields)) == framing)
        #expect(try Reading.framing(ofRequest: Self.request(fields, method: "GET")) == framing)
    }

    @Test("T10 A request with ambiguous framing is rejected", arguments: doubtful)
    func refusesRequest(row: Refusal) throws {
        let (head, _) = try Reading.request(row.octets)
        let error = #expect(throws: RequestParseError.self) { try BodyFraming.ofRequest(head) }
        #expect(error.map { "\($0.reason)" } == row.reason)
        #expect(error?.status.code == row.status)
    }

    private static let doubtful: [Refusal] = {
        func length(_ value: String) -> String { request("Content-Length:\(value)\r\n") }
        func coding(_ value: String) -> String { request("Transfer-Encoding: \(value)\r\n") }
        let malformed = "malformed_content_length"
        let both = "content_length_and_transfer_encoding"
        return [
            Refusal("T10 CL and TE", request("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), both),
            Refusal("T10 TE and CL", request("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), both),
            Refusal("T10 CL and an unknown TE", request("Content-Length: 5\r\nTransfer-Encoding: x\r\n"), both),
            Refusal("T10 two different CLs", request("Content-Length: 5\r\nContent-Length: 6\r\n"), "repeated_content_length"),
            Refusal("T10 two equal CLs", request("Content-Length: 5\r\nContent-Length: 5\r\n"), "repeated_content_length"),
            Refusal(
                "T10 CL twice in other case", request("Content-Length: 5\r\ncontent-length: 5\r\n"), "repeated_content_length"),
            Refusal("T10 CL 5,5", length(" 5,5"), malformed),
            Refusal("T10 CL 5, 6", length(" 5, 6"), malformed),
            Refusal("T10 CL 5,", length(" 5,"), malformed),
            Refusal("T10 CL +5", length(" +5"), malformed),
            Refusal("T10 CL -5", length(" -5"), malformed),
            Refusal("T10 CL with a second blank before it", length("  5"), malformed),
            Refusal("T10 CL behind a tab and a blank", length("\t 5"), malformed),
            Refusal("T10 CL 5 5", length(" 5 5"), malformed),
            Refusal("T10 CL 0x5", length(" 0x5"), malformed),
            Refusal("T10 CL 5.0", length(" 5.0"), malformed),
            Refusal("T10 CL 5e0", length(" 5e0"), malformed),
            Refusal("T10 CL in quotes", length(" \"5\""), malformed),
            Refusal("T10 empty CL", length(""), malformed),
            Refusal("T10 CL of other digits", length(" \u{0665}"), malformed),
            Refusal("T10 CL one past Int64", length(" 9223372036854775808"), malformed),
            Refusal("T10 CL of UInt64's last", length(" 18446744073709551615"), malformed),
            Refusal("T10 CL that wraps", length(" 18446744073709551621"), malformed),
            Refusal("T10 CL of 40 digits", length(" " + String(repeating: "9", count: 40)), malformed),
            Refusal(
                "T10 TE on HTTP/1.0", request("Transfer-Encoding: chunked\r\n", version: "1.0"), "transfer_encoding_in_http10"),
            Refusal(
                "T10 TE and CL on HTTP/1.0", request("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", version: "1.0"),
                "transfer_encoding_in_http10"),
            Refusal("T10 chunked, identity", coding("chunked, identity"), "chunked_not_final"),
            Refusal("T10 chunked, gzip", coding("chunked, gzip"), "chunked_not_final"),
            Refusal("T10 chunked twice", coding("chunked, chunked"), "chunked_not_final"),
            Refusal(
                "T10 chunked on two lines", request("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
                "chunked_not_final"),
            Refusal("T10 gzip alone", coding("gzip"), "chunked_not_final"),
            Refusal("T10 identity alone", coding("identity"), "chunked_not_final"),
            Refusal("T10 chunked with a parameter", coding("chunked;q=1"), "malformed_transfer_encoding"),
            Refusal("T10 chunked in quotes", coding("\"chunked\""), "malformed_transfer_encoding"),
            Refusal("T10 empty TE", coding(""), "malformed_transfer_encoding"),
            Refusal("T10 two words", coding("chunked chunked"), "malformed_transfer_encoding"),
            Refusal("T10 a colon", coding(": chunked"), "malformed_transfer_encoding"),
            Refusal("T10 xchunked", coding("xchunked"), "unknown_transfer_coding", status: 501),
            Refusal("T10 xchunked, chunked", coding("xchunked, chunked"), "unknown_transfer_coding", status: 501),
            Refusal("T10 gzip, chunked", coding("gzip, chunked"), "unknown_transfer_coding", status: 501),
            Refusal("T10 content in CONNECT", request("Content-Length: 5\r\n", method: "CONNECT"), "content_in_connect"),
            Refusal(
                "T10 chunked content in CONNECT", request("Transfer-Encoding: chunked\r\n", method: "CONNECT"),
                "content_in_connect"),
        ]
    }()

    @Test("CONNECT may declare that it has no content")
    func acceptsEmptyConnect() throws {
        #expect(try Reading.framing(ofRequest: Self.request("Content-Length: 0\r\n", method: "CONNECT")) == .length(0))
    }

    // MARK: Responses

    private static func response(_ fields: String, status: Int = 200, version: String = "1.1") -> String {
        "HTTP/\(version) \(status) X\r\n\(fields)\r\n"
    }

    @Test(
        "The framing of a response is chunked, a length, or the connection's end",
        arguments: [
            ("", BodyFraming.untilClose), ("Content-Length: 0\r\n", .length(0)), ("Content-Length:    7\r\n", .length(7)),
            ("Content-Length: 7, 7\r\n", .length(7)), ("Content-Length: 7\r\nContent-Length: 7\r\n", .length(7)),
            ("Transfer-Encoding: chunked\r\n", .chunked), ("Transfer-Encoding : chunked\r\n", .chunked),
        ])
    func framesResponse(fields: String, framing: BodyFraming) throws {
        #expect(try Reading.framing(ofResponse: Self.response(fields)) == framing)
    }

    @Test(
        "T10 A response to HEAD, and any 1xx, 204 or 304, ends with its head whatever its fields say (§6.3, rule 1)",
        arguments: ["", "Content-Length: 5\r\n", "Content-Length: x\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"])
    func framesResponseWithoutContent(fields: String) throws {
        for status in [100, 102, 103, 199, 204, 304] {
            #expect(try Reading.framing(ofResponse: Self.response(fields, status: status)) == .none)
        }
        #expect(try Reading.framing(ofResponse: Self.response(fields), to: .head) == .none)
        #expect(try Reading.framing(ofResponse: Self.response(fields), to: .connect) == .none)
    }

    @Test("An unsuccessful response to CONNECT has content (§6.3, rule 2)")
    func framesRefusedConnect() throws {
        let text = Self.response("Content-Length: 5\r\n", status: 403)
        #expect(try Reading.framing(ofResponse: text, to: .connect) == .length(5))
    }

    @Test("A response with ambiguous framing is rejected with its own reason", arguments: doubtfulResponses)
    func refusesResponse(row: Refusal) throws {
        let text = String(decoding: row.octets, as: UTF8.self)
        let error = #expect(throws: ResponseParseError.self) { try Reading.framing(ofResponse: text) }
        #expect(error.map { "\($0.reason)" } == row.reason)
    }

    private static let doubtfulResponses: [Refusal] = [
        Refusal(
            "both lengths", response("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
            "content_length_and_transfer_encoding"),
        Refusal("two lengths", response("Content-Length: 5\r\nContent-Length: 6\r\n"), "conflicting_content_lengths"),
        Refusal("two lengths in a list", response("Content-Length: 5, 6\r\n"), "conflicting_content_lengths"),
        Refusal("a length with a sign", response("Content-Length: +5\r\n"), "malformed_content_length"),
        Refusal("an empty length", response("Content-Length:\r\n"), "malformed_content_length"),
        Refusal("a length and nonsense", response("Content-Length: 5, x\r\n"), "malformed_content_length"),
        Refusal("a length that wraps", response("Content-Length: 18446744073709551617\r\n"), "malformed_content_length"),
        Refusal(
            "chunked in HTTP/1.0", response("Transfer-Encoding: chunked\r\n", version: "1.0"), "transfer_encoding_in_http10"),
        Refusal("an unknown coding", response("Transfer-Encoding: xchunked\r\n"), "unsupported_transfer_coding"),
        Refusal("gzip, chunked", response("Transfer-Encoding: gzip, chunked\r\n"), "unsupported_transfer_coding"),
        Refusal("chunked, identity", response("Transfer-Encoding: chunked, identity\r\n"), "chunked_not_final"),
        Refusal("gzip alone", response("Transfer-Encoding: gzip\r\n"), "chunked_not_final"),
        Refusal("an empty coding", response("Transfer-Encoding:\r\n"), "malformed_transfer_encoding"),
        Refusal("101 unasked", response("Upgrade: websocket\r\n", status: 101), "unrequested_switching_protocols"),
    ]
}
