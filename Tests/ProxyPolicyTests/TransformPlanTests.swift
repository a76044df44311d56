import HTTPMessage
import ProxyPolicy
import Testing

@Suite("C9, V15: how rules transform content")
struct TransformPlanTests {
    private func plan(_ rules: String) throws -> TransformPlan? {
        var matched = MatchedRules()
        let verdict = try ruleSet(rules).match(try request("GET http://h/"), into: &matched)
        guard case .allow(let obligations) = verdict else { return nil }
        #expect(obligations.transforms == (matched.transform.map { !$0.isEmpty } ?? false))
        return matched.transform
    }

    private func one(_ words: String, name: String = "n") throws -> TransformPlan {
        try #require(try plan("[{name: \(name), transform: {\(words)}}]"))
    }

    private func source(_ plan: TransformPlan, _ types: String...) -> TransformPlan.Source? {
        var fields = Fields()
        for type in types { fields.append(name: "Content-Type", value: type) }
        return plan.source(for: fields)
    }

    @Test("Every key is read, and has its default")
    func words() throws {
        let plan = try one(
            """
            plist_to_json: true, xml_to_json: true, strip_nulls: members, json_pointer: {remove: [/a, /b/0], set: {/c: 1}},
              charset: {to: UTF-8, from: sjis}, content_type: text/*, on_error: pass, max_body: 1MiB, max_output: 3MiB, max_depth: 9,
              timeout: 2s
            """)
        #expect(plan.words.readsPropertyLists == true && plan.words.readsXML == true && plan.words.nulls == .members)
        #expect(plan.words.removals == ["/a", "/b/0"])
        #expect(plan.words.settings?.map(\.place) == ["/c"])
        #expect(plan.words.charset?.to.text == "UTF-8" && plan.words.charset?.from?.text == "SHIFT_JIS")
        #expect(plan.onError == .pass && plan.maximumBodyLength == 1 << 20 && plan.maximumOutputLength == 3 << 20)
        #expect(plan.maximumDepth == 9 && plan.timeout == 2000 && plan.ruleName == "n")
        let least = try one("strip_nulls: true")
        #expect(least.words.nulls == .everywhere)
        #expect(least.onError == .fail && least.maximumBodyLength == 8 << 20 && least.maximumOutputLength == 16 << 20)
        #expect(least.maximumDepth == 512 && least.timeout == 10_000)
    }

    @Test("Values to set are JSON as written")
    func values() throws {
        let rows = [
            ("1", "1"), ("1.0", "1.0"), ("-2.5e3", "-2.5e3"), ("\"1\"", "\"1\""), ("true", "true"), ("null", "null"),
            ("word", "\"word\""), ("01", "\"01\""), ("1.", "\"1.\""), ("\"say \\\"so\\\"\"", "\"say \\\"so\\\"\""),
            ("[1, a, {b: false}]", "[1,\"a\",{\"b\":false}]"), ("{}", "{}"), ("[]", "[]"),
        ]
        for (written, json) in rows {
            let set = try one("json_pointer: {set: {/a: \(written)}}").words.settings?.first?.json
            #expect(set.map { String(decoding: $0, as: UTF8.self) } == json, "\(written)")
        }
    }

    @Test("The media type determines how content is read, and what stays unchanged")
    func types() throws {
        let json = try one("strip_nulls: true")
        #expect(source(json, "application/json; charset=utf-8") == .json && source(json, "Application/Problem+JSON") == .json)
        #expect(source(json, "text/html") == nil && source(json) == nil && source(json, "application/json", "text/html") == nil)
        let lists = try one("plist_to_json: true, strip_nulls: true")
        #expect(source(lists, "application/x-plist") == .propertyList && source(lists, "application/json") == .json)
        let xml = try one("xml_to_json: true")
        #expect(source(xml, "text/xml") == .xml && source(xml, "image/svg+xml") == .xml && source(xml, "application/json") == nil)
        let text = try one("charset: utf-8")
        #expect(source(text, "text/html") == .text && source(text, "image/png") == nil)
        let given = try one("plist_to_json: true, content_type: [application/octet-stream]")
        #expect(source(given, "application/octet-stream") == .propertyList && source(given, "application/x-plist") == nil)
    }

    @Test("A later value overrides an earlier one, and may undo it")
    func merges() throws {
        let rules =
            "[{name: a, transform: {strip_nulls: true, max_body: 1MiB}}, {name: b, transform: {xml_to_json: true, on_error: pass}}]"
        let both = try #require(try plan(rules))
        #expect(both.words.nulls == .everywhere && both.words.readsXML == true && both.maximumBodyLength == 1 << 20)
        #expect(both.ruleName == "b" && both.onError == .pass)
        let none = try #require(
            try plan("[{name: a, transform: {strip_nulls: true}}, {name: b, transform: {strip_nulls: false}}]"))
        #expect(none.isEmpty)
    }

    @Test("The fingerprint depends on the result: not on the rule's name, its limits, or how it is split into rules")
    func fingerprint() throws {
        let plain = try one("strip_nulls: true")
        #expect(try one("strip_nulls: everywhere, max_body: 1MiB, on_error: pass", name: "m").fingerprint == plain.fingerprint)
        let others = try [
            "strip_nulls: members", "strip_nulls: true, json_pointer: {remove: /a}", "json_pointer: {remove: [/a, /b]}",
            "json_pointer: {remove: /a/b}", "json_pointer: {set: {/a: 1}}", "json_pointer: {set: {/a: \"1\"}}",
            "xml_to_json: true",
            "plist_to_json: true", "charset: utf-8", "charset: {to: utf-8, from: sjis}",
        ].map { try one($0).fingerprint }
        #expect(Set(others + [plain.fingerprint]).count == others.count + 1)
        let split = try plan(
            "[{name: a, transform: {strip_nulls: true}}, {name: b, transform: {json_pointer: {remove: /a}}}]")
        #expect(split?.fingerprint == others[1])
        // The value of the first release: clients' entity tags depend on it.
        #expect(String(plain.fingerprint, radix: 16) == "e9258f07bad575a")
    }

    @Test("Problems are reported with their place", arguments: Self.mistakes)
    func tellsMistakes(words: String, problem: String) throws {
        let found = try problems("[{name: n, transform: \(words)}]")
        #expect(found == ["f:1:" + problem])
    }

    private static let mistakes: [(String, String)] = [
        (
            "{}",
            "23: rules[0].transform: nothing to transform: give one of plist_to_json, xml_to_json, strip_nulls, json_pointer, charset"
        ),
        (
            "{max_body: 1MiB}",
            "23: rules[0].transform: nothing to transform: give one of plist_to_json, xml_to_json, strip_nulls, json_pointer, charset"
        ),
        ("{strip_nuls: true}", "24: rules[0].transform: unknown key `strip_nuls`; did you mean `strip_nulls`?"),
        (
            "{strip_nulls: yes}",
            "37: rules[0].transform.strip_nulls: expected one of true, everywhere, members, false, found `yes`"
        ),
        ("{json_pointer: {}}", "38: rules[0].transform.json_pointer: nothing to do: give one of remove, set"),
        (
            "{json_pointer: {remove: a/b}}",
            "47: rules[0].transform.json_pointer.remove: expected a JSON pointer such as /users/0/name, with ~0 for ~ and ~1 for /, found `a/b`; did you mean `/a/b`?"
        ),
        (
            "{json_pointer: {set: {/a~2: 1}}}",
            "45: rules[0].transform.json_pointer.set./a~2: expected a JSON pointer such as /users/0/name, with ~0 for ~ and ~1 for /, found `/a~2`"
        ),
        (
            "{json_pointer: {remove: \"\"}}",
            "47: rules[0].transform.json_pointer.remove: an empty pointer selects the whole value, which cannot be removed"
        ),
        (
            "{json_pointer: {set: {}}}",
            "44: rules[0].transform.json_pointer.set: the mapping is empty: give a JSON pointer and its value"
        ),
        (
            "{charset: utf8x}",
            "33: rules[0].transform.charset: expected a charset such as utf-8, windows-1252 or shift_jis, found `utf8x`; did you mean `utf8`?"
        ),
        ("{charset: {from: utf-8}}", "33: rules[0].transform.charset: the key `to` is missing"),
        (
            "{strip_nulls: true, on_error: block}",
            "53: rules[0].transform.on_error: expected one of fail, pass, found `block`"
        ),
        (
            "{strip_nulls: true, max_body: 1GiB}",
            "53: rules[0].transform.max_body: expected 1 to 256MiB, found `1GiB`"
        ),
        (
            "{strip_nulls: true, max_depth: 0}",
            "54: rules[0].transform.max_depth: expected a whole number from 1 to 1024, found `0`"
        ),
        (
            "{strip_nulls: true, timeout: 1h}",
            "52: rules[0].transform.timeout: expected 10ms to 10m, found `1h`"
        ),
    ]
}
