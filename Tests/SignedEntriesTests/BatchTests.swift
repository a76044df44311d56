import HTTPCaching
import HTTPMessage
import TestSupport
import Testing

@testable import SignedEntries

@Suite("Shared entries: batches under one signature")
struct BatchTests {
    @Test(
        "Every entry of a batch is opened by its own path, and one signature is verified",
        arguments: [
            1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 255, 256,
        ])
    func batches(count: Int) throws {
        let farm = TestFarm()
        let sealer = farm.sealer()
        let responses = (0..<count).map { TestFarm.response("http://origin.example:80/\($0)", body: [UInt8($0 & 0xFF)]) }
        let prepared = try responses.map { try sealer.prepare(TestFarm.entry($0), at: TestFarm.now) }
        let sealed = try #require(sealer.seal(prepared, at: TestFarm.now))
        let opener = farm.opener()
        for (response, sealed) in zip(responses, sealed) {
            let opened = try opener.open(sealed.bytes, TestFarm.expectation(of: response), at: TestFarm.now)
            #expect(opened.entry.response.bytes == response.bytes)
        }
        #expect(opener.verifiedSignatures == 1)
        #expect(opener.knownSignatures == UInt64(count - 1))
    }

    /// RFC 9162 §2.1.3.1 has the path of each leaf of a tree with seven leaves.
    @Test("The tree has the form of RFC 9162 §2.1")
    func form() {
        let context = SHA256Context()
        func node(_ left: SHA256Words, _ right: SHA256Words) -> SHA256Words {
            context.digest(([1] + left.octets + right.octets).span)
        }
        let leaves = (0..<7).map { context.digest([UInt8($0)].span) }
        let (g, h, i, j) = (node(leaves[0], leaves[1]), node(leaves[2], leaves[3]), node(leaves[4], leaves[5]), leaves[6])
        let (k, l) = (node(g, h), node(i, j))
        let tree = BatchTree(leaves, by: context)
        #expect(tree.root == node(k, l))
        #expect(tree.path(of: 0) == [leaves[1], h, l])
        #expect(tree.path(of: 3) == [leaves[2], g, l])
        #expect(tree.path(of: 4) == [leaves[5], j, k])
        #expect(tree.path(of: 6) == [i, k])
    }

    @Test("The digest of a leaf is not the digest of a node with the same bytes")
    func domains() throws {
        let context = SHA256Context()
        let farm = TestFarm()
        let prepared = try farm.sealer().prepare(TestFarm.entry(TestFarm.response()), at: TestFarm.now)
        #expect(prepared.leaf[0] == SealedLayout.leafPrefix)
        func digest(_ bytes: [UInt8]) -> SHA256Words { context.digest(bytes.span) }
        #expect(prepared.digest == digest(prepared.leaf))
        #expect(prepared.digest != digest([1] + prepared.leaf.dropFirst()))
        let message = BatchTree.message(root: prepared.digest, farm: farm.keys.farm, time: 0, count: 1)
        #expect(message.starts(with: Array("larder-shared-entries-1\0".utf8)))
        #expect(message.count == 24 + 16 + 8 + 2 + 32)
    }

    @Test("A batch is due when it has 256 entries, or 50 ms after its first")
    func due() throws {
        let prepared = try TestFarm().sealer().prepare(TestFarm.entry(TestFarm.response()), at: TestFarm.now)
        var batch = EntryBatch()
        #expect(!batch.isDue(at: 1_000_000))
        batch.append(prepared, at: 100)
        batch.append(prepared, at: 140)
        #expect(batch.dueTime == 150)
        #expect(!batch.isDue(at: 149))
        #expect(batch.isDue(at: 150))
        #expect(batch.take().count == 2)
        #expect(!batch.isDue(at: 1_000_000))
        for number in 0..<256 {
            #expect(batch.isDue(at: 200) == false, "\(number)")
            batch.append(prepared, at: 200)
        }
        #expect(batch.isDue(at: 200))
    }

    @Test("A reader remembers a bounded number of signatures, and forgets the oldest")
    func knownRoots() throws {
        let farm = TestFarm()
        let opener = farm.opener(knownRoots: 3)
        let sealer = farm.sealer()
        let response = TestFarm.response()
        let batches = try (0..<5).map { second in
            let now = TestFarm.now.advanced(seconds: Int64(second))
            return try #require(sealer.seal([try sealer.prepare(TestFarm.entry(response), at: now)], at: now))[0].bytes
        }
        for bytes in batches { #expect(opener.rejection(bytes, TestFarm.expectation(of: response)) == nil) }
        #expect(opener.knownRootCount == 3)
        #expect(opener.verifiedSignatures == 5)
        #expect(opener.rejection(batches[4], TestFarm.expectation(of: response)) == nil)
        #expect(opener.verifiedSignatures == 5)
        #expect(opener.rejection(batches[0], TestFarm.expectation(of: response)) == nil)
        #expect(opener.verifiedSignatures == 6)
        #expect(opener.knownRootCount == 3)
    }
}
