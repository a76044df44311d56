import HTTPMessage
import HTTPSerialization
import Testing

@Suite("Body checks under content codings")
struct BodyCheckTests {
    private func codings(_ values: String...) -> ContentCodings {
        var fields = Fields()
        for value in values { fields.append(name: "Content-Encoding", value: value) }
        return ContentCodings(of: fields)
    }

    private func outcome(
        _ body: [UInt8], _ codings: ContentCodings = .known([]), limits: BodyCheckLimits = BodyCheckLimits()
    ) -> BodyCheckOutcome {
        let whole = BodyCheck(json: codings, limits: limits).outcome(of: body)
        let octetByOctet = BodyCheck(json: codings, limits: limits).outcome(of: body.map { [$0] })
        #expect(whole == octetByOctet)
        return whole
    }

    private static let text = Array("{\"name\": [1, 2, 3]}".utf8)

    @Test("Content-Encoding is parsed into codings")
    func names() {
        #expect(codings() == .known([]))
        #expect(codings("identity") == .known([]))
        #expect(codings("GZip") == .known([.gzip]))
        #expect(codings("x-gzip") == .known([.gzip]))
        #expect(codings("deflate, gzip") == .known([.deflate, .gzip]))
        #expect(codings("deflate", "gzip") == .known([.deflate, .gzip]))
        #expect(codings("compress") == .unsupported)
        #expect(codings("dcb, gzip") == .unsupported)
        #expect(codings("gzip, , identity,deflate") == .known([.gzip, .deflate]))
        #expect(codings("gzip, gzip, gzip") == .unsupported)
        #expect(codings("\"gzip\"") == .unsupported)
    }

    @Test("Plain and encoded bodies are checked after decoding", arguments: Wrapping.allCases)
    func seenThrough(wrapping: Wrapping) {
        let coding: ContentCoding = wrapping == .gzip ? .gzip : .deflate
        #expect(outcome(Self.text) == .passed)
        #expect(outcome(deflated(Self.text, wrapping), .known([coding])) == .passed)
        let bad = deflated(Array("{\"a\": x}".utf8), wrapping)
        #expect(outcome(bad, .known([coding])) == .malformedJSON(JSONFault(.unexpectedByte, at: 6)))
        let cut = Array(deflated(Self.text, wrapping).dropLast(wrapping == .raw ? 1 : 5))
        #expect(outcome(cut, .known([coding])) == .malformedCoding)
        #expect(outcome(deflated(Self.text, wrapping) + [0], .known([coding])) == .malformedCoding)
    }

    @Test("A large body is decoded completely across buffers")
    func large() {
        let numbers = (0..<60_000).map { "\($0 &* 2_654_435_761 % 1_000_003)" }.joined(separator: ",")
        let text = Array("[\(numbers)]".utf8)
        for wrapping in Wrapping.allCases {
            let body = deflated(text, wrapping)
            let check = BodyCheck(json: .known([wrapping == .gzip ? .gzip : .deflate]))
            #expect(check.outcome(of: body) == .passed)
            #expect(
                check.outcome(of: [Array(body.prefix(1)), Array(body.dropFirst().prefix(9999)), Array(body.dropFirst(10_000))])
                    == .passed)
        }
    }

    @Test("Gzip members may follow each other (RFC 1952 §2.2)")
    func members() {
        let body = deflated(Array("[1,".utf8), .gzip) + deflated([], .gzip) + deflated(Array("2]".utf8), .gzip)
        #expect(outcome(body, .known([.gzip])) == .passed)
        #expect(outcome(body + [0x1F], .known([.gzip])) == .malformedCoding)
    }

    @Test("A body that is invalid in its coding is rejected")
    func malformed() {
        #expect(outcome(Self.text, .known([.gzip])) == .malformedCoding)
        var flipped = deflated(Self.text, .gzip)
        flipped[flipped.count - 5] ^= 1
        #expect(outcome(flipped, .known([.gzip])) == .malformedCoding)
        #expect(outcome([0x78], .known([.deflate])) == .malformedCoding)
        // A zlib stream that requires a preset dictionary.
        #expect(outcome([0x78, 0xBB, 0, 0, 0, 1, 0, 0], .known([.deflate])) == .malformedCoding)
    }

    @Test("Empty content passes under any coding, and so does one space (V4, V6)")
    func empty() {
        #expect(outcome([]) == .passed)
        #expect(outcome([], .known([.gzip])) == .passed)
        #expect(outcome([], .known([.deflate])) == .passed)
        #expect(outcome([], .unsupported) == .passed)
        #expect(outcome([0x20]) == .passed)
        #expect(outcome(deflated([0x20], .gzip), .known([.gzip])) == .passed)
        #expect(outcome(deflated([], .gzip), .known([.gzip])) == .passed)
    }

    @Test("A body in an unknown coding is never accepted unchecked")
    func unsupported() {
        #expect(outcome(Self.text, .unsupported) == .unsupportedCoding)
    }

    @Test("T35: nested codings are decoded in order")
    func nested() {
        let inner = deflated(Self.text, .zlib)
        let body = deflated(inner, .gzip)
        #expect(outcome(body, .known([.deflate, .gzip])) == .passed)
        #expect(outcome(body, .known([.gzip, .deflate])) == .malformedCoding)
        #expect(outcome(deflated(Array("x".utf8), .gzip), .known([.gzip])) == .malformedJSON(JSONFault(.unexpectedByte, at: 0)))
    }

    @Test("A body at the limit passes, one byte more is too large, plain or decoded")
    func bound() {
        var limits = BodyCheckLimits()
        let text = Array(("[" + String(repeating: " ", count: 998) + "]").utf8)
        limits.bodyLength = 1000
        #expect(outcome(text, limits: limits) == .passed)
        #expect(outcome(deflated(text, .gzip), .known([.gzip]), limits: limits) == .passed)
        limits.bodyLength = 999
        #expect(outcome(text, limits: limits) == .tooLarge)
        #expect(outcome(deflated(text, .gzip), .known([.gzip]), limits: limits) == .tooLarge)
    }

    @Test("T35: decoding a decompression bomb stops at the ratio, even if it is nested")
    func bomb() {
        var limits = BodyCheckLimits()
        limits.bodyLength = 1 << 40
        let zeros = Array(("[" + String(repeating: " ", count: 8 << 20) + "]").utf8)
        let bomb = deflated(zeros, .gzip)
        #expect(bomb.count < zeros.count / 500)
        #expect(BodyCheck(json: .known([.gzip]), limits: limits).outcome(of: bomb) == .tooLarge)
        #expect(BodyCheck(json: .known([.gzip, .gzip]), limits: limits).outcome(of: deflated(bomb, .gzip)) == .tooLarge)
        limits.ratio = 2000
        #expect(BodyCheck(json: .known([.gzip]), limits: limits).outcome(of: bomb) == .passed)
    }

    @Test("Any bytes, in any coding, give the same outcome however they are split", arguments: 0..<30 as Range<UInt64>)
    func anything(seed: UInt64) {
        var generator = SeededJSON(seed: seed)
        for _ in 0..<20 {
            let text = generator.mutated(generator.text())
            for wrapping in Wrapping.allCases {
                let coding: ContentCoding = wrapping == .gzip ? .gzip : .deflate
                let expected = outcome(text)
                let encoded = deflated(text, wrapping)
                #expect(outcome(encoded, .known([coding])) == expected)
                _ = outcome(generator.mutated(encoded), .known([coding]))
            }
        }
    }
}
