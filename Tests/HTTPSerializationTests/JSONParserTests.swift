import HTTPMessage
import HTTPSerialization
import Testing

@Suite("Parsing JSON into a value (RFC 8259)")
struct JSONParserTests {
    private func error(_ text: String, _ options: JSONParseOptions = JSONParseOptions()) -> JSONParseError? {
        do throws(JSONParseError) {
            _ = try JSONValue(parsing: text, options: options)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Numbers keep their digits and members their order, even with repeated names",
        arguments: [
            "{\"z\":1.0,\"a\":1e400,\"m\":123456789012345678901234567890,\"a\":-0}", "[1,1.0,1.00,1e0,1E+2,-0.0]", "[]", "{}",
            "null",
            "\"\"", "[[],{},[{}]]", "{\"\":{\"\":null}}", "\"é€𝄞\u{10FFFF}\u{7F}\"", "[true,false,null]",
            "\"a string that is longer than fifteen octets\"", "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\"",
        ])
    func keepsTheText(text: String) throws {
        #expect(try JSONValue(parsing: text).description == text)
    }

    @Test(
        "Escapes are decoded",
        arguments: [
            ("\"\\u00e9\\/\\u20AC\"", "é/€"), ("\"\\uD834\\uDD1E.\"", "𝄞."),
            ("\"a long text before \\u0041 and behind\"", "a long text before A and behind"),
            ("\"é\\n€\"", "é\n€"), ("\"\\ufeff\"", "\u{FEFF}"),
        ])
    func readsEscapes(text: String, expected: String) throws {
        #expect(try JSONValue(parsing: text) == .string(expected))
    }

    @Test(
        "Half of a surrogate pair is rejected where it begins",
        arguments: [
            ("\"\\uD834\"", 1), ("\"ab\\uDD1E\"", 3), ("\"\\uD834\\uD834\"", 1), ("\"\\uD834x\"", 1), ("\"\\ud834\\n\"", 1),
        ])
    func refusesHalfPairs(text: String, offset: Int) {
        #expect(error(text)?.reason == .halfPair)
        #expect(error(text)?.offset == offset)
    }

    @Test("A lookup by name returns the last member; options can reject repeated names")
    func answersWithTheLastMember() throws {
        let text = "{\"a\":1,\"b\":2,\"\\u0061\":3}"
        let value = try JSONValue(parsing: text)
        #expect(value["a"] == 3)
        #expect(value.object?.count == 3)
        let refused = error(text, JSONParseOptions(refusesRepeatedNames: true))
        #expect(refused?.reason == .repeatedName)
        #expect(refused?.offset == 13)
        #expect(error("[{\"a\":1},{\"a\":{\"a\":2}}]", JSONParseOptions(refusesRepeatedNames: true)) == nil)
    }

    @Test("Depth and length at the limit are accepted, one more is rejected")
    func holdsItsLimits() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[{\"a\":", count: depth / 2) + "1" + String(repeating: "}]", count: depth / 2)
        }
        #expect(error(nested(512)) == nil)
        #expect(error(nested(514))?.reason == .tooDeep)
        #expect(error(nested(514))?.offset == 256 * 6)
        #expect(error(nested(1024), JSONParseOptions(depthLimit: 1024)) == nil)
        #expect(error("1", JSONParseOptions(depthLimit: 0)) == nil)
        #expect(error("[]", JSONParseOptions(depthLimit: 0))?.reason == .tooDeep)
        #expect(error("[12]", JSONParseOptions(lengthLimit: 4)) == nil)
        #expect(error("[123]", JSONParseOptions(lengthLimit: 4))?.reason == .tooLarge)
    }

    @Test("A fault has its offset, and its line and column counted from 1")
    func placesFaults() throws {
        let found = try #require(error("{\n  \"a\": 1,\n  \"é\" 2\n}"))
        #expect(found.reason == .unexpectedByte)
        #expect((found.line, found.column, found.offset) == (3, 8, 19))
        #expect(found.description == "unexpected_byte at line 3, column 8 (offset 19)")
        #expect(error("")?.description == "unexpected_end at line 1, column 1 (offset 0)")
    }

    @Test(
        "Nulls are removed while parsing: members, or elements too, at any depth; a top-level null stays",
        arguments: [
            (
                "{\"a\":null,\"b\":[null,1,{\"c\":null}],\"d\":{\"e\":null}}", "{\"b\":[null,1,{}],\"d\":{}}",
                "{\"b\":[1,{}],\"d\":{}}"
            ),
            ("null", "null", "null"), ("[[null],[[null]]]", "[[null],[[null]]]", "[[],[[]]]"), ("[null]", "[null]", "[]"),
            ("{\"a\":null}", "{}", "{}"),
            ("{\"n\":1.10,\"a\":null,\"m\":1e2}", "{\"n\":1.10,\"m\":1e2}", "{\"n\":1.10,\"m\":1e2}"),
        ])
    func removesNulls(text: String, members: String, everywhere: String) throws {
        let whole = try JSONValue(parsing: text)
        for (removal, expected) in [(NullRemoval.never, text), (.members, members), (.everywhere, everywhere)] {
            #expect(try JSONValue(parsing: text, options: JSONParseOptions(removesNulls: removal)).description == expected)
            #expect(whole.removingNulls(removal).description == expected)
        }
    }

    /// The stream checker is a state machine, this parser uses recursive descent.
    @Test("The parser accepts what the stream checker accepts, and finds the same first fault", arguments: 0..<4)
    func agreesWithTheChecker(seed: UInt64) {
        var json = SeededJSON(seed: seed)
        var accepted = 0
        for _ in 0..<5_000 {
            var text = json.text()
            if Bool.random(using: &json) { text = json.mutated(text) }
            if text.isEmpty || text == [0x20] { continue }
            var checker = JSONChecker()
            var expected: JSONFault?
            do throws(JSONFault) {
                try checker.consume(text.span)
                try checker.finish()
            } catch {
                expected = error
            }
            do throws(JSONParseError) {
                let value = try JSONValue(parsing: text)
                #expect(expected == nil, "\(String(decoding: text, as: UTF8.self))")
                let again = try JSONValue(parsing: value.text())
                #expect(again == value)
                accepted += 1
            } catch {
                // Only this parser rejects half of a surrogate pair, possibly before another fault.
                if error.reason == .halfPair { continue }
                #expect(
                    error.reason.rawValue == expected.map { "\($0.reason.word)" } && UInt64(error.offset) == expected?.offset,
                    "\(text) \(error) \(String(describing: expected))")
            }
        }
        #expect(accepted > 1_000)
    }
}
