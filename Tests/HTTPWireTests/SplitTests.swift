import FuzzTargets
import HTTPMessage
import Testing

@testable import HTTPWire

@Suite("A message gives the same result however it is split into reads, and when it is written back (RFC 9112 §2.2)")
struct SplitTests {
    private static let seeds: Range<UInt64> = 0..<300

    @Test("A request", arguments: seeds)
    func request(seed: UInt64) {
        var chance = Chance(seed: seed)
        let octets = MadeUp.request(&chance)
        #expect(FuzzTarget.requestParser.check(octets) == nil)
        let cuts = chance.cuts(of: octets.count)
        let whole = ReadRequest(octets, ends: [octets.count], limits: .tight)
        #expect(ReadRequest(octets, ends: cuts, limits: .tight) == whole)
    }

    @Test("A response", arguments: seeds)
    func response(seed: UInt64) {
        var chance = Chance(seed: seed)
        let octets = MadeUp.response(&chance)
        #expect(FuzzTarget.responseParser.check(octets) == nil)
        let cuts = chance.cuts(of: octets.count)
        let whole = ReadResponse(octets, ends: [octets.count], limits: .tight)
        #expect(ReadResponse(octets, ends: cuts, limits: .tight) == whole)
    }

    @Test("A chunked body", arguments: seeds)
    func chunkedBody(seed: UInt64) {
        var chance = Chance(seed: seed)
        let octets = MadeUp.chunkedBody(&chance)
        #expect(FuzzTarget.chunkedDecoder.check(octets) == nil)
        let cuts = chance.cuts(of: octets.count)
        let whole = ReadBody(octets, framing: .chunked, ends: [octets.count], limits: .tight)
        #expect(ReadBody(octets, framing: .chunked, ends: cuts, limits: .tight) == whole)
    }

    @Test("The seeds produce messages that are accepted and messages that are rejected")
    func seedsReachBoth() {
        var accepted = [0, 0, 0]
        for seed in Self.seeds {
            var chance = Chance(seed: seed)
            let request = MadeUp.request(&chance)
            if case .read = ReadRequest(request, ends: [request.count], limits: ParseLimits()) { accepted[0] += 1 }
            let response = MadeUp.response(&chance)
            if case .read = ReadResponse(response, ends: [response.count], limits: ParseLimits()) { accepted[1] += 1 }
            let body = MadeUp.chunkedBody(&chance)
            if case .read = ReadBody(body, framing: .chunked, ends: [body.count], limits: ParseLimits()) { accepted[2] += 1 }
        }
        #expect(accepted.allSatisfy { $0 > 30 && $0 < 270 }, "\(accepted)")
    }

    @Test("T36 A head of 64 KiB that arrives byte by byte is scanned once")
    func readsLongHeadOctetByOctet() {
        let start = "GET / HTTP/1.1\r\nHost: a\r\nA: "
        let octets = Array((start + String(repeating: "b", count: 65536 - start.utf8.count - 4) + "\r\n\r\n").utf8)
        // If each read started over, this would scan two thousand million bytes and take minutes.
        let read = ReadRequest(octets, ends: Cuts.each(of: octets.count), limits: ParseLimits())
        #expect(read == ReadRequest(octets, ends: [octets.count], limits: ParseLimits()))
    }
}
