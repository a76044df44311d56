import ServerTrust
import TestSupport
import Testing

@testable import CertificateAuthority

@Suite("The cache of leaf contexts")
struct LeafCacheTests {
    private let authority: LocalAuthority

    init() throws { authority = try CertificateAuthorityTests.authority() }

    private func leaf(_ host: String, at now: POSIXTime = noon) throws -> Leaf {
        try authority.leaf(for: LeafName(host), at: now)
    }

    @Test("An entry is found by its name, in every spelling")
    func finds() throws {
        var cache = LeafCache<Int>()
        cache.keep(7, of: try leaf("origin.test"))
        #expect(cache.context(for: try LeafName("ORIGIN.test"), at: noon) == 7)
        #expect(cache.context(for: try LeafName("other.test"), at: noon) == nil)
        cache.keep(8, of: try leaf("origin.test"))
        #expect(cache.context(for: .originTest, at: noon) == 8 && cache.count == 1)
        cache.removeAll()
        #expect(cache.context(for: .originTest, at: noon) == nil && cache.count == 0)
    }

    @Test("A leaf is sent until 30 days before it expires, or until its root expires if both expire together")
    func endsInTime() throws {
        var cache = LeafCache<Int>()
        let long = try leaf("origin.test")
        cache.keep(1, of: long)
        let renewal = try #require(long.facts.notAfter).seconds - 30 * 86_400
        #expect(cache.context(for: .originTest, at: POSIXTime(seconds: renewal)) == 1)
        #expect(cache.context(for: .originTest, at: POSIXTime(seconds: renewal + 1)) == nil)
        // A clock that was set back.
        #expect(cache.context(for: .originTest, at: POSIXTime(seconds: noon.seconds - 86_401)) == nil)

        let end = try #require(authority.root.facts.notAfter)
        let late = try leaf("origin.test", at: POSIXTime(seconds: end.seconds - 86_400))
        cache.keep(2, of: late)
        #expect(cache.context(for: .originTest, at: end) == 2)
        #expect(cache.context(for: .originTest, at: POSIXTime(seconds: end.seconds + 1)) == nil)
    }

    @Test("At the limit, a new entry replaces one that was not used recently")
    func isBounded() throws {
        var cache = LeafCache<Int>(limit: 3)
        for number in 1...3 { cache.keep(number, of: try leaf("h\(number).test")) }
        _ = cache.context(for: try LeafName("h1.test"), at: noon)
        _ = cache.context(for: try LeafName("h3.test"), at: noon)
        cache.keep(4, of: try leaf("h4.test"))
        #expect(cache.count == 3)
        let kept = try (1...4).map { cache.context(for: try LeafName("h\($0).test"), at: noon) }
        #expect(kept == [1, nil, 3, 4])
    }

    @Test(
        "In any sequence of calls, the cache stays within its limit and never returns another host's leaf",
        arguments: [1, 2, 3] as [UInt64])
    func holdsItsOwn(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        let leaves = try (0..<40).map { try leaf("h\($0).test") }
        var cache = LeafCache<Int>(limit: 1 + chance.below(20))
        for _ in 0..<5_000 {
            let number = chance.below(leaves.count)
            if let found = cache.context(for: leaves[number].name, at: noon) {
                #expect(found == number)
            } else {
                cache.keep(number, of: leaves[number])
                #expect(cache.context(for: leaves[number].name, at: noon) == number)
            }
            #expect(cache.count <= cache.limit)
        }
        #expect(cache.count == cache.limit)
    }
}
