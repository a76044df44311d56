import HTTPMessage
import ProxyPolicy
import Testing

@Suite("Field edits")
struct FieldEditsTests {
    private func edited(_ rules: String, _ fields: [String]) throws -> [String] {
        var matched = MatchedRules()
        var head = try request("GET http://h/", fields)
        let verdict = try ruleSet(rules).match(head, into: &matched)
        guard case .allow(let obligations) = verdict else { return ["denied"] }
        #expect(obligations.editsRequest)
        matched.editRequest(&head.fields)
        return Array(lines(head.fields).dropFirst())
    }

    @Test(
        "R1: default, set, append, remove",
        arguments: [
            ("default: {X-Foo: a}", [], ["X-Foo: a"]), ("default: {X-Foo: a}", ["x-foo: b"], ["x-foo: b"]),
            ("default: {X-Foo: [a, b]}", [], ["X-Foo: a", "X-Foo: b"]), ("default: {X-Foo: a}", ["X-Foo:"], ["X-Foo: "]),
            ("set: {X-Foo: a}", ["x-foo: b", "Y: c", "X-FOO: d"], ["Y: c", "X-Foo: a"]), ("set: {X-Foo: a}", [], ["X-Foo: a"]),
            ("append: {X-Foo: a}", ["X-Foo: b"], ["X-Foo: b", "X-Foo: a"]),
            ("remove: [X-Foo, cookie]", ["x-foo: b", "Cookie: c"], []),
            ("remove: X-Foo", ["x-foo: b", "x-foo: c", "X-Fooo: d"], ["X-Fooo: d"]),
            ("default: {User-Agent: a}", ["User-Agent: b"], ["User-Agent: b"]),
            ("set: {Accept: \"\"}", ["Accept: */*"], ["Accept: "]),
            // Within one rule: remove, default, set, append, in any order in the file.
            ("append: {A: c}, default: {A: b}, remove: A", ["A: a"], ["A: b", "A: c"]),
        ])
    func operations(edit: String, fields: [String], expected: [String]) throws {
        #expect(try edited("[{name: n, request: {\(edit)}}]", fields) == expected)
    }

    @Test("R2: of two rules that set one field the later one wins; of two defaults, the first one that finds no field")
    func precedence() throws {
        #expect(try edited("[{name: a, request: {set: {X: 1}}}, {name: b, request: {set: {x: 2}}}]", ["X: 0"]) == ["x: 2"])
        #expect(try edited("[{name: a, request: {default: {X: 1}}}, {name: b, request: {default: {X: 2}}}]", []) == ["X: 1"])
        #expect(try edited("[{name: a, request: {default: {X: 1}}}, {name: b, request: {set: {X: 2}}}]", []) == ["X: 2"])
        #expect(try edited("[{name: a, request: {remove: X}}, {name: b, request: {default: {X: 2}}}]", ["X: 0"]) == ["X: 2"])
    }

    @Test("Edits of the response leave the request alone")
    func response() throws {
        var matched = MatchedRules()
        let head = try request("GET http://h/", ["A: b"])
        let verdict = try ruleSet("[{name: n, response: {set: {X: a}, remove: Server}}]").match(head, into: &matched)
        guard case .allow(let obligations) = verdict else { Issue.record("denied"); return }
        #expect(!obligations.editsRequest && obligations.editsResponse)
        var response = ResponseHead()
        response.fields.append(name: "Server", value: "s")
        matched.editResponse(&response.fields)
        #expect(lines(response.fields) == ["X: a"])
        var untouched = head.fields
        matched.editRequest(&untouched)
        #expect(lines(untouched) == lines(head.fields))
    }

    @Test(
        "T16, T42: fields that frame the message, are hop-by-hop or belong to Larder cannot be edited",
        arguments: [
            "Content-Length", "Transfer-Encoding", "TE", "Trailer", "Content-Range", "Connection", "Keep-Alive",
            "Proxy-Connection",
            "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Authentication-Info", "Upgrade", "HTTP2-Settings", "Expect",
            "Host",
            "Via", "Max-Forwards", "Age", "Cache-Status", "Proxy-Status", "Proxy", "host", "VIA", "transfer-ENCODING",
        ])
    func outOfReach(name: String) throws {
        for message in ["request", "response"] {
            for edit in ["set: {\(name): a}", "default: {\(name): a}", "append: {\(name): a}", "remove: [\(name)]"] {
                let found = try problems("[{name: n, \(message): {\(edit)}}]")
                #expect(found.count == 1 && found[0].contains("rules cannot change this field"), "\(message) \(edit)")
            }
        }
    }

    @Test(
        "A rule may remove a range or a condition from a request, but not add one",
        arguments: [
            "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
        ])
    func conditional(name: String) throws {
        #expect(try problems("[{name: n, request: {set: {\(name): a}}}]").count == 1)
        #expect(try problems("[{name: n, request: {remove: \(name)}}]").isEmpty)
    }

    @Test(
        "T16: a value with a line break, NUL or another control character is refused with its place",
        arguments: ["\\n", "\\r", "\\0", "\u{1B}"])
    func splitting(control: String) throws {
        let found = try problems("[{name: n,\n  request: {set: {X: \"a\(control)Y: b\"}}}]")
        #expect(found.count == 1)
        #expect(
            found[0].hasPrefix(
                "f:2:22: rules[0].request.set.X: a field value must not contain a line break, NUL or other control character"))
    }
}
