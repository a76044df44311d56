import HTTPSerialization
import Testing

@Suite("Property lists (V9)")
struct PropertyListTests {
    private let value: PropertyListValue = [
        "z": 1, "a": [1.5, true, false, "é & <x>"], "d": .date(PropertyListDate(secondsSince2001: -978_307_200)),
        "b": .data([0, 1, 255]),
        "n": .integer(-5), "u": .integer(Int128(UInt64.max)), "e": [], "o": [:],
    ]

    private func reason(_ octets: [UInt8], _ limits: PropertyListLimits = PropertyListLimits()) -> PropertyListFault.Reason? {
        do throws(PropertyListFault) {
            _ = try PropertyListValue(parsing: octets, limits: limits)
            return nil
        } catch {
            return error.reason
        }
    }

    private func xml(_ content: String) -> [UInt8] { Array("<plist version=\"1.0\">\(content)</plist>".utf8) }

    @Test("Both forms are read back as written, and give the same JSON", arguments: [PropertyListValue.Form.xml, .binary])
    func roundTrips(form: PropertyListValue.Form) throws {
        let octets = try value.octets(form)
        let again = try PropertyListValue(parsing: octets)
        #expect(again == value)
        #expect(
            again.json.description
                == "{\"z\":1,\"a\":[1.5,true,false,\"é & <x>\"],\"d\":\"1970-01-01T00:00:00Z\",\"b\":\"AAH/\",\"n\":-5,\"u\":18446744073709551615,\"e\":[],\"o\":{}}"
        )
    }

    @Test("XML is written as Apple and Python write it")
    func writesXML() throws {
        let text = String(
            decoding: try PropertyListValue.dictionary(PropertyListDictionary([("k", .array([.data([1]), .uid(3)]))])).octets(),
            as: UTF8.self)
        #expect(
            text == """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <plist version="1.0">
                <dict>
                \t<key>k</key>
                \t<array>
                \t\t<data>
                \t\tAQ==
                \t\t</data>
                \t\t<dict>
                \t\t\t<key>CF$UID</key>
                \t\t\t<integer>3</integer>
                \t\t</dict>
                \t</array>
                </dict>
                </plist>

                """)
    }

    @Test(
        "An invalid property list is rejected",
        arguments: [
            "", "<integer>x</integer>", "<integer/>", "<integer>1</integer><integer>2</integer>", "<real>0x1p3</real>",
            "<real></real>", "<date>2026-02-30T00:00:00Z</date>",
            "<date>2026-01-01</date>", "<data>A</data>", "<data>****</data>", "<dict><key>a</key></dict>",
            "<dict><string>a</string><true/></dict>", "<array>x</array>",
            "<string><b/></string>", "<true>x</true>", "<set/>", "x", "<dict><key>a</key><key>b</key></dict>",
        ])
    func refusesOthers(content: String) {
        #expect(reason(xml(content)) == .malformed)
    }

    @Test("XML with another root or with entities is rejected, and so is any other text")
    func refusesOtherTexts() {
        for text in ["<dict/>", "<plist>", "{}", "", "<!DOCTYPE plist [<!ENTITY a 'x'>]><plist><string>&a;</string></plist>"] {
            #expect(reason(Array(text.utf8)) == .malformed)
        }
    }

    @Test("Depth, count and length at the limit are accepted, one more is rejected, in both forms")
    func holdsItsLimits() throws {
        func nested(_ depth: Int) -> PropertyListValue { (0..<depth).reduce("x") { value, _ in [value] } }
        for form in [PropertyListValue.Form.xml, .binary] {
            #expect(reason(try nested(100).octets(form)) == nil)
            #expect(reason(try nested(101).octets(form)) == .tooDeep)
            let octets = try PropertyListValue.array([1, 2, 3]).octets(form)
            #expect(reason(octets, PropertyListLimits(length: octets.count)) == nil)
            #expect(reason(octets, PropertyListLimits(length: octets.count - 1)) == .tooLarge)
        }
        let binary = try PropertyListValue.array([1, 2, 3]).octets(.binary)
        #expect(reason(binary, PropertyListLimits(valueCount: 4)) == nil)
        #expect(reason(binary, PropertyListLimits(valueCount: 3)) == .tooLarge)
    }

    /// Builds a file from objects: each is a list of bytes; references are single bytes.
    private func binary(_ objects: [[UInt8]], top: UInt8 = 0) -> [UInt8] {
        var octets = Array("bplist00".utf8)
        var places: [UInt8] = []
        for object in objects {
            places.append(UInt8(octets.count))
            octets += object
        }
        let table = UInt8(octets.count)
        return octets + places + [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, UInt8(objects.count)] + [
            0, 0, 0, 0, 0, 0, 0, top,
        ]
            + [0, 0, 0, 0, 0, 0, 0, table]
    }

    @Test("An array that contains itself is rejected, and so is one that doubles with each level")
    func refusesGrowth() throws {
        #expect(reason(binary([[0xA1, 0]])) == .malformed)
        #expect(reason(binary([[0xA1, 1], [0xA1, 0]])) == .malformed)
        let doubling = (0..<40).map { [0xA2, UInt8($0 + 1), UInt8($0 + 1)] as [UInt8] } + [[0x09]]
        #expect(reason(binary(doubling)) == .tooLarge)
    }

    @Test("A truncated binary list, or one with offsets or references outside the file, is rejected")
    func refusesBrokenLists() throws {
        let good = binary([[0xD1, 1, 2], [0x51, 0x61], [0x10, 5]])
        #expect(try PropertyListValue(parsing: good) == ["a": 5])
        for count in 0..<good.count { #expect(reason(Array(good.prefix(count))) == .malformed) }
        for objects in [
            [[0xA1, 9]], [[0x52, 0x61]], [[0x51, 0xFF]], [[0x61, 0xD8, 0x00]], [[0x5F, 0x50]],
            [[0x5F, 0x13, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]],
            [[0xD1, 1, 1], [0x09]], [[0x00]], [[0xC0]], [[0x15]], [[0x24]],
            [[0x6F, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]],
            [[0xAF, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]], [[0x13, 1]], [[0x88]],
        ] as [[[UInt8]]] {
            #expect(reason(binary(objects)) == .malformed, "\(objects)")
        }
    }

    @Test("Writing a value that the form cannot express fails")
    func refusesInexpressible() {
        for value in [PropertyListValue.integer(Int128(UInt64.max) + 1), .integer(Int128(Int64.min) - 1)] {
            #expect(throws: PropertyListFault.self) { try value.octets(.xml) }
            #expect(throws: PropertyListFault.self) { try value.octets(.binary) }
        }
        #expect(throws: PropertyListFault.self) { try PropertyListValue.string("\0").octets(.xml) }
        #expect(throws: PropertyListFault.self) {
            try PropertyListValue.date(PropertyListDate(secondsSince2001: 1e15)).octets(.xml)
        }
        #expect(throws: PropertyListFault.self) { try PropertyListValue(JSONValue.array([.null])) }
    }

    @Test("Dates are converted both ways, over all years that can be written")
    func countsDays() throws {
        for (text, seconds) in [
            ("2001-01-01T00:00:00Z", 0.0), ("2000-02-29T23:59:59Z", -26_438_401), ("1970-01-01T00:00:00Z", -978_307_200),
            ("9999-12-31T23:59:59Z", 252_423_993_599),
            ("0001-01-01T00:00:00Z", -63_113_904_000), ("2026-11-23T03:07:55Z", 817_096_075),
        ] {
            #expect(PropertyListDate(text)?.secondsSince2001 == seconds)
            #expect(PropertyListDate(secondsSince2001: seconds).text == text)
        }
        for day in stride(from: -730_000, to: 2_900_000, by: 371) {
            let date = PropertyListDate(secondsSince2001: Double(day) * 86400 + 7)
            #expect(try PropertyListDate(#require(date.text)) == date)
        }
        #expect(PropertyListDate(secondsSince2001: 252_423_993_600).text == nil)
        #expect(PropertyListDate("1900-02-29T00:00:00Z") == nil)
    }

    @Test("A response: empty content is nil, either form is decoded, anything else is a fault")
    func serializes() throws {
        let serializer = PropertyListSerializer()
        func read(_ octets: [UInt8], _ status: Int = 200) -> SerializedResponse<PropertyListValue?> {
            serializer.serialize(ReceivedHead(status: status, contentType: "application/x-plist"), octets)
        }
        #expect(try read([], 204).get() == nil)
        for form in [PropertyListValue.Form.xml, .binary] { #expect(try read(value.octets(form)).get() == value) }
        #expect(read(Array("{}".utf8)).faults.first?.code == .malformedPropertyList)
        let request = try PropertyListRequestSerializer(.binary).serialize(["a": 1], method: "PUT", target: "/")
        guard case .octets(let octets) = request.content else { throw RequestSerializationErrorStandIn() }
        #expect(request.contentType == "application/x-plist" && octets.starts(with: Array("bplist00".utf8)))
        #expect(try PropertyListRequestSerializer().serialize(nil, method: "PUT", target: "/").content == nil)
    }

    private struct RequestSerializationErrorStandIn: Error {}
}
