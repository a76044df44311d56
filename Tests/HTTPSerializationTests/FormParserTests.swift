import HTTPSerialization
import Testing

@Suite("Parsing forms (application/x-www-form-urlencoded)")
struct FormParserTests {
    @Test(
        "Pairs are split and unescaped, for any input",
        arguments: [
            ("", []), ("a=1&b=2", [("a", "1"), ("b", "2")]), ("a&b=", [("a", nil), ("b", "")]), ("&&a=b=c&", [("a", "b=c")]),
            ("n=x+y%20z%2B", [("n", "x y z+")]), ("%=%zz&%4=%41", [("%", "%zz"), ("%4", "A")]),
            ("u=%c3%A4", [("u", "ä")]), ("u=%ff", [("u", "\u{FFFD}")]), ("=v", [("", "v")]),
        ] as [(String, [(String, String?)])])
    func readsPairs(form: String, expected: [(String, String?)]) throws {
        let pairs = try FormParser().pairs(of: Array(form.utf8))
        #expect(pairs == expected.map { FormEncoder.Pair(name: $0.0, value: $0.1) })
    }

    @Test(
        "Brackets and repeated names give objects and arrays; conflicting pairs keep their names as written",
        arguments: [
            ("a=1&a=2", #"{"a":["1","2"]}"#), ("a[]=1", #"{"a":["1"]}"#),
            ("a[b][c]=1&a[b][d]=2&a[e]", #"{"a":{"b":{"c":"1","d":"2"},"e":null}}"#),
            ("a=1&a[b]=2", #"{"a":"1","a[b]":"2"}"#), ("a[]=1&a[b]=2", #"{"a":["1"],"a[b]":"2"}"#),
            ("a[b]=1&a=2&c=3", #"{"a":{"b":"1"},"c":"3","a":"2"}"#),
            ("a[=1&]=2&[x]=3&a[b]c=4", #"{"a[":"1","]":"2","[x]":"3","a[b]c":"4"}"#), ("a[][b]=1", #"{"a[][b]":"1"}"#),
        ])
    func nests(form: String, expected: String) throws {
        let object = try FormParser().parse(Array(form.utf8))
        #expect(JSONValue.object(object).text() == Array(expected.utf8))
    }

    @Test("Strings written by FormEncoder are parsed back unchanged", arguments: 0..<200)
    func readsOwnForms(seed: UInt64) throws {
        var chance = SeededChance(seed)
        let object = JSONObject((0..<Int.random(in: 0...6, using: &chance)).map { ("n\($0)", chance.value(depth: 3)) })
        #expect(try FormParser().parse(Array(FormEncoder().encode(object).utf8)) == object, "\(FormEncoder().encode(object))")
    }

    @Test("The limits for length, pairs and depth are enforced")
    func holdsItsLimits() throws {
        var parser = FormParser()
        parser.lengthLimit = 5
        #expect(try parser.pairs(of: Array("a=234".utf8)).count == 1)
        #expect(throws: FormParser.Fault.tooLong) { try parser.pairs(of: Array("a=2345".utf8)) }
        parser = FormParser()
        parser.pairLimit = 2
        #expect(try parser.pairs(of: Array("a&b&".utf8)).count == 2)
        #expect(throws: FormParser.Fault.tooManyPairs) { try parser.pairs(of: Array("a&b&c".utf8)) }
        parser = FormParser()
        parser.depthLimit = 2
        #expect(try parser.parse(Array("a[b][c]=1".utf8)) == ["a": ["b": ["c": "1"]]])
        #expect(try parser.parse(Array("a[b][c][d]=1".utf8)) == ["a[b][c][d]": "1"])
    }

    @Test("A form is decoded as response content, only with its media type")
    func serializes() throws {
        let head = ReceivedHead(status: 200, contentType: "application/x-www-form-urlencoded; charset=UTF-8")
        #expect(try FormSerializer().serialize(head, Array("access_token=a%20b".utf8)).get() == ["access_token": "a b"])
        let other = ReceivedHead(status: 200, contentType: "text/html")
        #expect(throws: ResponseSerializationError.self) { try FormSerializer().serialize(other, Array("a=b".utf8)).get() }
    }
}

private struct SeededChance: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }

    /// Strings, arrays of strings, and objects of these, none of them empty.
    mutating func value(depth: Int) -> JSONValue {
        let texts = ["", "a", "ä b", "x=y&z", "100%", "+", "[]"]
        switch Int.random(in: 0..<(depth > 0 ? 4 : 1), using: &self) {
        case 1: return .array((0..<Int.random(in: 1...3, using: &self)).map { _ in .string(texts.randomElement(using: &self)!) })
        case 2, 3:
            return .object(JSONObject((0..<Int.random(in: 1...3, using: &self)).map { ("m\($0)", value(depth: depth - 1)) }))
        default: return .string(texts.randomElement(using: &self)!)
        }
    }
}
