import HTTPSerialization
import Testing

@Suite("Decoding Decodable types from JSON values")
struct JSONValueDecoderTests {
    struct User: Decodable, Equatable {
        struct Address: Decodable, Equatable {
            let street: String
            let lines: [Int]
        }
        enum Role: String, Decodable { case admin, guest }
        let id: UInt64
        let name: String?
        let role: Role
        let ratio: Double
        let address: Address
        let extra: JSONValue
        let flags: [String: Bool]
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ text: String, _ names: JSONNameStrategy = .asGiven) throws
        -> Value
    {
        try JSONValueDecoder(names: names).decode(type, from: JSONValue(parsing: text))
    }

    @Test("Structures, arrays, dictionaries, enumerations, optionals, and unchanged JSON values are decoded")
    func decodes() throws {
        let text = """
            {"id": 18446744073709551615, "name": null, "role": "guest", "ratio": 1e-2, "extra": {"n": 1.50}, "flags": {"b": true, "a": false},
             "address": {"street": "Way", "lines": [1, 2.0, 3e1]}}
            """
        let user = try decode(User.self, text)
        #expect(user.id == .max)
        #expect(user.name == nil)
        #expect(user.address.lines == [1, 2, 30])
        #expect(user.extra.description == "{\"n\":1.50}")
        #expect(user.flags == ["a": false, "b": true])
        #expect(user.ratio == 0.01)
    }

    @Test("Integers are decoded without conversion to Double")
    func isExact() throws {
        #expect(try decode([Int64].self, "[9007199254740993]") == [9_007_199_254_740_993])
        #expect(try decode(Int128.self, "170141183460469231731687303715884105727") == .max)
        #expect(throws: DecodingError.self) { try decode(Int.self, "1.5") }
        #expect(throws: DecodingError.self) { try decode(UInt8.self, "256") }
        #expect(throws: DecodingError.self) { try decode(Double.self, "1e400") }
        #expect(throws: DecodingError.self) { try decode(Int.self, "\"1\"") }
    }

    @Test("A decoding error names its path")
    func namesThePlace() throws {
        do {
            _ = try decode([String: [Int]].self, "{\"a\":[1,2],\"b\":[3,true]}")
            Issue.record("a truth value is no number")
        } catch DecodingError.typeMismatch(_, let context) {
            #expect(context.codingPath.map(\.stringValue) == ["b", "1"])
            #expect(context.debugDescription == "expected a number, found a Boolean")
        }
        do {
            _ = try decode(User.Address.self, "{\"street\":\"x\"}")
            Issue.record("a member is missing")
        } catch DecodingError.keyNotFound(let key, _) {
            #expect(key.stringValue == "lines")
        }
        #expect(throws: DecodingError.self) { try decode([Int].self, "[null]") }
        #expect(try decode([Int?].self, "[null,1]") == [nil, 1])
    }

    @Test("Snake-case names map to camel case; surrounding underscores stay")
    func readsSnakeCase() throws {
        struct Names: Decodable, Equatable {
            let firstName: String
            let _myURL: String
            let plain: String
        }
        let text = "{\"first_name\":\"a\",\"_my_url\":\"b\",\"plain\":\"c\"}"
        #expect(throws: DecodingError.self) { try decode(Names.self, text, .fromSnakeCase) }
        let other = "{\"first_name\":\"a\",\"_myURL\":\"b\",\"plain\":\"c\"}"
        #expect(try decode(Names.self, other, .fromSnakeCase) == Names(firstName: "a", _myURL: "b", plain: "c"))
    }

    @Test("An object with very many members is decoded in linear time")
    func indexesNames() throws {
        let text = "{" + (0..<50_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",") + "}"
        let decoded = try decode([String: Int].self, text)
        #expect(decoded.count == 50_000)
        #expect(decoded["k777"] == 777)
    }
}
