import EventLoop
import HTTPCaching
import HTTPMessage
import TestSupport
import Testing

@testable import ResponseStore

@Suite("The recorded certificate chains of stored responses")
struct ChainTests {
    private static func chain(_ seed: UInt64, count: Int = 4_000) -> RecordedChain {
        RecordedChain(Sample.bytes(count, seed: seed))!  // neither empty nor too long
    }

    private static func response(
        _ name: String, _ chain: RecordedChain?, count: Int = 100, etag: Bool = false
    ) -> StoredResponse {
        Sample.response(name, body: Sample.bytes(count, seed: 1), etag: etag).withTrust(policyMark: 4, chain: chain)
    }

    private static func found(_ store: ResponseStore, _ name: String) throws -> StoredResponse {
        guard case .found(let variants) = store.lookUpNow(Sample.key(name)) else {
            throw StoreError(.failed, path: "", message: "\(name) is not stored")
        }
        return try #require(variants.responses.first)
    }

    @Test("Each chain is once in the file and once in memory, however many responses share it, and persists over a restart")
    func standsOnce() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        for number in 0..<50 {
            // As connections provide it: a separate instance each.
            let chain = try #require(store.shared(Self.chain(7)))
            store.putSurely(Self.response("\(number)", chain))
        }
        store.putSurely(Self.response("other", Self.chain(8)))
        store.putSurely(Self.response("plain", nil))
        store.drain()
        #expect(try fixture.count(of: "certificate_chain") == 2)
        store.shutdown()
        let next = try fixture.open()
        let first = try Self.found(next, "0")
        #expect(first.chain?.octets == Self.chain(7).octets)
        #expect(try Self.found(next, "1").chain === first.chain)
        #expect(try Self.found(next, "other").chain?.octets == Self.chain(8).octets)
        #expect(try Self.found(next, "plain").chain == nil)
    }

    @Test("A chain is deleted with its last response, in whatever way that is removed", arguments: [100, 400_000])
    func goes(count: Int) throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        store.putSurely(Self.response("a", Self.chain(7), count: count))
        store.putSurely(Self.response("b", Self.chain(7), count: count))
        store.drain()
        store.invalidate([Sample.key("a")])
        store.drain()
        #expect(try fixture.count(of: "certificate_chain") == 1)
        // Replaced by one with another chain.
        store.putSurely(Self.response("b", Self.chain(8), count: count))
        try eventually {
            store.drain()
            return try fixture.count(of: "certificate_chain") == 1
        }
        store.invalidate([Sample.key("b")])
        try eventually {
            store.drain()
            return try fixture.count(of: "certificate_chain") == 0
        }
        store.shutdown()
    }

    @Test("Eviction leaves no unused chain")
    func evicts() throws {
        let fixture = StoreFixture()
        let store = try fixture.open { $0.disk = .init(high: 400_000, low: 200_000) }
        for number in 0..<200 {
            store.putSurely(Self.response("\(number)", Self.chain(UInt64(number)), count: 10_000))
            if number % 20 == 19 { store.drain() }
        }
        store.drain()
        store.drain()
        #expect(store.statistics.evicted > 100)
        let rows = try fixture.count(of: "response")
        #expect(rows < 50)
        #expect(try fixture.count(of: "certificate_chain") == rows)
        #expect(try fixture.count(of: "response WHERE chain NOT IN (SELECT id FROM certificate_chain)") == 0)
    }

    @Test("A 304 under another chain replaces the chain, and the old one is deleted")
    func freshens() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        store.putSurely(Self.response("a", Self.chain(7)))
        store.drain()
        let old = try #require(store.find(Sample.key("a")))
        store.freshen(old, as: old.withTrust(policyMark: 12, chain: Self.chain(8)))
        store.drain()
        #expect(try fixture.count(of: "certificate_chain") == 1)
        store.shutdown()
        let next = try fixture.open()
        let stored = try Self.found(next, "a")
        #expect(stored.chain?.octets == Self.chain(8).octets && stored.facts.trust == 12)
    }

    @Test("A pending body stores its chain too")
    func fills() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        let plan = PendingPlan(response: Self.response("large", Self.chain(9), count: 0), length: 300_000)
        let pending = try #require(store.beginSurely(plan))
        let body = Sample.bytes(300_000, seed: 2)
        _ = pending.append(body.span)
        pending.finish()
        guard case .stored = store.outcome(of: pending) else { throw StoreError(.failed, path: "", message: "not stored") }
        store.shutdown()
        let next = try fixture.open()
        #expect(try Self.found(next, "large").chain?.octets == Self.chain(9).octets)
    }

    @Test(
        "A corrupt chain counts as missing, and its response stays; verification reports it, and the next equal chain repairs it"
    )
    func damaged() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        store.putSurely(Self.response("a", Self.chain(7)))
        store.shutdown()
        StoreFileTests.edit(fixture.path, "UPDATE certificate_chain SET chain=zeroblob(4000)")
        let browser = try StoreBrowser(path: fixture.path)
        var verification = StoreVerification(isAlone: true)
        while !verification.isAtEnd { try browser.verify(&verification) }
        #expect(verification.faults == [.chain(1)])
        let next = try fixture.open()
        let stored = try Self.found(next, "a")
        #expect(stored.chain == nil && next.wholeBody(stored) == Sample.bytes(100, seed: 1))
        next.putSurely(Self.response("b", Self.chain(7)))
        next.shutdown()
        let last = try fixture.open()
        #expect(try Self.found(last, "a").chain?.octets == Self.chain(7).octets)
    }

    @Test("The total size of chains is limited, in the file and in memory: further responses are stored without their chain")
    func isBounded() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        let count = RecordedChain.octetLimit
        let limit = StoreLimits.chainOctets / count
        var kept: [RecordedChain] = []
        for number in 0..<limit {
            let chain = try #require(store.shared(Self.chain(UInt64(number), count: count)))
            kept.append(chain)
            store.putSurely(Self.response("\(number)", chain))
            if number % 64 == 0 { store.drain() }
        }
        #expect(store.shared(Self.chain(1_000_000, count: count)) == nil)
        #expect(store.shared(Self.chain(0, count: count)) === kept[0])
        store.putSurely(Self.response("more", Self.chain(1_000_000, count: count)))
        store.drain()
        #expect(try fixture.count(of: "certificate_chain") == Int64(limit))
        kept = []
        store.invalidate((0..<limit).map { Sample.key("\($0)") })
        store.drain()
        // The space is not checked again for each chain.
        #expect((0...limit / 64).contains { _ in store.shared(Self.chain(1_000_001, count: count)) != nil })
        #expect(RecordedChain([]) == nil && RecordedChain(Sample.bytes(count + 1, seed: 1)) == nil)
    }

    @Test(
        "A listing of origins has the latest chain of each, from the file and from responses in memory only",
        arguments: [false, true])
    func lists(isInMemory: Bool) throws {
        let fixture = StoreFixture()
        let store = try fixture.open { if isInMemory { $0.path = ":memory:" } }
        func put(_ url: String, _ chain: RecordedChain?, date: Int64) {
            let facts = ReuseFacts(status: .ok, responseTime: Timestamp(seconds: date))
            store.putSurely(
                StoredResponse(
                    key: Array(url.utf8), nominatedFields: [], facts: facts, head: ResponseHead(),
                    requestTime: Timestamp(seconds: date), body: .bytes([1]), chain: chain))
        }
        put("https://a.example:443/1", Self.chain(1), date: 200)
        put("https://a.example:443/2", Self.chain(2), date: 300)
        put("https://a.example:443/3", Self.chain(1), date: 100)
        put("https://[::1]:8443/", Self.chain(3), date: 100)
        put("https://none.example:443/", nil, date: 100)
        if !isInMemory { store.drain() }
        var listing = ChainListing()
        while !listing.isAtEnd { listing = try #require(store.readNow(listing)) }
        #expect(
            listing.origins.mapValues(\.chain.octets) == [
                "a.example:443": Self.chain(2).octets, "[::1]:8443": Self.chain(3).octets,
            ])
        #expect(!listing.isCut)
        store.shutdown()
    }
}
