import HTTPMessage
import Testing

@Suite("Base64 (RFC 4648)")
struct Base64Tests {
    @Test(
        "The URL alphabet is written without padding, and read with or without it (§5)",
        arguments: [
            ([], "", ""), ([0xFB], "-w", "-w=="), ([0xFB, 0xEF], "--8", "--8="), ([0xFF, 0xFF, 0xFE], "___-", "___-"),
            ([0x7B, 0x22, 0x61, 0x22], "eyJhIg", "eyJhIg=="),
        ] as [([UInt8], String, String)])
    func writesForURLs(bytes: [UInt8], text: String, padded: String) {
        #expect(Base64.encodeForURL(bytes) == Array(text.utf8))
        #expect(Base64.decodeFromURL(text.utf8) == bytes)
        #expect(Base64.decodeFromURL(padded.utf8) == bytes)
    }

    @Test("Text that is not base64 is rejected", arguments: ["a", "abcde", "ab.c", "-x", "a b"])
    func refuses(text: String) {
        #expect(Base64.decodeFromURL(text.utf8) == nil)
    }
}
