import EventLoop
import HTTPCaching
import HTTPMessage
import Testing

@testable import ResponseStore

@Suite("Browsing a store")
struct StoreListingTests {
    private static let now = Timestamp(seconds: 1_700_000_100)

    private func filter(_ word: StoreFilter.Word, _ text: String) -> StoreFilter {
        var filter = StoreFilter()
        precondition(filter.set(word, to: text))
        return filter
    }

    @Test("A listing has each response once, including those just accepted, and ends even under continuous stores")
    func lists() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        for number in 0..<1500 { store.putSurely(Sample.response("l/\(number)", body: [1])) }
        _ = store.put(Sample.response("memory", body: [1], flags: .noStore))
        var entries: [StoredEntry] = []
        var pages = 0
        var listing: StoreListing? = store.listNow(StoreFilter(), at: Self.now)
        while let place = listing {
            let page = try #require(store.pageNow(place))
            entries += page.entries
            listing = page.next
            pages += 1
            _ = store.put(Sample.response("later/\(pages)", body: [1]))
        }
        #expect(entries.count == 1501)
        #expect(Set(entries.map(\.key)).count == 1501)
        #expect(entries.filter(\.isMemoryOnly).map(\.key) == [Sample.key("memory")])
        #expect(pages > 2)
    }

    @Test("An abandoned listing blocks nothing: the log can be written back completely and restarts")
    func holdsNothing() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        for number in 0..<1000 { store.putSurely(Sample.response("h/\(number)", body: [1])) }
        let page = try #require(store.pageNow(store.listNow(StoreFilter(), at: Self.now)))
        for number in 0..<100 { store.putSurely(Sample.response("later/\(number)", body: [1])) }
        store.drain()
        // Refused as busy while another connection reads from it.
        try StoreFile(path: fixture.path, role: .cache).connect(.checkpointing).checkpoint(.truncate)
        #expect(FileSystem.length(of: fixture.path + "-wal") == 0)
        let next = try #require(page.next)
        #expect(store.pageNow(next)?.entries.isEmpty == false)
    }

    @Test("A filter selects responses, also in a file that no process has open, and their bodies can be read there")
    func filtersFile() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        let large = Sample.bytes(300_000, seed: 3)
        _ = store.put(Sample.response("small", body: [1, 2, 3]))
        _ = store.put(Sample.response("large", body: large))
        _ = store.put(Sample.fresh("tagged"))
        store.shutdown()

        let browser = try StoreBrowser(path: fixture.path)
        func keys(_ filter: StoreFilter) throws -> [[UInt8]] {
            try browser.page(StoreListing(filter, at: Self.now)).entries.map(\.key)
        }
        #expect(try keys(StoreFilter()).count == 3)
        #expect(try keys(filter(.largerThan, "1000")) == [Sample.key("large")])
        #expect(try keys(filter(.tag, "t")) == [Sample.key("tagged")])
        #expect(try keys(filter(.freshness, "stale")) == [Sample.key("small"), Sample.key("large")])
        #expect(try keys(filter(.type, "text/*")) == [Sample.key("small"), Sample.key("large")])

        let url = try #require(URLPattern("http://example.test/large"))
        let response = try #require(try browser.responses(of: url).first)
        let again = try browser.response(inRow: response.row)
        #expect(again?.key == response.key)
        guard case .onDisk(let reference) = response.body else {
            Issue.record("not in chunks")
            return
        }
        var body: [UInt8] = []
        while let piece = try browser.piece(of: reference, at: UInt64(body.count)), body.count < large.count { body += piece }
        #expect(body == large)
        #expect(FileSystem.length(of: fixture.path + "-wal") ?? 0 == 0)
    }

    @Test("An intact store is verified as intact, alone and beside its process")
    func findsGood() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        for number in 0..<500 { store.putSurely(Sample.response("g/\(number)", body: Sample.bytes(number * 100, seed: 1))) }
        store.drain()
        let beside = try verify(fixture.path, isAlone: false)
        #expect(beside.faultCount == 0 && beside.rows == 500)
        store.shutdown()
        let alone = try verify(fixture.path, isAlone: true)
        #expect(alone.faults == [] && alone.rows == 500 && alone.chunks > 300)
    }

    @Test(
        "Any change in a file is found",
        arguments: [
            "UPDATE response SET head=zeroblob(length(head)) WHERE id=3",
            "UPDATE response SET body=zeroblob(length(body)) WHERE id=2",
            "UPDATE chunk SET data=zeroblob(length(data)) WHERE id=(SELECT max(id) FROM chunk)",
            "DELETE FROM chunk WHERE id=(SELECT max(id) FROM chunk)", "UPDATE response SET key_hash=zeroblob(16) WHERE id=3",
            "UPDATE totals SET bytes=bytes+1", "UPDATE response SET tags=x'61' WHERE id=3",
        ])
    func findsDamage(statement: String) throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        for number in 0..<20 { _ = store.put(Sample.response("d/\(number)", body: Sample.bytes(number * 10_000, seed: 1))) }
        store.shutdown()
        let connection = try StoreFile(path: fixture.path, role: .cache).connect(.writing)
        try connection.execute(statement)
        do {
            let found = try verify(fixture.path, isAlone: true)
            #expect(found.faultCount > 0)
        } catch let error as StoreError {
            #expect(error.code == .damaged)
        }
    }

    private func verify(_ path: String, isAlone: Bool) throws -> StoreVerification {
        let browser = try StoreBrowser(path: path)
        var verification = StoreVerification(isAlone: isAlone)
        while !verification.isAtEnd { try browser.verify(&verification) }
        return verification
    }
}
