import HTTPSerialization
import Testing

@Suite("JSON pointers (RFC 6901)")
struct JSONPointerTests {
    @Test(
        "The examples of RFC 6901 §5",
        arguments: [
            ("", nil), ("/foo", "[\"bar\",\"baz\"]"), ("/foo/0", "\"bar\""), ("/", "0"), ("/a~1b", "1"), ("/c%d", "2"),
            ("/e^f", "3"), ("/g|h", "4"),
            ("/i\\j", "5"), ("/k\"l", "6"), ("/ ", "7"), ("/m~0n", "8"),
        ] as [(String, String?)])
    func readsTheExamples(text: String, expected: String?) throws {
        let value = try JSONValue(
            parsing:
                "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,\"g|h\":4,\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,\"m~n\":8}"
        )
        let pointer = try #require(JSONPointer(text))
        #expect(value[pointer] == (try expected.map { try JSONValue(parsing: $0) } ?? value))
        #expect(pointer.description == text)
    }

    @Test("Invalid pointers are rejected", arguments: ["foo", "/~", "/~2", "/a~"])
    func refusesOthers(text: String) {
        #expect(JSONPointer(text) == nil)
    }

    @Test(
        "A pointer to a missing member or element finds nothing",
        arguments: ["/none", "/foo/2", "/foo/-", "/foo/00", "/foo/+1", "/foo/x", "/foo/0/0", "/foo/99999999999999999999"])
    func findsNothing(text: String) throws {
        let value: JSONValue = ["foo": ["bar", "baz"]]
        #expect(try value[#require(JSONPointer(text))] == nil)
    }

    @Test(
        "Setting a value replaces or appends, or fails; the order of members stays",
        arguments: [
            ("/b", "{\"a\":[1,2],\"b\":9}", true), ("/a/0", "{\"a\":[9,2],\"b\":{}}", true),
            ("/a/-", "{\"a\":[1,2,9],\"b\":{}}", true),
            ("/a/2", "{\"a\":[1,2,9],\"b\":{}}", true), ("/a/3", "{\"a\":[1,2],\"b\":{}}", false),
            ("/b/c", "{\"a\":[1,2],\"b\":{\"c\":9}}", true),
            ("/x/y", "{\"a\":[1,2],\"b\":{}}", false), ("/a/0/x", "{\"a\":[1,2],\"b\":{}}", false), ("", "9", true),
        ])
    func sets(text: String, expected: String, isSet: Bool) throws {
        var value = try JSONValue(parsing: "{\"a\":[1,2],\"b\":{}}")
        let isDone = try value.set(9, at: #require(JSONPointer(text)))
        #expect(isDone == isSet && value.description == expected)
    }

    @Test(
        "Removing a value moves later elements up",
        arguments: [
            ("/a/0", "{\"a\":[2],\"b\":1,\"b\":2}", true), ("/b", "{\"a\":[1,2]}", true),
            ("/a/2", "{\"a\":[1,2],\"b\":1,\"b\":2}", false),
            ("/a/-", "{\"a\":[1,2],\"b\":1,\"b\":2}", false), ("/c", "{\"a\":[1,2],\"b\":1,\"b\":2}", false),
            ("", "{\"a\":[1,2],\"b\":1,\"b\":2}", false),
        ])
    func removes(text: String, expected: String, isRemoved: Bool) throws {
        var value = try JSONValue(parsing: "{\"a\":[1,2],\"b\":1,\"b\":2}")
        let isDone = try value.remove(at: #require(JSONPointer(text)))
        #expect(isDone == isRemoved && value.description == expected)
    }
}
