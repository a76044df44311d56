import HTTPMessage
import HTTPSerialization
import Testing

@Suite("T35, V8 to V12: body checks by kind")
struct KindCheckTests {
    private func outcome(
        _ body: [UInt8], _ kinds: BodyKinds, type: String? = nil, limit: UInt64 = 8 << 20
    ) -> BodyCheckOutcome {
        var head = ResponseHead()
        if let type { head.fields.append(name: "Content-Type", value: type) }
        var limits = BodyCheckLimits()
        limits.bodyLength = limit
        let check = BodyCheck(kinds, of: head, limits: limits)
        let whole = check.outcome(of: body)
        #expect(whole == check.outcome(of: body.map { [$0] }))
        return whole
    }

    private func outcome(_ body: String, _ kinds: BodyKinds, type: String? = nil) -> BodyCheckOutcome {
        outcome(Array(body.utf8), kinds, type: type)
    }

    private static func png(_ width: UInt32, _ height: UInt32) -> [UInt8] { PNGHeader.octets(width, height) }

    @Test("XML must be well-formed, including its namespaces")
    func xml() {
        #expect(outcome("<a xmlns:x='u'><x:b/>text &amp; more</a>", .xml) == .passed)
        for text in ["<foo", "<a><b></a></b>", "<x:a/>", "{}", "<a/><a/>", "<a>&nbsp;</a>"] {
            #expect(outcome(text, .xml) == .malformedXML, "\(text)")
        }
    }

    @Test("T35: entity expansion, external entities and external parameter entities are rejected without being loaded")
    func entities() {
        let laughs =
            "<!DOCTYPE l [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;&b;\">]><l>&c;</l>"
        #expect(outcome(laughs, .xml) == .malformedXML)
        #expect(outcome("<!DOCTYPE r [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><r>&x;</r>", .xml) == .malformedXML)
        #expect(outcome("<!DOCTYPE r [<!ENTITY % x SYSTEM \"http://127.0.0.1:1/x\"> %x;]><r/>", .xml) == .malformedXML)
    }

    @Test("XML is checked in the charset of its type")
    func charset() {
        let latin: [UInt8] = Array("<a>".utf8) + [0xE9] + Array("</a>".utf8)
        #expect(outcome(latin, .xml) == .malformedXML)
        #expect(outcome(latin, .xml, type: "text/xml; charset=iso-8859-1") == .passed)
        #expect(outcome(latin, .xml, type: "text/xml; charset=utf-8") == .malformedXML)
        #expect(outcome(latin, .xml, type: "text/xml; charset=nobody-knows") == .malformedXML)
    }

    @Test("Property lists are checked in both forms")
    func propertyLists() throws {
        let value: PropertyListValue = ["a": 1, "b": ["x", true]]
        #expect(outcome(try value.octets(.xml), .propertyList) == .passed)
        #expect(outcome(try value.octets(.binary), .propertyList) == .passed)
        #expect(outcome(Array(try value.octets(.binary).dropLast()), .propertyList) == .malformedPropertyList)
        #expect(outcome("<plist><key>a</key></plist>", .propertyList) == .malformedPropertyList)
        #expect(outcome("{\"a\": 1}", .propertyList) == .malformedPropertyList)
    }

    @Test("An image passes, unless its type declares another format")
    func images() {
        #expect(outcome(Self.png(3, 4), .image) == .passed)
        #expect(outcome(Self.png(3, 4), .image, type: "image/png") == .passed)
        #expect(outcome(Self.png(3, 4), .image, type: "application/octet-stream") == .passed)
        #expect(outcome(Self.png(3, 4), .image, type: "image/jpeg") == .malformedImage)
        #expect(outcome("<html>", .image) == .malformedImage)
        #expect(outcome(Array(Self.png(3, 4).prefix(20)), .image) == .malformedImage)
    }

    @Test("T35: an image of 30,000 by 30,000 pixels is rejected by its header, even if it is longer than the check reads")
    func largeImage() {
        #expect(outcome(Self.png(30_000, 30_000), .image) == .imageTooLarge)
        var limits = BodyCheckLimits()
        limits.bodyLength = 1000
        let check = BodyCheck(.image, of: ResponseHead(), limits: limits)
        let rest = [UInt8](repeating: 0, count: 2000)
        #expect(check.outcome(ofBeginning: Self.png(30_000, 30_000) + rest) == .imageTooLarge)
        #expect(check.outcome(ofBeginning: Self.png(300, 300) + rest) == .tooLarge)
        #expect(BodyCheck(.json, of: ResponseHead(), limits: limits).outcome(ofBeginning: rest) == .tooLarge)
    }

    @Test("V12: of several kinds one is enough; if none accepts the body, each reports its fault")
    func anyOf() {
        let kinds: BodyKinds = [.json, .image]
        #expect(outcome("{}", kinds) == .passed)
        #expect(outcome(Self.png(1, 1), kinds) == .passed)
        var faults = ValidationFaults()
        faults.insert(outcome("<html></html>", kinds))
        var words: [String] = []
        faults.forEach { words.append("\($0.word)") }
        #expect(words == ["none_accepts", "malformed_json", "malformed_image"])
        #expect(faults.outermost == .noneAccepts)
    }

    @Test("Empty content and a single space pass", arguments: [BodyKinds.json, .xml, .propertyList, .image, [.json, .image]])
    func nothing(kinds: BodyKinds) {
        #expect(outcome([], kinds) == .passed)
        #expect(outcome(" ", kinds) == .passed)
    }

    @Test("A body at the length limit passes, one byte more is too large", arguments: [BodyKinds.json, .xml])
    func limit(kinds: BodyKinds) {
        let text = Array((kinds == .json ? "[         ]" : "<a>xxxx</a>").utf8)
        #expect(outcome(text, kinds, limit: UInt64(text.count)) == .passed)
        #expect(outcome(text, kinds, limit: UInt64(text.count - 1)) == .tooLarge)
    }

    @Test("A header line with every fault fits into the line limit")
    func line() {
        var faults = ValidationFaults()
        for code in ValidationFaults.Code.allCases { faults.insert(code) }
        var count = "Larder-Validation: \r\n".utf8.count
        faults.forEach { count += $0.word.utf8CodeUnitCount + 2 }
        #expect(count <= ValidationFaults.lineLimit)
    }
}
