import CommandSupport
import LarderHTTP
import Testing

@testable import Downloads

@Suite("Parts of a fetched file")
struct FetchPartsTests {
    @Test("Extents merge where they touch, stay in order, and know the gaps")
    func extents() {
        var extents = Extents()
        for range: Range<UInt64> in [10..<20, 40..<50, 20..<25, 0..<5, 45..<60, 5..<5] { extents.insert(range) }
        #expect(extents.ranges == [0..<5, 10..<25, 40..<60] && extents.length == 40 && extents.end == 60)
        #expect(extents.missing(of: 70) == [5..<10, 25..<40, 60..<70])
        extents.insert(3..<41)
        #expect(extents.ranges == [0..<60] && extents.missing(of: 60).isEmpty)
    }

    @Test("Extents inserted in any order are the same set", arguments: 0..<50 as Range<UInt64>)
    func extentsInAnyOrder(seed: UInt64) {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ limit: UInt64) -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state % limit
        }
        var extents = Extents()
        var octets = Set<UInt64>()
        for _ in 0..<30 {
            let start = next(100)
            let range = start..<start + next(12)
            extents.insert(range)
            octets.formUnion(range)
        }
        #expect(Set(extents.ranges.flatMap(Array.init)) == octets)
        #expect(Extents(extents.ranges) == extents)
        #expect(Set(extents.missing(of: 120).flatMap(Array.init)) == Set(0..<120).subtracting(octets))
    }

    private static let known = FetchedEntity(tag: "\"a\"", total: 100)

    @Test(
        "A response is classified by the existing part",
        arguments: [
            (200, ["ETag": "\"a\"", "Content-Length": "100"], nil, nil, .whole(known)),
            (200, ["ETag": "W/\"a\""], nil, nil, .whole(FetchedEntity())),
            (200, ["ETag": "\"b\"", "Content-Length": "7"], 50..<100, known, .whole(FetchedEntity(tag: "\"b\"", total: 7))),
            (206, ["ETag": "\"a\"", "Content-Range": "bytes 50-99/100"], 50..<100, known, .part(50..<100, known)),
            (206, ["ETag": "\"a\"", "Content-Range": "bytes 50-59/*"], 50..<100, known, .part(50..<60, known)),
            (206, ["Content-Range": "bytes 50-99/100"], 50..<100, known, .changed),
            (206, ["ETag": "\"b\"", "Content-Range": "bytes 50-99/100"], 50..<100, known, .changed),
            (206, ["ETag": "W/\"a\"", "Content-Range": "bytes 50-99/100"], 50..<100, known, .changed),
            (206, ["ETag": "\"a\"", "Content-Range": "bytes 49-99/100"], 50..<100, known, .changed),
            (206, ["ETag": "\"a\"", "Content-Range": "bytes 50-99/101"], 50..<100, known, .changed),
            (206, ["ETag": "\"a\"", "Content-Range": "bytes 50-99/100"], 50..<90, known, .changed),
            (206, ["ETag": "\"a\"", "Content-Type": "multipart/byteranges"], 50..<100, known, .changed),
            (206, ["ETag": "\"a\"", "Content-Range": "bytes 0-49/100"], 0..<50, nil, .part(0..<50, known)),
            (206, ["ETag": "W/\"a\"", "Content-Range": "bytes 0-49/100"], 0..<50, nil, .lonePart),
            (206, ["ETag": "\"a\"", "Content-Range": "bytes 0-49/*"], 0..<50, nil, .lonePart),
            (206, ["ETag": "\"a\"", "Content-Range": "bytes 0-49/100"], nil, nil, .malformed),
            (206, ["ETag": "\"a\"", "Content-Range": "bytes 0-49/18446744073709551615"], 0..<50, nil, .lonePart),
            (206, ["ETag": "\"a\"", "Content-Range": "bytes 0-9223372036854775807/*"], 0..<UInt64.max, nil, .lonePart),
            (416, ["Content-Range": "bytes */100"], 50..<100, known, .changed), (416, [:], 0..<50, nil, .lonePart),
            (404, [:], nil, nil, .refused), (304, [:], 50..<100, known, .refused), (416, [:], nil, nil, .refused),
        ] as [(Int, SessionFields, Range<UInt64>?, FetchedEntity?, PartDecision)])
    func judges(status: Int, fields: SessionFields, asked: Range<UInt64>?, entity: FetchedEntity?, judgement: PartDecision) {
        #expect(PartDecision(status: status, fields: fields, asked: asked, entity: entity) == judgement)
    }

    @Test("A line of a list has a URL, a digest, a name and a comment")
    func readsLists() throws {
        let digest = "sha256:" + String(repeating: "ab", count: 32)
        let item = try #require(try FetchList.item("  https://a.test/b?c=d \(digest.uppercased()) out=x.iso  # note"))
        #expect(item.uri.description == "https://a.test/b?c=d" && item.name == "x.iso")
        #expect(item.digest.map(FileDigest.text) == digest && item.label == "https://a.test/b")
        #expect(try FetchList.item("# nothing") == nil && FetchList.item("") == nil)
        #expect(try #require(try FetchList.item("a.test/b")).uri.description == "http://a.test/b")
        for line in [
            "https://a.test/ out=../x", "https://a.test/ out=", "https://a.test/ out=.x", "https://a.test/ sha256:12", "ftp://a/",
            "https://a.test/ out=a out=b", "https://a.test/ \(digest) sha512:\(String(repeating: "ab", count: 64))",
        ] {
            #expect(throws: FetchFailure.self) { try FetchList.item(line) }
        }
    }

    @Test("A progress bar is never wider than the given width", arguments: [20, 40, 60, 80, 100, 200])
    func fitsBars(width: Int) {
        for label in ["a", "a-name-that-is-a-good-deal-longer-than-the-terminal-is-wide-in-some-cases.iso"] {
            for total: UInt64? in [nil, 0, 1 << 30] {
                for style in [ProgressLine.Style(), ProgressLine.Style(isUnicode: true)] {
                    let line = ProgressLine.bar(
                        label: label, done: total == 0 ? 0 : 1 << 29, total: total, rate: 123_456_789, width: width, style: style)
                    #expect(line.count <= width, "\(line)")
                }
            }
        }
    }

    @Test("A bar shows percentage, bytes, rate and remaining time")
    func tells() {
        let line = ProgressLine.bar(
            label: "image.iso", done: 440 << 20, total: 1 << 30, rate: 117_000_000, width: 99, style: ProgressLine.Style())
        #expect(
            line == "image.iso  [###############----------------------]   42 %  0.43 of 1.00 GiB   112 MiB/s  6 s left",
            "\(line)")
        let plain = ProgressLine.plain(label: "image.iso", done: 440 << 20, total: 1 << 30, rate: 117_000_000)
        #expect(plain == "image.iso: 42 %, 0.43 of 1.00 GiB, 112 MiB/s, 6 s left")
        #expect(ProgressLine.plain(label: "a", done: 10, total: nil, rate: nil) == "a: 10 B")
    }

    @Test(
        "Bytes and times are formatted for people",
        arguments: [
            (0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (10 << 20, "10.0 MiB"), (1023 << 20, "1023 MiB"),
            (1 << 40, "1.00 TiB"),
        ]
            as [(UInt64, String)])
    func quantities(octets: UInt64, text: String) { #expect(Quantity.text(octets) == text) }

    @Test("Fields of -H are parsed, and fields that users may not set are refused")
    func readsFields() throws {
        let fields = try FetchFields.read(["Accept: text/html", "X-A:b", "X-Empty:"])
        #expect(fields["accept"] == "text/html" && fields["X-A"] == "b" && fields["X-Empty"] == "")
        for bad in ["no colon", "a b: c", "X: a\r\nY: b", "Range: bytes=0-", "if-range: x", ": x", "Host: a"] {
            #expect(throws: FetchFailure.self) { try FetchFields.read([bad]) }
        }
    }
}
