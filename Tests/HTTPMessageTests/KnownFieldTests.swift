import Testing

@testable import HTTPMessage

@Suite("Known fields")
struct KnownFieldTests {
    @Test("Every known name is found, in any case", arguments: KnownField.allCases.filter { $0 != .other })
    func findsName(field: KnownField) {
        let name = "\(field.lowercaseName)"
        #expect(KnownField(Array(name.utf8).span) == field, "\(KnownFieldTests.explanation)")
        #expect(KnownField(Array(name.uppercased().utf8).span) == field)
    }

    @Test("A name that differs in one byte is not that field", arguments: KnownField.allCases.filter { $0 != .other })
    func tellsNamesApart(field: KnownField) {
        let name = Array("\(field.lowercaseName)".utf8)
        for place in name.indices {
            for octet in [name[place] ^ 0x01, name[place] ^ 0x40, name[place] & 0x1F, name[place] | 0x80, 0] {
                var other = name
                other[place] = octet
                let found = KnownField(other.span)
                #expect(found == .other || Array("\(found.lowercaseName)".utf8) == other)
            }
        }
        let shorter = Array(name.dropLast())
        let longer = name + [0x61]
        #expect(KnownField(shorter.span) != field)
        #expect(KnownField(longer.span) != field)
    }

    @Test("The table has each name in the bucket that it hashes into, and no two names share one")
    func bucketsAreRight() {
        #expect((0..<256).map { KnownFieldTable.buckets[$0] } == Self.bucketsFromNames(), "\(Self.explanation)")
    }

    private static func bucketsFromNames() -> [UInt8] {
        var buckets = [UInt8](repeating: 0, count: 256)
        for field in KnownField.allCases where field != .other {
            let name = Array("\(field.lowercaseName)".utf8)
            let bucket = KnownFieldTable.bucket(first: name[0], last: name[name.count - 1], count: name.count)
            if buckets[bucket] != 0 { Issue.record("\(field) falls into a bucket that is taken: choose other factors") }
            buckets[bucket] = field.rawValue
        }
        return buckets
    }

    private static var explanation: String {
        "KnownFieldTable.buckets should be \(bucketsFromNames())"
    }
}
