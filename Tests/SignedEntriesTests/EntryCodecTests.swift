import HTTPCaching
import HTTPMessage
import TestSupport
import Testing

@testable import SignedEntries

@Suite("Shared entries: writing and reading")
struct EntryCodecTests {
    @Test("A response is the same after it was written and read", arguments: [true, false])
    func roundTrip(isEncrypting: Bool) throws {
        var trailers = Fields()
        trailers.append(name: "Checksum", value: "abc")
        let chain = RecordedChain([1, 2, 3, 4])
        let response = TestFarm.response(
            nominated: Array("accept-encoding\0gzip".utf8), trailers: trailers, tags: ["npm", "größe"], chain: chain)
        let farm = TestFarm()
        let sealed = try farm.sealed(TestFarm.entry(response), isEncrypting: isEncrypting)
        let opened = try farm.opener().open(sealed.bytes, TestFarm.expectation(of: response), at: TestFarm.now)
        let read = opened.entry.response
        #expect(opened.pieces == nil)
        #expect(opened.signer == farm.signing.keys[0].id)
        #expect(opened.entry.position == EntryPosition(epoch: TestFarm.epoch, generation: 7, fence: [0, 9]))
        #expect(read.key == response.key)
        #expect(read.nominatedFields == response.nominatedFields)
        #expect(read.facts == response.facts)
        #expect(read.lines == response.lines)
        #expect(read.preparedHead == response.preparedHead)
        #expect(read.requestTime == response.requestTime)
        #expect(read.bytes == response.bytes)
        #expect(read.trailers.value(ofAllLinesNamed: Array("checksum".utf8)) == Array("abc".utf8))
        #expect(read.tags == response.tags)
        #expect(opened.entry.chainDigest == chain?.digest)
    }

    @Test(
        "A body is in its entry or in pieces, by its length",
        arguments: [
            (0, 0), (1, 0), (EntryLimits.inlineBody, 0), (EntryLimits.inlineBody + 1, 1), (EntryLimits.piece, 1),
            (EntryLimits.piece + 1, 2), (1 << 20, 8),
        ], [true, false])
    func bodies(row: (length: Int, pieces: Int), isEncrypting: Bool) throws {
        let body = (0..<row.length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
        let response = TestFarm.response(body: body)
        let farm = TestFarm()
        let sealed = try farm.sealed(TestFarm.entry(response), isEncrypting: isEncrypting)
        let pieces = sealed.prepared.pieces?.pieces ?? []
        #expect(pieces.count == row.pieces)
        let opener = farm.opener()
        let opened = try opener.open(sealed.bytes, TestFarm.expectation(of: response), at: TestFarm.now)
        #expect(opened.pieces?.pieceCount ?? 0 == row.pieces)
        #expect(opened.pieces?.name == sealed.prepared.pieces?.body.name)
        #expect(try opener.assemble(opened, pieces).response.bytes == body)
    }

    @Test("A body beyond the limit is not written")
    func longBody() {
        let farm = TestFarm()
        let response = TestFarm.response(body: [UInt8](repeating: 0, count: EntryLimits.body + 1))
        #expect(throws: EntryRejection.tooLarge) {
            _ = try farm.sealer().prepare(TestFarm.entry(response), at: TestFarm.now)
        }
    }

    @Test("A piece that is absent, swapped or damaged is a miss", arguments: [true, false])
    func damagedPieces(isEncrypting: Bool) throws {
        let body = (0..<EntryLimits.piece * 3).map { UInt8($0 / EntryLimits.piece) }
        let response = TestFarm.response(body: body)
        let farm = TestFarm()
        let sealed = try farm.sealed(TestFarm.entry(response), isEncrypting: isEncrypting)
        let pieces = try #require(sealed.prepared.pieces).pieces
        let opener = farm.opener()
        let opened = try opener.open(sealed.bytes, TestFarm.expectation(of: response), at: TestFarm.now)
        func rejection(_ pieces: [[UInt8]?]) -> EntryRejection? {
            do throws(EntryRejection) { _ = try opener.assemble(opened, pieces) } catch { return error }
            return nil
        }
        #expect(rejection(pieces) == nil)
        #expect(rejection([pieces[0], nil, pieces[2]]) == .bodyMissing)
        #expect(rejection(Array(pieces.dropLast())) == .bodyMissing)
        #expect(rejection([pieces[1], pieces[0], pieces[2]]) == .bodyDamaged)
        #expect(rejection([pieces[0], pieces[1], Array(pieces[2].dropLast())]) == .bodyDamaged)
        var flipped = pieces
        flipped[1][100] ^= 4
        #expect(rejection(flipped) == .bodyDamaged)
    }

    @Test("A response that was freshened keeps the pieces of its body", arguments: [true, false])
    func freshened(isEncrypting: Bool) throws {
        let body = [UInt8](repeating: 5, count: 200_000)
        let farm = TestFarm()
        let sealer = farm.sealer(isEncrypting: isEncrypting)
        let opener = farm.opener()
        let first = TestFarm.response(body: body)
        let sealed = try #require(sealer.seal([try sealer.prepare(TestFarm.entry(first), at: TestFarm.now)], at: TestFarm.now))[0]
        let pieces = try #require(sealed.prepared.pieces)
        let opened = try opener.open(sealed.bytes, TestFarm.expectation(of: first), at: TestFarm.now)
        let freshened = opened.entry.response.madeStale(at: TestFarm.now)
        let again = try sealer.prepare(TestFarm.entry(freshened), body: opened.pieces, at: TestFarm.now)
        #expect(again.pieces == nil)
        let bytes = try #require(sealer.seal([again], at: TestFarm.now))[0].bytes
        let reopened = try opener.open(bytes, TestFarm.expectation(of: first), at: TestFarm.now)
        #expect(reopened.entry.response.facts == freshened.facts)
        #expect(try opener.assemble(reopened, pieces.pieces).response.bytes == body)
    }

    @Test("A certificate chain is read again by its digest only", arguments: [true, false])
    func chains(isEncrypting: Bool) throws {
        let farm = TestFarm()
        let chain = try #require(RecordedChain([UInt8](repeating: 3, count: 5000)))
        let other = try #require(RecordedChain([UInt8](repeating: 4, count: 5000)))
        let bytes = farm.sealer(isEncrypting: isEncrypting).seal(chain, at: TestFarm.now)
        let opener = farm.opener()
        #expect(try opener.openChain(bytes, digest: chain.digest).octets == chain.octets)
        #expect(throws: EntryRejection.self) { _ = try opener.openChain(bytes, digest: other.digest) }
        #expect(throws: EntryRejection.self) { _ = try opener.openChain(Array(bytes.dropLast()), digest: chain.digest) }
        #expect(throws: EntryRejection.malformed) { _ = try opener.openChain([], digest: chain.digest) }
    }

    @Test(
        "A response has the same age on a node with another clock, if the engine says how long it has held the entry",
        arguments: [
            -599_000 as Int64, 0, 599_000,
        ])
    func ages(difference: Int64) throws {
        let farm = TestFarm()
        let response = TestFarm.response()
        // The writer has had the response for 20 s, and the engine has the entry for 30 s.
        let sealed = try farm.sealed(TestFarm.entry(response), at: TestFarm.now.advanced(seconds: 20))
        var expected = TestFarm.expectation(of: response)
        expected.elapsed = 30_000
        let readerNow = Timestamp(milliseconds: TestFarm.now.advanced(seconds: 50).milliseconds + difference)
        let read = try farm.opener().open(sealed.bytes, expected, at: readerNow).entry.response
        #expect(readerNow.milliseconds - read.responseTime.milliseconds == 50_000)
        #expect(readerNow.milliseconds - read.requestTime.milliseconds == 50_000)
    }

    @Test("An engine cannot make a response younger by more than the clocks may differ")
    func youngerByEngine() throws {
        let farm = TestFarm()
        let response = TestFarm.response()
        let sealed = try farm.sealed(TestFarm.entry(response))
        var expected = TestFarm.expectation(of: response)
        expected.elapsed = 0
        let later = TestFarm.now.advanced(seconds: 601)
        #expect(farm.opener().rejection(sealed.bytes, expected, at: later) == .clock)
        expected.elapsed = nil
        #expect(farm.opener().rejection(sealed.bytes, expected, at: later) == nil)
    }
}
