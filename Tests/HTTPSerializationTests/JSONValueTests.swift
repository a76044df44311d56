import HTTPSerialization
import Testing

@Suite("JSON values")
struct JSONValueTests {
    @Test("Literals make values, and accessors of another kind return nil")
    func answers() {
        let value: JSONValue = ["id": 7, "ratio": 0.5, "name": "x", "on": true, "tags": ["a", nil], "none": nil]
        #expect(value["id"]?.int == 7)
        #expect(value["ratio"]?.double == 0.5)
        #expect(value["ratio"]?.int == nil)
        #expect(value["name"]?.string == "x")
        #expect(value["on"]?.bool == true)
        #expect(value["tags"]?[1] == .null)
        #expect(value["tags"]?[2] == nil)
        #expect(value["none"]?.isNull == true)
        #expect(value["absent"] == nil)
        #expect(value["name"]?["x"] == nil)
        #expect(value["name"]?.number == nil)
    }

    @Test("Setting a member replaces its value in place, appends, or removes every member with the name")
    func setsMembers() {
        var object: JSONObject = ["a": 1, "b": 2, "a": 3]
        object["a"] = 4
        object["c"] = 5
        #expect(JSONValue.object(object).description == "{\"a\":1,\"b\":2,\"a\":4,\"c\":5}")
        object["a"] = nil
        #expect(JSONValue.object(object).description == "{\"b\":2,\"c\":5}")
    }

    @Test(
        "Integers are exact or nil",
        arguments: [
            ("12", 12), ("-0", 0), ("1.0", 1), ("1e3", 1000), ("1.5e1", 15), ("1.5", nil), ("1e-1", nil), ("10e-1", 1),
            ("0.0e99999999999999999999", 0),
            ("1e400", nil), ("9223372036854775807", .max), ("9223372036854775808", nil), ("-9223372036854775808", .min),
            ("922337203685477580.7e1", .max), ("1e99999999999999999999", nil),
            ("100000000000000000000e-2", 1_000_000_000_000_000_000),
            ("0.00001e5", 1),
        ] as [(String, Int?)])
    func readsWholeNumbers(text: String, expected: Int?) throws {
        let number = try #require(JSONNumber(text))
        #expect(Int(exactly: number) == expected)
    }

    @Test(
        "A number outside the range of Double gives no Double",
        arguments: [("1e400", nil), ("1e308", 1e308), ("-1e-400", 0)] as [(String, Double?)])
    func readsDoubles(text: String, expected: Double?) throws {
        #expect(try Double(#require(JSONNumber(text))) == expected)
    }

    @Test(
        "Only numbers in the grammar are accepted", arguments: ["", "-", "01", "1.", ".5", "+1", "0x1", "NaN", "1e", " 1", "1 "])
    func refusesOtherNumbers(text: String) {
        #expect(JSONNumber(text) == nil)
        #expect(JSONNumber(Double.nan) == nil)
        #expect(JSONNumber(Double.infinity) == nil)
    }

    @Test("Values are written with indentation, sorted names and optional escapes")
    func writesByOptions() {
        let value: JSONValue = ["b": [1, []], "a": ["x/é𝄞\u{1}": nil]]
        func text(_ options: JSONWriteOptions) -> String { String(decoding: value.text(options), as: UTF8.self) }
        #expect(text(JSONWriteOptions()) == "{\"b\":[1,[]],\"a\":{\"x/é𝄞\\u0001\":null}}")
        #expect(
            text(JSONWriteOptions(isIndented: true, sortsNames: true))
                == "{\n  \"a\": {\n    \"x/é𝄞\\u0001\": null\n  },\n  \"b\": [\n    1,\n    []\n  ]\n}")
        #expect(
            text(JSONWriteOptions(escapesSlashes: true, escapesNonASCII: true))
                == "{\"b\":[1,[]],\"a\":{\"x\\/\\u00e9\\ud834\\udd1e\\u0001\":null}}")
    }
}
