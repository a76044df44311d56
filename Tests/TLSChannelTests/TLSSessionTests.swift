import ServerTrust
import TestSupport
import Testing

@testable import TLSChannel

@Suite("TLS sessions: bytes in, bytes out")
struct TLSSessionTests {
    @Test("However the bytes are split, the handshake succeeds, and data arrives unchanged in both directions", arguments: 1...20)
    func splits(seed: Int) throws {
        let pair = try SessionPair(seed: UInt64(seed))
        pair.settle()
        #expect(pair.failure == nil)
        #expect(pair.judge.verdict != nil)
        let lengths = [1, 100, 16_384, 16_385, 40_000]
        for length in lengths {
            let octets = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed) }
            #expect(pair.send(octets, from: pair.client))
            #expect(pair.send(octets, from: pair.server))
            pair.settle()
        }
        let isSame = pair.received.client == pair.received.server
        #expect(isSame)
        #expect(pair.received.client.count == lengths.reduce(0, +))
    }

    @Test("The end is reported after all data before it, and every time from then on", arguments: 1...10)
    func ends(seed: Int) throws {
        let pair = try SessionPair(seed: UInt64(seed))
        pair.settle()
        #expect(pair.send([1, 2, 3], from: pair.server))
        pair.server.endSending()
        pair.settle()
        #expect(pair.received.client == [1, 2, 3])
        #expect(pair.client.hasPeerEnded)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
        defer { buffer.deallocate() }
        for _ in 0..<2 {
            #expect(pair.client.receive(UnsafeRawBufferPointer(start: nil, count: 0), into: buffer) == .ended)
            #expect(pair.client.isOver)
        }
        // The other direction stays open.
        #expect(pair.send([4], from: pair.client))
        pair.settle()
        #expect(pair.received.server == [4])
    }

    @Test("A changed byte is a failure that is reported again and again")
    func changedByte() throws {
        let pair = try SessionPair(seed: 1)
        pair.settle()
        #expect(pair.send([1, 2, 3], from: pair.server))
        pair.server.output[pair.server.output.count - 1] ^= 1
        pair.settle()
        #expect(pair.received.client.isEmpty)
        #expect(pair.last.client == .failed(.protocolError))
        #expect(pair.client.isOver)
    }

    @Test("Without the judge's verdict there is no session, and the server learns that its certificate is rejected")
    func refused() throws {
        let pair = try SessionPair(seed: 1, name: "two.test", host: "one.test")
        pair.settle()
        #expect(pair.judge.failure?.reason == .hostMismatch)
        #expect(pair.judge.verdict == nil)
        #expect(pair.failure != nil)
        #expect(pair.judge.mark == 0)
    }
}
