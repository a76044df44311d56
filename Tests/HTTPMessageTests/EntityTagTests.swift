import HTTPMessage
import Testing

@Suite("Entity tags (RFC 9110 §8.8.3)")
struct EntityTagTests {
    @Test(
        "A tag is parsed as weak or strong",
        arguments: [
            (#""xyzzy""#, false), (#"W/"xyzzy""#, true), (#""""#, false), (#""a,b""#, false), ("\"\u{00E9}\"", false),
        ])
    func readsTags(text: String, isWeak: Bool) throws {
        let parsed = EntityTag(Array(text.utf8).span)
        let tag = try #require(parsed)
        #expect(tag.isWeak == isWeak)
    }

    @Test(
        "Text that is not an entity tag is rejected",
        arguments: ["", "xyzzy", #"w/"x""#, #""x"#, #"x""#, #""a b""#, #""a"b"#, #"W/ "x""#, "W/", "*"])
    func refusesOthers(text: String) {
        #expect(EntityTag(Array(text.utf8).span) == nil)
    }

    /// RFC 9110 §8.8.3.2, the table.
    @Test(
        "Strong and weak comparison follow the RFC's table",
        arguments: [
            (#"W/"1""#, #"W/"1""#, false, true), (#"W/"1""#, #"W/"2""#, false, false), (#"W/"1""#, #""1""#, false, true),
            (#""1""#, #""1""#, true, true), (#""1""#, #""2""#, false, false), ("1", "1", false, false),
        ])
    func compares(left: String, right: String, strongly: Bool, weakly: Bool) {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        #expect(EntityTag.matchesStrongly(left.span, right.span) == strongly)
        #expect(EntityTag.matchesWeakly(left.span, right.span) == weakly)
    }

    @Test(
        "A list is searched by weak comparison",
        arguments: [
            (#""a""#, #""a""#, EntityTag.ListMatch.matches), (#""a""#, #"W/"a""#, .matches), (#"W/"a""#, #""b" , "a""#, .matches),
            (#""a""#, #""b", "c""#, .doesNotMatch), (#""a""#, "*", .any), ("", " * ", .any), ("", #""a""#, .doesNotMatch),
            (#""a,b""#, #""a,b""#, .matches), (#""a""#, #",, "a","#, .matches), (#""a""#, #""a" "b""#, .invalid),
            (#""a""#, "a", .invalid), (#""a""#, #""a", *"#, .invalid), (#""a""#, #""a", "b"#, .invalid),
            (#""a""#, "", .doesNotMatch),
        ])
    func searchesLists(tag: String, list: String, expected: EntityTag.ListMatch) {
        let (tag, list) = (Array(tag.utf8), Array(list.utf8))
        #expect(EntityTag.findWeakly(tag.span, inList: list.span) == expected)
    }
}
