import HTTPMessage
import HTTPSerialization
import Testing

@Suite("Content transforms (V7 to V9, V15, V16)")
struct ContentTransformTests {
    private func made(
        _ body: [UInt8], _ work: ContentTransform.Work, type: String? = nil, coding: String? = nil,
        limits: ContentTransform.Limits = ContentTransform.Limits(), isOverdue: @escaping () -> Bool = { false }
    ) throws(TransformFault) -> [UInt8] {
        var head = ResponseHead()
        if let type { head.fields.append(name: "Content-Type", value: type) }
        if let coding { head.fields.append(name: "Content-Encoding", value: coding) }
        return try ContentTransform(work, of: head, limits: limits).content(of: body, isOverdue: isOverdue)
    }

    private func made(_ body: String, _ work: ContentTransform.Work) throws -> String {
        String(decoding: try made(Array(body.utf8), work), as: UTF8.self)
    }

    private func fault(
        _ body: [UInt8], _ work: ContentTransform.Work, type: String? = nil, coding: String? = nil,
        limits: ContentTransform.Limits = ContentTransform.Limits(), isOverdue: @escaping () -> Bool = { false }
    ) -> TransformFault? {
        do throws(TransformFault) {
            _ = try made(body, work, type: type, coding: coding, limits: limits, isOverdue: isOverdue)
            return nil
        } catch {
            return error
        }
    }

    private static let strip = ContentTransform.Work.json(from: .json, JSONEdits(nulls: .everywhere))

    @Test("V7: nulls are removed from objects and arrays at any depth; digits and order stay")
    func stripsNulls() throws {
        let text =
            "{\"b\": 1.0, \"a\": null, \"c\": [null, {\"d\": null, \"e\": 123456789012345678901234567890}], \"z\": \"\\u00e9\"}"
        #expect(try made(text, Self.strip) == "{\"b\":1.0,\"c\":[{\"e\":123456789012345678901234567890}],\"z\":\"é\"}")
        let members = ContentTransform.Work.json(from: .json, JSONEdits(nulls: .members))
        #expect(try made("[null, {\"a\": null}]", members) == "[null,{}]")
        #expect(try made("null", Self.strip) == "null")
    }

    @Test(
        "V7: removing nulls while copying a text gives the same result as removing them from its value",
        arguments: 0..<200 as Range<UInt64>)
    func stripsAsValuesDo(seed: UInt64) throws {
        var json = SeededJSON(seed: seed)
        for _ in 0..<20 {
            let text = json.text()
            for nulls in [NullRemoval.never, .members, .everywhere] {
                let work = ContentTransform.Work.json(from: .json, JSONEdits(nulls: nulls))
                let options = JSONParseOptions(removesNulls: nulls)
                guard let expected = try? JSONValue(parsing: text, options: options).text() else {
                    #expect(fault(text, work) == .malformedJSON)
                    continue
                }
                #expect(try made(text, work) == expected)
                let broken = json.mutated(text)
                // These stay unchanged.
                if broken.isEmpty || broken == [0x20] { continue }
                let isRead = (try? JSONValue(parsing: broken, options: options)) != nil
                #expect(fault(broken, work) == (isRead ? nil : .malformedJSON))
            }
        }
    }

    @Test("T35: edits of positions limit the number of values; removing nulls alone does not, since it builds none")
    func boundsValues() throws {
        var limits = ContentTransform.Limits()
        limits.bodyLength = 16 << 20
        limits.outputLength = 16 << 20
        let place = ContentTransform.Work.json(from: .json, JSONEdits(removals: [try #require(JSONPointer("/0"))]))
        // The array itself is a value.
        for (count, expected) in [(3_999_999, nil), (4_000_000, TransformFault.bodyTooLarge)] {
            let text = Array(("[" + String(repeating: "0,", count: count - 1) + "0]").utf8)
            #expect(fault(text, place, limits: limits) == expected)
            // A debug build needs seconds for each text.
            if expected != nil { #expect(fault(text, Self.strip, limits: limits) == nil) }
        }
    }

    @Test("Overdue work ends in the middle of a text, for every kind of input")
    func isInterrupted() throws {
        let elements = String(repeating: "<a>1</a>", count: 200_000)
        let place = JSONEdits(removals: [try #require(JSONPointer("/0"))])
        let rows: [(ContentTransform.Work, String)] = [
            (Self.strip, "[" + String(repeating: "1,", count: 700_000) + "1]"),
            (.json(from: .json, place), "[" + String(repeating: "1,", count: 700_000) + "1]"),
            (.json(from: .xml, JSONEdits()), "<r>\(elements)</r>"),
        ]
        for (work, text) in rows {
            let asked = Asked()
            #expect(fault(Array(text.utf8), work, isOverdue: { asked.next() == 3 }) == .timedOut)
            #expect(asked.count == 3)
        }
    }

    private final class Asked {
        var count = 0
        func next() -> Int {
            count += 1
            return count
        }
    }

    @Test("Positions are removed and then set, in the order of the rule")
    func pointers() throws {
        let edits = JSONEdits(
            removals: [
                try #require(JSONPointer("/secret")), try #require(JSONPointer("/list/0")), try #require(JSONPointer("/none")),
            ],
            settings: [(try #require(JSONPointer("/a~1b")), [1, nil]), (try #require(JSONPointer("/list/-")), "last")])
        #expect(
            try made("{\"secret\": 1, \"list\": [1, 2], \"a/b\": 0}", .json(from: .json, edits))
                == "{\"list\":[2,\"last\"],\"a/b\":[1,null]}")
        #expect(fault(Array("[]".utf8), .json(from: .json, edits)) == .noPlace)
    }

    @Test("V9: both forms of a property list become the same JSON")
    func propertyLists() throws {
        let date = try #require(PropertyListDate("2026-11-23T03:07:55Z"))
        let list = PropertyListValue.dictionary(
            PropertyListDictionary([
                ("name", "Ä"), ("count", 7), ("half", 0.5), ("on", true), ("when", .date(date)), ("data", .data([1, 2, 3])),
                ("list", ["a", 2]),
            ]))
        let work = ContentTransform.Work.json(from: .propertyList, JSONEdits())
        let expected =
            "{\"name\":\"Ä\",\"count\":7,\"half\":0.5,\"on\":true,\"when\":\"2026-11-23T03:07:55Z\",\"data\":\"AQID\",\"list\":[\"a\",2]}"
        #expect(String(decoding: try made(try list.octets(.xml), work), as: UTF8.self) == expected)
        #expect(String(decoding: try made(try list.octets(.binary), work), as: UTF8.self) == expected)
    }

    @Test("V8: XML becomes JSON by the convention of docs/policy.md")
    func xml() throws {
        let work = ContentTransform.Work.json(from: .xml, JSONEdits())
        let text = "<r a='1'><!-- no --><b>x</b><b/><c d='2'>t<e/></c>tail</r>"
        #expect(
            try made(text, work)
                == "{\"r\":{\"@a\":\"1\",\"b\":[\"x\",null],\"c\":{\"@d\":\"2\",\"e\":null,\"#text\":\"t\"},\"#text\":\"tail\"}}")
        #expect(try made("<a/>", work) == "{\"a\":null}")
        let latin: [UInt8] = Array("<a>".utf8) + [0xE9] + Array("</a>".utf8)
        #expect(String(decoding: try made(latin, work, type: "text/xml; charset=iso-8859-1"), as: UTF8.self) == "{\"a\":\"é\"}")
    }

    @Test("The charset of text comes from its byte order mark, the rule or its type; otherwise it is UTF-8")
    func charsets() throws {
        let toUTF8 = ContentTransform.Work.text(from: nil, to: .utf8)
        #expect(try made([0xE9], toUTF8, type: "text/plain; charset=iso-8859-1") == Array("é".utf8))
        #expect(try made([0xFE, 0xFF, 0, 0xE9], toUTF8, type: "text/plain; charset=iso-8859-1") == Array("é".utf8))
        #expect(try made(Array("é".utf8), toUTF8) == Array("é".utf8))
        let cyrillic = try #require(Charset("windows-1251"))
        #expect(try made([0xC6], .text(from: cyrillic, to: .utf8), type: "text/plain; charset=iso-8859-1") == Array("Ж".utf8))
        #expect(try made(Array("Ж".utf8), .text(from: nil, to: cyrillic)) == [0xC6])
        let japanese = try #require(Charset("shift_jis"))
        #expect(try made([0x83, 0x65], .text(from: japanese, to: .utf8)) == Array("テ".utf8))
        let long = [UInt8](repeating: 0xE9, count: 50_000)
        #expect(try made(long, toUTF8, type: "text/plain; charset=latin1").count == 100_000)
        #expect(fault([0xE9], toUTF8) == .malformedText)
        #expect(fault([0xE9], toUTF8, type: "text/plain; charset=nobody-knows") == .unknownCharset)
        #expect(fault(Array("Ж".utf8), .text(from: nil, to: .latin1)) == .unencodable)
    }

    @Test("Empty content and a single space stay unchanged")
    func nothing() throws {
        #expect(try made([], Self.strip).isEmpty)
        #expect(try made(" ", Self.strip) == " ")
        // For text a space is content.
        #expect(try made([0x20], .text(from: nil, to: try #require(Charset("utf-16")))) == [0, 0x20])
    }

    @Test("V16: content codings are decoded first", arguments: Wrapping.allCases)
    func codings(wrapping: Wrapping) throws {
        let body = deflated(Array("{\"a\": null}".utf8), wrapping)
        let coding = wrapping == .gzip ? "gzip" : "deflate"
        #expect(try made(body, Self.strip, coding: coding) == Array("{}".utf8))
        #expect(fault(Array(body.dropLast(wrapping == .raw ? 1 : 3)), Self.strip, coding: coding) == .malformedCoding)
        #expect(fault(body, Self.strip, coding: "compress") == .unsupportedCoding)
    }

    @Test("Content that is not of the expected kind fails with that kind's fault")
    func faults() {
        #expect(fault(Array("{".utf8), Self.strip) == .malformedJSON)
        #expect(fault(Array("<a>".utf8), .json(from: .xml, JSONEdits())) == .malformedXML)
        #expect(fault(Array("<a/>".utf8), .json(from: .propertyList, JSONEdits())) == .malformedPropertyList)
    }

    // MARK: T35

    @Test("T35: a body that is longer than the limit, itself or after decoding, is rejected")
    func boundsInput() {
        var limits = ContentTransform.Limits()
        limits.bodyLength = 1 << 20
        let bomb = deflated([UInt8](repeating: 0x20, count: 8 << 20), .gzip)
        #expect(fault(bomb, Self.strip, coding: "gzip", limits: limits) == .bodyTooLarge)
        limits.bodyLength = 4
        #expect(fault(Array("[  ]".utf8), Self.strip, limits: limits) == nil)
        #expect(fault(Array("[   ]".utf8), Self.strip, limits: limits) == .bodyTooLarge)
    }

    @Test("T35: output at the limit is accepted, one byte more is rejected")
    func boundsOutput() {
        var limits = ContentTransform.Limits()
        limits.outputLength = 3
        #expect(fault(Array("[1]".utf8), Self.strip, limits: limits) == nil)
        #expect(fault(Array("[10]".utf8), Self.strip, limits: limits) == .outputTooLarge)
    }

    @Test("T35: JSON and XML at the depth limit are accepted, one level more is rejected")
    func boundsDepth() throws {
        var limits = ContentTransform.Limits()
        limits.depth = 5
        let json = { (depth: Int) in [UInt8](repeating: 0x5B, count: depth) + [UInt8](repeating: 0x5D, count: depth) }
        #expect(fault(json(5), Self.strip, limits: limits) == nil)
        #expect(fault(json(6), Self.strip, limits: limits) == .tooDeep)
        #expect(fault(json(100_000), Self.strip) == .tooDeep)
        let xml = { (depth: Int) in
            Array((String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)).utf8)
        }
        #expect(fault(xml(5), .json(from: .xml, JSONEdits()), limits: limits) == nil)
        #expect(fault(xml(6), .json(from: .xml, JSONEdits()), limits: limits) == .tooDeep)
        #expect(fault(xml(10_000), .json(from: .xml, JSONEdits())) == .tooDeep)
    }

    @Test("T35: XML entities are rejected, also in property lists")
    func refusesEntities() {
        let laughs = "<!DOCTYPE l [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\">]><l>&b;</l>"
        #expect(fault(Array(laughs.utf8), .json(from: .xml, JSONEdits())) == .malformedXML)
        let list = "<!DOCTYPE plist [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><plist><string>&x;</string></plist>"
        #expect(fault(Array(list.utf8), .json(from: .propertyList, JSONEdits())) == .malformedPropertyList)
    }

    @Test("T35: a binary property list that references one string many times cannot exceed the output limit")
    func boundsSharedTexts() throws {
        let text = PropertyListValue.string(String(repeating: "x", count: 100_000))
        let list = try PropertyListValue.array(Array(repeating: text, count: 5_000)).octets(.binary)
        #expect(list.count < 1 << 20)
        #expect(fault(list, .json(from: .propertyList, JSONEdits())) == .outputTooLarge)
    }

    @Test("T35: overdue work ends before it starts, after each step, and within a long one")
    func timesOut() throws {
        let place = ContentTransform.Work.json(from: .json, JSONEdits(removals: [try #require(JSONPointer("/0"))]))
        let long = Array(("[" + String(repeating: "null,", count: 200_000) + "1]").utf8)
        // Before and after the work; with a value also after parsing it; in a megabyte three more times.
        let works = [(Array("[null]".utf8), Self.strip, 2), (Array("[1]".utf8), place, 3), (long, Self.strip, 5)]
        for (text, work, questions) in works {
            for turn in 1...questions + 1 {
                var asked = 0
                let found = fault(text, work) {
                    asked += 1
                    return asked == turn
                }
                #expect(found == (turn <= questions ? .timedOut : nil))
            }
        }
    }
}
