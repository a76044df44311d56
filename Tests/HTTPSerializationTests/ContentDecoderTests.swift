import HTTPMessage
import HTTPSerialization
import Testing

@Suite("Decoding content codings (RFC 9110 §8.4, T35)")
struct ContentDecoderTests {
    private static let text = Array("{\"a\": [1, 2, 3], \"text\": \"what stands inside\"}".utf8)

    /// The text above, encoded by Python's brotli and zstandard.
    private static let brotli: [UInt8] =
        [0x8B, 0x16, 0x80] + text + [0x03]
    private static let zstandard: [UInt8] =
        [0x28, 0xB5, 0x2F, 0xFD, 0x24, 0x2E, 0x71, 0x01, 0x00] + text + [0xEA, 0x9E, 0xE0, 0x33]
    /// 64 MiB of spaces.
    private static let brotliBomb: [UInt8] = [
        0xCB, 0xFF, 0xFF, 0x3F, 0xF8, 0x25, 0x40, 0xE2, 0xB1, 0x40, 0x20, 0xF7, 0xFE, 0x8F, 0xFF, 0xFF, 0x7F, 0xF0, 0x4B, 0x00,
        0xC4, 0x61, 0x11, 0x80,
        0xEE, 0xFD, 0x1F, 0xFF, 0xFF, 0xFF, 0xE0, 0x97, 0x00, 0x88, 0xC3, 0x02, 0x00, 0xDD, 0xFB, 0x3F, 0xFE, 0xFF, 0xFF, 0xC1,
        0x2F, 0x01, 0x10, 0x87,
        0x05, 0x00, 0xBA, 0xF7, 0x7F, 0xFC, 0xFF, 0xFF, 0x83, 0x5F, 0x02, 0x20, 0x0E, 0x0B, 0x00, 0x74, 0xEF, 0xFF, 0xF8, 0xFF,
        0xFF, 0x07, 0xBF, 0x04,
        0x40, 0x1C, 0x16, 0x00, 0xE8, 0xDE, 0xFF, 0xF1, 0xFF, 0xFF, 0x0F, 0x7E, 0x09, 0x80, 0x38, 0x2C, 0x00, 0xD0, 0xBD, 0xFF,
        0xE3, 0xFF, 0xFF, 0x1F,
        0xFC, 0x12, 0x00, 0x71, 0x58, 0x00, 0xA0, 0x7B, 0xFF, 0x37,
    ]

    private static let encoded: [(coding: String, body: [UInt8])] = [
        ("gzip", deflated(text, .gzip)), ("deflate", deflated(text, .zlib)), ("deflate", deflated(text, .raw)), ("br", brotli),
        ("zstd", zstandard),
        ("", text), ("identity", text), ("br, gzip", deflated(brotli, .gzip)), ("zstd, deflate", deflated(zstandard, .zlib)),
    ]

    private func fault(_ body: [UInt8], _ coding: String, _ limits: CodingLimits = CodingLimits()) -> CodingFault? {
        do throws(CodingFault) {
            _ = try ContentDecoder.decoded(body, contentEncoding: [coding], limits: limits)
            return nil
        } catch {
            return error
        }
    }

    @Test("Every coding is decoded, at once or byte by byte", arguments: encoded.indices)
    func decodes(number: Int) throws {
        let (coding, body) = Self.encoded[number]
        #expect(try ContentDecoder.decoded(body, contentEncoding: [coding]) == Self.text)
        let decoder = try #require(ContentDecoder(contentEncoding: [coding]))
        #expect(decoder.isIdentity == (coding.isEmpty || coding == "identity"))
        var content: [UInt8] = []
        for octet in body { try decoder.decode([octet].span) { piece in piece.withUnsafeBufferPointer { content += $0 } } }
        try decoder.finish()
        #expect(content == Self.text)
    }

    @Test("A truncated or changed body, or one with bytes after its end, is rejected", arguments: encoded.indices)
    func refusesOthers(number: Int) {
        let (coding, body) = Self.encoded[number]
        if coding.isEmpty || coding == "identity" { return }
        #expect(fault(Array(body.dropLast()), coding) == .malformed)
        #expect(fault(body + [0x55, 0xAA, 0x55], coding) == .malformed)
        #expect(fault([], coding) == nil)
        #expect(fault(Array("plain".utf8), coding) == .malformed)
        var changed = body
        changed[body.count - (coding.hasPrefix("br") ? 1 : 2)] ^= 0x55
        if body != deflated(Self.text, .raw) { #expect(fault(changed, coding) == .malformed) }
    }

    @Test("Zstandard frames may follow each other; windows above 8 MiB are rejected")
    func readsFrames() throws {
        #expect(try ContentDecoder.decoded(Self.zstandard + Self.zstandard, contentEncoding: ["zstd"]) == Self.text + Self.text)
        let skipped: [UInt8] = [0x50, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 1, 2]
        #expect(try ContentDecoder.decoded(skipped + Self.zstandard, contentEncoding: ["zstd"]) == Self.text)
        func window(_ log: UInt8) -> [UInt8] {
            [0x28, 0xB5, 0x2F, 0xFD, 0x00, (log - 10) << 3, 0x45, 0x00, 0x00, 0x10, 0x78, 0x78, 0x01, 0x00, 0x3F, 0x01, 0x2C]
        }
        #expect(fault(window(23), "zstd") == nil)
        #expect(fault(window(24), "zstd") == .malformed)
    }

    @Test("Zstandard formats older than RFC 8878 are rejected, even if their magic number follows the first byte of another")
    func refusesOlderFormats() throws {
        #expect(fault([0x26, 0xB5, 0x2F, 0xFD, 0x08, 0xE7, 0x2F, 0x11], "zstd") == .malformed)
        let decoder = try #require(ContentDecoder(contentEncoding: ["zstd"]))
        try decoder.decode([0x28].span) { _ in }
        #expect(throws: CodingFault.self) {
            try decoder.decode([0x26, 0xB5, 0x2F, 0xFD, 0x08, 0xE7, 0x2F, 0x11].span) { _ in }
            try decoder.finish()
        }
        // libzstd itself takes the second part for a whole frame of zstd 0.6, if the first part arrives alone.
        #expect(fault([0x28, 0xB5, 0x2F, 0xFD, 0x26, 0xB5, 0x2F, 0xFD, 0x08, 0xFF, 0x20, 0x74], "zstd") == .malformed)
    }

    @Test("Decompression bombs stop at the ratio or the length, in every coding and when nested")
    func stopsBombs() {
        let zeros = [UInt8](repeating: 0, count: 16 << 20)
        for (coding, bomb) in [
            ("gzip", deflated(zeros, .gzip)), ("br", Self.brotliBomb), ("br, gzip", deflated(Self.brotliBomb, .gzip)),
            ("gzip, gzip", deflated(deflated(zeros, .gzip), .gzip)),
        ] {
            #expect(fault(bomb, coding) == .tooLarge)
            #expect(fault(bomb, coding, CodingLimits(length: 1 << 20, ratio: .max)) == .tooLarge)
            #expect(fault(bomb, coding, CodingLimits(length: 64 << 20, ratio: .max)) == nil)
        }
        #expect(fault(Self.text, "", CodingLimits(length: UInt64(Self.text.count))) == nil)
        #expect(fault(Self.text, "", CodingLimits(length: UInt64(Self.text.count) - 1)) == .tooLarge)
    }

    @Test(
        "An unknown coding, or more than two codings, has no decoder",
        arguments: ["compress", "gzip, x", "gzip, gzip, gzip", "aes128gcm"])
    func knowsAList(coding: String) {
        #expect(ContentDecoder(contentEncoding: [coding]) == nil)
    }

    private struct Enough: Error {}

    @Test("The caller can stop decoding, and there is no more output after that")
    func stopsWhereAsked() throws {
        let decoder = try #require(ContentDecoder(contentEncoding: ["br"]))
        var count = 0
        #expect(throws: Enough.self) {
            try decoder.decode(Self.brotliBomb.span) { piece in
                count += piece.count
                if count > 50_000 { throw Enough() }
            }
        }
        #expect(count < 100_000)
        #expect(throws: CodingFault.self) { try decoder.decode(Self.brotliBomb.span) { _ in } }
        #expect(throws: CodingFault.self) { try decoder.finish() }
    }

    @Test("JSON checks of rules decode br and zstd too")
    func checksBodies() {
        for (coding, body) in [(ContentCoding.brotli, Self.brotli), (.zstandard, Self.zstandard)] {
            #expect(BodyCheck(json: .known([coding])).outcome(of: body) == .passed)
            #expect(BodyCheck(json: .known([coding])).outcome(of: Array(body.dropLast())) == .malformedCoding)
        }
        #expect(BodyCheck(json: .known([.brotli])).outcome(of: Self.brotliBomb) == .tooLarge)
    }
}
