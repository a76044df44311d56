import HTTPSerialization
import Testing

@Suite("Encoding Encodable types as JSON values")
struct JSONValueEncoderTests {
    struct User: Codable, Equatable {
        struct Address: Codable, Equatable {
            var street: String
            var lines: [Int]
        }
        enum Role: String, Codable { case admin, guest }
        var id: UInt64
        var name: String?
        var role: Role
        var ratio: Float
        var address: Address
        var extra: JSONValue
        var flags: [String: Bool]
    }

    @Test("Encoding keeps the order of members, and decoding gives the same value")
    func encodes() throws {
        let user = User(
            id: .max, name: nil, role: .guest, ratio: 0.1, address: User.Address(street: "Way", lines: [1, -2]),
            extra: .object(["n": .number(JSONNumber("1.50") ?? 0)]), flags: ["a": true])
        let value = try JSONValueEncoder().encode(user)
        #expect(
            value.description
                == "{\"id\":18446744073709551615,\"role\":\"guest\",\"ratio\":0.1,\"address\":{\"street\":\"Way\",\"lines\":[1,-2]},"
                + "\"extra\":{\"n\":1.50},\"flags\":{\"a\":true}}")
        #expect(try JSONValueDecoder().decode(User.self, from: value) == user)
        #expect(try JSONValueEncoder().encode([Int?.none, 1]).description == "[null,1]")
        #expect(try JSONValueEncoder().encode("x") == "x")
        #expect(try JSONValueEncoder().encode(Int128.max).description == "\(Int128.max)")
    }

    @Test("Infinite and NaN values are encoding errors with their path")
    func refusesNoNumbers() throws {
        do {
            _ = try JSONValueEncoder().encode(["a": [0.5, .infinity]])
            Issue.record("no number")
        } catch EncodingError.invalidValue(_, let context) {
            #expect(context.codingPath.map(\.stringValue) == ["a", "1"])
        }
        #expect(throws: EncodingError.self) { try JSONValueEncoder().encode(Float.nan) }
    }

    private class Base: Encodable { let a = 1 }

    private final class Derived: Base {
        enum Keys: String, CodingKey { case b, nested, list }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(2, forKey: .b)
            try super.encode(to: container.superEncoder())
            var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .nested)
            try nested.encodeNil(forKey: .b)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encode(true)
            try list.encodeNil()
            try container.encode(3, forKey: .b)
        }
    }

    @Test("Nested containers, a superclass, and a name that is encoded twice are handled")
    func nests() throws {
        let value = try JSONValueEncoder().encode(Derived())
        #expect(value.description == "{\"b\":3,\"super\":{\"a\":1},\"nested\":{\"b\":null},\"list\":[true,null]}")
    }

    private struct Nothing: Encodable {}

    @Test("A type without members is encoded as an empty object")
    func encodesNothing() throws {
        #expect(try JSONValueEncoder().encode(Nothing()).description == "{}")
    }
}
