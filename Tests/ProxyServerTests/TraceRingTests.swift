import HTTPCaching
import HTTPMessage
import ProxyCore
import Testing

@testable import ProxyServer

@Suite("The trace ring")
struct TraceRingTests {
    private func note(
        _ id: UInt64, url: String, key: String? = nil, rules: String = "", storage: StorageTrace? = nil, isKeyCut: Bool = false,
        in ring: TraceRing
    ) {
        var record = TraceRecord()
        record.id = id
        record.trace.storage = storage
        record.isKeyCut = isKeyCut
        ring.note(
            record, method: Array("GET".utf8).span, url: Array(url.utf8).span, key: Array((key ?? url).utf8).span,
            rules: Array(rules.utf8).span,
            overrides: Array<UInt8>().span)
    }

    @Test("The ring keeps the latest records up to a limit, each with its texts")
    func keepsTheLatest() {
        let ring = TraceRing(count: 100, byteCount: 1 << 20)
        for id in 1...250 { note(UInt64(id), url: "http://a.example/\(id)", rules: "one\ntwo", in: ring) }
        #expect(ring.count == 100)
        #expect(ring.find(150) == nil)
        for id in 151...250 {
            let found = ring.find(UInt64(id))
            #expect(found?.url == "http://a.example/\(id)" && found?.method == "GET" && found?.rules == ["one", "two"])
        }
    }

    @Test("A key that differs from the URL is kept too, and truncated like the URL")
    func keepsKeys() {
        let ring = TraceRing(count: 10, byteCount: 1 << 20)
        note(1, url: "http://a.example/x", key: "http://a.example:80/x", rules: "one", in: ring)
        note(2, url: "http://a.example:80/x", in: ring)
        note(3, url: "http://a.example:80/x", key: "", in: ring)
        note(4, url: "u", key: String(repeating: "k", count: TraceRing.keyLimit + 1), in: ring)
        #expect(ring.find(1)?.key == "http://a.example:80/x" && ring.find(1)?.rules == ["one"])
        #expect(ring.find(2)?.key == "http://a.example:80/x")
        #expect(ring.find(3)?.key == "")
        #expect(ring.find(4)?.key == String(repeating: "k", count: TraceRing.keyLimit))
    }

    @Test("The latest trace with a method and a key that decided about storage is found")
    func findsDecisionsAboutStorage() {
        let ring = TraceRing(count: 10, byteCount: 1 << 20)
        let key = Array("http://a.example:80/x".utf8)
        func found(_ key: [UInt8], method: String = "GET") -> UInt64? {
            ring.latestStorage(method: Array(method.utf8), key: key)?.id
        }
        #expect(found(key) == nil)
        note(1, url: "http://a.example/x", key: "http://a.example:80/x", rules: "one", storage: .refused(.noStore), in: ring)
        note(2, url: "http://a.example:80/x", storage: .refused(.private), in: ring)
        note(3, url: "http://a.example:80/x", in: ring)
        note(4, url: "http://a.example:80/y", storage: .refused(.noStore), in: ring)
        note(5, url: "http://a.example:80/x", storage: .refused(.noStore), isKeyCut: true, in: ring)
        #expect(found(key) == 2)
        #expect(found(key, method: "PUT") == nil && found(Array("http://a.example:80/".utf8)) == nil)
        for id in UInt64(6)...14 { note(id, url: "other", in: ring) }
        #expect(found(key) == nil)
        note(15, url: "http://a.example/x", key: "http://a.example:80/x", rules: "one", storage: .refused(.noStore), in: ring)
        #expect(found(key) == 15)
    }

    @Test("Records are visited from the newest to the oldest, in steps, and only those that are kept")
    func visits() {
        let ring = TraceRing(count: 10, byteCount: 1 << 20)
        for id in 1...25 { note(UInt64(id), url: "http://a.example/\(id)", in: ring) }
        var seen: [UInt64] = []
        var end: Int? = .max
        var steps = 0
        while let before = end {
            end = ring.visit(before: before, atMost: 4) { view in
                seen.append(view.record.id)
                return true
            }
            steps += 1
        }
        #expect(seen == (16...25).reversed() && steps == 3)
        let stopped = ring.visit(before: .max, atMost: 4) { view in view.record.id != 24 }
        #expect(stopped == nil)
        #expect(TraceRing(count: 0, byteCount: 0).visit(before: .max, atMost: 4) { _ in true } == nil)
    }

    @Test(
        "A query selects by host with subdomains, by text in any case, by method, status, outcome, mode and kind",
        arguments: [
            ("http://a.example/Path", "a.example", true), ("http://b.a.example:8080/", "A.example", true),
            ("http://ba.example/", "a.example", false), ("https://user@a.example?q", "a.example", true),
            ("a.example:443", "a.example", true), ("http://a.example.evil/", "a.example", false),
            ("http://[::1]:80/", "[::1]", true),
            ("http://x/http://a.example/", "a.example", false),
        ])
    func selectsHosts(url: String, host: String, isSelected: Bool) {
        var query = TraceQuery()
        query.setHost(host)
        #expect(selects(query, url: url) == isSelected)
    }

    private func selects(
        _ query: TraceQuery, url: String = "http://a.example/", _ change: (inout TraceRecord) -> Void = { _ in }
    ) -> Bool {
        let ring = TraceRing(count: 10, byteCount: 1 << 20)
        var record = TraceRecord()
        change(&record)
        ring.note(
            record, method: Array("GET".utf8).span, url: Array(url.utf8).span, key: Array<UInt8>().span,
            rules: Array<UInt8>().span,
            overrides: Array<UInt8>().span)
        var isSelected = false
        _ = ring.visit(before: .max, atMost: 1) { view in
            isSelected = query.selects(view)
            return true
        }
        return isSelected
    }

    @Test(
        "A text is found wherever the URL has it, also if its beginning is repeated",
        arguments: [
            ("aab", true), ("aaab", true), ("aaaab", false), ("abab", false), ("abaac", true), ("A", true), ("aaabaac", true),
            ("acx", false),
        ])
    func findsTexts(text: String, isFound: Bool) {
        var query = TraceQuery()
        query.setText(text)
        #expect(selects(query, url: "aaabaac") == isFound)
    }

    @Test("A query's other conditions select too, and an empty query selects everything")
    func selectsRequests() {
        func query(_ change: (inout TraceQuery) -> Void) -> TraceQuery {
            var query = TraceQuery()
            change(&query)
            return query
        }
        #expect(selects(TraceQuery()))
        #expect(selects(query { $0.setText("EXAMPLE/") }) && !selects(query { $0.setText("example/x") }))
        #expect(selects(query { $0.setMethod("GET") }) && !selects(query { $0.setMethod("get") }))
        #expect(selects(query { $0.statuses = 400...499 }) { $0.trace.status = 404 })
        #expect(!selects(query { $0.statuses = 400...499 }) { $0.trace.status = 500 })
        #expect(selects(query { $0.outcome = .hit }) { $0.trace.outcome = .hit } && !selects(query { $0.outcome = .hit }))
        #expect(selects(query { $0.mode = .replay }) { $0.mode = .replay } && !selects(query { $0.mode = .replay }))
        #expect(selects(query { $0.kind = .denied }) { $0.trace.outcome = .denied } && !selects(query { $0.kind = .denied }))
        #expect(selects(query { $0.kind = .error }) { $0.trace.status = 502 } && !selects(query { $0.kind = .error }))
        #expect(!selects(query { $0.kind = .error }) { $0.trace.outcome = .denied })
    }

    @Test("Long texts replace the oldest records within the byte limit, and never mix with other records")
    func isBoundedInOctets() {
        let byteCount = 256 << 10
        let ring = TraceRing(count: 10_000, byteCount: byteCount)
        let tail = String(repeating: "x", count: 900)
        for id in 1...5_000 { note(UInt64(id), url: "http://a.example/\(id)/\(tail)", in: ring) }
        #expect(ring.count > 50)
        #expect(ring.count * 900 <= byteCount)
        for id in (5_000 - ring.count + 1)...5_000 {
            #expect(ring.find(UInt64(id))?.url == "http://a.example/\(id)/\(tail)")
        }
        #expect(ring.find(UInt64(5_000 - ring.count)) == nil)
    }

    @Test("Texts that become three times as long replace no record while there is space: the latest are all kept")
    func keepsTheLatestOfAnyLength() {
        let ring = TraceRing(count: 100, byteCount: 1 << 20)
        for id in 1...20_000 {
            let length = id % 1_000 < 500 ? 10 : 30
            note(UInt64(id), url: "\(id)" + String(repeating: "x", count: length), in: ring)
            guard id % 37 == 0, id > 100 else { continue }
            #expect(ring.count == 100)
            #expect(ring.find(UInt64(id - 99))?.url.hasPrefix("\(id - 99)x") == true)
            #expect(ring.find(UInt64(id))?.url == "\(id)" + String(repeating: "x", count: length))
        }
    }

    @Test("Many short texts reuse memory long before the space is used up")
    func usesNoMoreThanItNeeds() {
        var ring = TextRing(byteCount: 1 << 20)
        let text = Array("http://a.example/".utf8)
        var furthest: UnsafeRawPointer?
        let start = ring.next
        for number in 0..<10_000 {
            ring.makeRoom(text.count, keepingFrom: number < 100 ? nil : ring.count - UInt64(100 * text.count))
            ring.write(text.span, text.count)
            let next = ring.next!
            furthest = max(furthest ?? next, next)
        }
        let longest = furthest! - start!
        #expect(longest <= 5 * 100 * text.count)
        let holdsAll = ring.holds(ring.count - UInt64(100 * text.count))
        #expect(holdsAll)
    }

    @Test("A text at its limit is kept whole, and one byte more is cut off")
    func cutsTexts() {
        let ring = TraceRing(count: 10, byteCount: 1 << 20)
        let whole = String(repeating: "u", count: TraceRing.urlLimit)
        note(1, url: whole, in: ring)
        note(2, url: whole + "v", in: ring)
        #expect(ring.find(1)?.url == whole && ring.find(2)?.url == whole)
    }

    @Test("No records are kept if the limit is zero or there is no space for one", arguments: [(0, 1 << 20), (10, 0)])
    func keepsNone(count: Int, byteCount: Int) {
        let ring = TraceRing(count: count, byteCount: byteCount)
        note(1, url: "http://a.example/", in: ring)
        #expect(ring.isOff && ring.find(1) == nil && ring.count == 0)
    }
}
