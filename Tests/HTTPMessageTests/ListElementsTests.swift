import HTTPMessage
import Testing

@Suite("Lists (RFC 9110 §5.6.1)")
struct ListElementsTests {
    @Test(
        "Elements are returned one by one, without surrounding blanks and without empty ones",
        arguments: [
            ("", []), (",", []), (" , \t,", []), ("a", ["a"]), ("a,b", ["a", "b"]), (" a , b\t", ["a", "b"]),
            (",a,,b,", ["a", "b"]),
            ("a b, c", ["a b", "c"]), ("\"a,b\", c", ["\"a,b\"", "c"]), ("a=\"b,\\\",c\",d", ["a=\"b,\\\",c\"", "d"]),
            ("\"a, b", ["\"a, b"]), ("\"\\", ["\"\\"]), ("a\\,b", ["a\\", "b"]),
        ] as [(String, [String])])
    func walks(text: String, expected: [String]) {
        let bytes = Array(text.utf8)
        var elements = ListElements()
        var found: [String] = []
        while let element = elements.next(in: bytes.span) { found.append(String(decoding: bytes[element], as: UTF8.self)) }
        #expect(found == expected)
    }
}
