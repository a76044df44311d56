import HTTPSerialization
import TestSupport
import Testing

@Suite("XML (V8)")
struct XMLTests {
    private func tree(_ text: String, _ limits: XMLLimits = XMLLimits()) throws(XMLFault) -> XMLTree {
        try XMLTree(parsing: Array(text.utf8), limits: limits)
    }

    private func reason(_ text: String, _ limits: XMLLimits = XMLLimits()) -> XMLFault.Reason? {
        do throws(XMLFault) {
            _ = try tree(text, limits)
            return nil
        } catch {
            return error.reason
        }
    }

    private let sample = """
        <?xml version="1.0"?><!-- c --><a:feed xmlns:a="urn:a" xmlns="urn:d" id="1" a:lang="é">x &lt; <b>y</b><![CDATA[<z>]]><?p d?>&#x20AC;</a:feed>
        """

    @Test("Events arrive in order, with namespaces and whole texts, however the bytes are split")
    func tellsEvents() throws {
        let feed = XMLName("feed", prefix: "a", namespace: "urn:a")
        let b = XMLName("b", namespace: "urn:d")
        let expected: [XMLEvent] = [
            .comment(" c "),
            .start(
                feed,
                attributes: [
                    XMLAttribute(name: XMLName("id"), value: "1"),
                    XMLAttribute(name: XMLName("lang", prefix: "a", namespace: "urn:a"), value: "é"),
                ]), .text("x < "), .start(b, attributes: []), .text("y"), .end(b), .text("<z>"),
            .processingInstruction(target: "p", data: "d"),
            .text("€"), .end(feed),
        ]
        let octets = Array(sample.utf8)
        for pieceLength in [1, 7, octets.count] {
            let reader = XMLEventReader()
            var events: [XMLEvent] = []
            for start in stride(from: 0, to: octets.count, by: pieceLength) {
                events += try reader.consume(octets.span.extracting(start..<min(start + pieceLength, octets.count)))
            }
            events += try reader.finish()
            #expect(events == expected)
        }
    }

    @Test("A tree is queried by names, and becomes JSON by the convention")
    func buildsTrees() throws {
        let root = try tree(sample).root
        #expect(root["id"] == "1" && root["a:lang"] == "é" && root["none"] == nil)
        #expect(root.first("b")?.text == "y" && root.text == "x < y<z>€")
        let text = "<r v=\"1\"><i>1</i><n/><i k=\"2\">t</i> tail <e></e></r>"
        #expect(
            try tree(text).json.description
                == "{\"r\":{\"@v\":\"1\",\"i\":[\"1\",{\"@k\":\"2\",\"#text\":\"t\"}],\"n\":null,\"e\":null,\"#text\":\" tail \"}}"
        )
        #expect(try tree("<a/>").json.description == "{\"a\":null}")
        #expect(try tree("<a> </a>").json.description == "{\"a\":\" \"}")
    }

    @Test(
        "XML that is not well-formed, including its namespaces, is rejected",
        arguments: [
            "", " ", "<foo", "<a>", "<a></b>", "<a/><b/>", "a", "<a x=1/>", "<a x='1' x='2'/>", "<a>&</a>", "<a>\u{1}</a>",
            "<p:a/>", "<a x='<'/>",
            "<a/>x", "<a><![CDATA[x</a>", "<?xml version='1.0' encoding='no-such'?><a/>", "<a xmlns:p=''/>", "{}",
        ])
    func refusesWhatIsNone(text: String) {
        #expect(reason(text) == .malformed)
    }

    @Test("Entities are neither declared, loaded nor expanded; a document type without declarations is ignored")
    func refusesEntities() {
        let laughs = "<!DOCTYPE l [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]><l>&b;</l>"
        #expect(reason(laughs) == .declaration)
        #expect(reason("<!DOCTYPE l [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><l>&x;</l>") == .declaration)
        #expect(reason("<!DOCTYPE l [<!ENTITY % x SYSTEM \"http://127.0.0.1:1/x\"> %x;]><l/>") == .declaration)
        #expect(reason("<!DOCTYPE l [<!NOTATION n SYSTEM \"n\"><!ENTITY x SYSTEM \"f\" NDATA n>]><l/>") == .declaration)
        #expect(reason("<!DOCTYPE l [<!ATTLIST l a CDATA \"default\">]><l/>") == .declaration)
        #expect(reason("<!DOCTYPE l [<!ATTLIST l a (x|y) \"x\">]><l/>") == .declaration)
        #expect(reason("<!DOCTYPE l SYSTEM \"http://127.0.0.1:1/x.dtd\"><l/>") == nil)
        #expect(reason("<!DOCTYPE l SYSTEM \"x.dtd\"><l>&copy;</l>") == .entity)
        #expect(reason("<!DOCTYPE l SYSTEM \"x.dtd\"><l a=\"&copy;\"/>") == .entity)
        #expect(reason("<l>&copy;</l>") == .entity)
        #expect(reason("<l>&lt;&gt;&amp;&quot;&apos;&#65;&#x42;</l>") == nil)
    }

    @Test("Values at each limit are accepted, one more is rejected")
    func holdsItsLimits() {
        func nested(_ depth: Int) -> String { String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth) }
        #expect(reason(nested(128)) == nil)
        #expect(reason(nested(129)) == .tooDeep)
        #expect(reason(nested(250), XMLLimits(depth: 250)) == nil)
        func attributes(_ count: Int) -> String { "<a " + (0..<count).map { "a\($0)=''" }.joined(separator: " ") + "/>" }
        #expect(reason(attributes(256)) == nil)
        #expect(reason(attributes(257)) == .tooLarge)
        #expect(reason("<a>" + String(repeating: "x", count: 13) + "</a>", XMLLimits(length: 20)) == nil)
        #expect(reason("<a>" + String(repeating: "x", count: 14) + "</a>", XMLLimits(length: 20)) == .tooLarge)
        #expect(reason("<a><b/><b/></a>", XMLLimits(nodeCount: 6)) == nil)
        #expect(reason("<a><b/><b/></a>", XMLLimits(nodeCount: 5)) == .tooLarge)
        #expect(reason("<a x=\"" + String(repeating: "x", count: 200_000) + "\"/>") == .tooLarge)
        #expect(reason("<a>" + String(repeating: "x", count: 200_000) + "</a>") == nil)
    }

    @Test("A tag with very many attributes is rejected quickly")
    func boundsTime() {
        let text = "<a " + (0..<500_000).map { "a\($0)=''" }.joined(separator: " ") + "/>"
        let taken = cpuTime { #expect(reason(text) == .tooLarge) }
        #expect(taken < .seconds(20))
    }

    @Test("Faults have line, column and libxml2's message")
    func placesFaults() throws {
        let fault = try #require(throws: XMLFault.self) { try tree("<a>\n <b></c>\n</a>") }
        #expect(fault.line == 2)
        #expect(fault.detail == "Opening and ending tag mismatch: b line 2 and c")
    }

    @Test("The charset of the field has precedence over the declared encoding, and a byte order mark over both")
    func readsCharsets() throws {
        func text(_ octets: [UInt8], _ type: String) throws -> String? {
            try XMLTreeSerializer().serialize(ReceivedHead(status: 200, contentType: type), octets).get()?.root.text
        }
        let declared = Array("<?xml version='1.0' encoding='ISO-8859-1'?><a>".utf8) + [0xE9] + Array("</a>".utf8)
        #expect(try text(declared, "text/xml") == "é")
        #expect(try text(declared, "text/xml; charset=windows-1251") == "й")
        let marked = [0xEF, 0xBB, 0xBF] + Array("<a>é</a>".utf8)
        #expect(try text(marked, "application/xml; charset=iso-8859-1") == "é")
        let wide: [UInt8] = [0xFE, 0xFF] + "<a>é</a>".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] as [UInt8] }
        #expect(try text(wide, "image/svg+xml") == "é")
        #expect(try text([], "text/xml") == nil)
        let broken = XMLTreeSerializer().serialize(ReceivedHead(status: 500, contentType: "text/xml"), Array("<foo".utf8))
        #expect(broken.faults.map(\.code) == [.malformedXML, .unacceptableStatus])
    }
}
