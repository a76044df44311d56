import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Sending a validation request (RFC 9111 §4.3.1)")
struct ValidationRequestTests {
    @Test(
        "The stored validators replace the client's",
        arguments: [
            ([#"ETag: "x""#], [#""x""#], [String]()), ([#"ETag: W/"x""#], [#"W/"x""#], []),
            (["Last-Modified: Fri, 31 May 2024 00:00:00 GMT"], [], ["Fri, 31 May 2024 00:00:00 GMT"]),
            ([#"ETag: "x""#, "Last-Modified: Friday, 31-May-24 00:00:00 GMT"], [#""x""#], ["Friday, 31-May-24 00:00:00 GMT"]),
        ])
    func addsValidators(fields: [String], tags: [String], dates: [String]) throws {
        var head = response(200, "Cache-Control: max-age=60")
        for field in fields {
            let parts = field.split(separator: ": ", maxSplits: 1)
            head.fields.append(name: String(parts[0]), value: String(parts[1]))
        }
        let stored = try stored(head)
        var forwarded = get(#"If-None-Match: "client""#, "If-Modified-Since: " + date(0), "Range: bytes=0-1", #"If-Range: "r""#)
            .fields
        Validation.addPreconditions(of: stored, to: &forwarded)
        #expect(forwarded.values(of: "if-none-match") == tags)
        #expect(forwarded.values(of: "if-modified-since") == dates)
        #expect(forwarded.values(of: "if-range") == [#""r""#], "If-Range is forwarded")
        #expect(forwarded.values(of: "range") == ["bytes=0-1"])
    }
}

@Suite("The client's preconditions (RFC 9111 §4.3.2, RFC 9110 §13.2.2)")
struct ClientConditionTests {
    static func evaluate(_ request: RequestHead, _ fields: String...) throws -> ConditionOutcome {
        var head = response(200, "Cache-Control: max-age=60")
        for field in fields {
            let parts = field.split(separator: ": ", maxSplits: 1)
            head.fields.append(name: String(parts[0]), value: String(parts[1]))
        }
        return Validation.evaluate(request, directives: RequestDirectives(request), against: try stored(head))
    }

    @Test(
        "If-None-Match uses weak comparison (RFC 9110 §13.1.2)",
        arguments: [
            (#""x""#, #""x""#, ConditionOutcome.notModified), (#"W/"x""#, #""x""#, .notModified),
            (#""x""#, #"W/"x""#, .notModified),
            (#""y""#, #""x""#, .full), (#""y", "x""#, #""x""#, .notModified), ("*", #""x""#, .notModified), ("x", #""x""#, .full),
            (#""x" "y""#, #""x""#, .full), ("", #""x""#, .full), (#""x""#, "x", .full), (#""a,b""#, #""a,b""#, .notModified),
        ])
    func ifNoneMatch(list: String, tag: String, expected: ConditionOutcome) throws {
        #expect(try Self.evaluate(get("If-None-Match: \(list)"), "ETag: \(tag)") == expected)
    }

    @Test("If-None-Match may have several lines, and is evaluated against a response without a tag")
    func ifNoneMatchLines() throws {
        #expect(try Self.evaluate(get(#"If-None-Match: "y""#, #"If-None-Match: "x""#), #"ETag: "x""#) == .notModified)
        #expect(try Self.evaluate(get(#"If-None-Match: "y""#), "X: 1") == .full)
        #expect(try Self.evaluate(get("If-None-Match: *"), "X: 1") == .notModified)
        #expect(try Self.evaluate(get(#"If-None-Match: "x""#, "If-None-Match: x"), #"ETag: "x""#) == .full)
        #expect(try Self.evaluate(get(#"If-None-Match: "x""#), #"ETag: "x""#, #"ETag: "y""#) == .full)
    }

    @Test(
        "If-Modified-Since is compared with Last-Modified (RFC 9110 §13.1.3)",
        arguments: [
            (-100, ConditionOutcome.notModified), (-99, .notModified), (-101, .full), (1000, .notModified),
        ] as [(Int64, ConditionOutcome)])
    func ifModifiedSince(since: Int64, expected: ConditionOutcome) throws {
        #expect(try Self.evaluate(get("If-Modified-Since: " + date(since)), "Last-Modified: " + date(-100)) == expected)
    }

    @Test(
        "Without Last-Modified, the Date is compared",
        arguments: [(0, ConditionOutcome.notModified), (-1, .full)] as [(Int64, ConditionOutcome)])
    func usesDate(since: Int64, expected: ConditionOutcome) throws {
        #expect(try Self.evaluate(get("If-Modified-Since: " + date(since)), "X: 1") == expected)
    }

    @Test("If-None-Match takes precedence, even if it is invalid")
    func precedence() throws {
        let since = "If-Modified-Since: " + date(0)
        #expect(try Self.evaluate(get(#"If-None-Match: "y""#, since), #"ETag: "x""#, "Last-Modified: " + date(-100)) == .full)
        #expect(
            try Self.evaluate(
                get(#"If-None-Match: "x""#, "If-Modified-Since: " + date(-200)), #"ETag: "x""#, "Last-Modified: " + date(-100))
                == .notModified)
        #expect(try Self.evaluate(get("If-None-Match: y", since), #"ETag: "x""#, "Last-Modified: " + date(-100)) == .full)
    }

    @Test("An invalid or repeated If-Modified-Since is ignored (RFC 9110 §13.1.3)")
    func ignoresInvalidDates() throws {
        let modified = "Last-Modified: " + date(-100)
        #expect(try Self.evaluate(get("If-Modified-Since: 0"), modified) == .full)
        #expect(try Self.evaluate(get("If-Modified-Since: " + date(0), "If-Modified-Since: " + date(0)), modified) == .full)
        #expect(try Self.evaluate(get("If-Modified-Since: \(date(0)), \(date(0))"), modified) == .full)
    }

    @Test("Preconditions are evaluated only against a stored 200")
    func comparesOnly200() throws {
        let stored = try stored(response(404, "Cache-Control: max-age=60", #"ETag: "x""#))
        let request = get(#"If-None-Match: "x""#)
        #expect(Validation.evaluate(request, directives: RequestDirectives(request), against: stored) == .full)
    }

    @Test("A 304 has the fields that RFC 9110 §15.4.5 requires, and no metadata of content")
    func writesNotModified() throws {
        let head = response(
            200, "Cache-Control: max-age=60", #"ETag: "x""#, "Last-Modified: " + date(-100), "Expires: " + date(60),
            "Vary: Accept",
            "Content-Location: /a.html", "Content-Type: text/html", "Content-Encoding: gzip", "Content-Length: 10", "X-Own: 1")
        var output: [UInt8] = []
        Validation.writeNotModifiedHead(of: try stored(head), into: &output)
        let lines = text(output).split(separator: "\r\n").map(String.init)
        #expect(
            lines == [
                "HTTP/1.1 304 Not Modified", "Date: \(arrivalDate)", "Cache-Control: max-age=60", #"ETag: "x""#,
                "Expires: \(date(60))", "Vary: Accept", "Content-Location: /a.html", "X-Own: 1",
            ])
    }
}
