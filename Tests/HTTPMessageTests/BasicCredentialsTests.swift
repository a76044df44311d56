import Testing

@testable import HTTPMessage

@Suite("Basic credentials (RFC 7617 §2)")
struct BasicCredentialsTests {
    private func read(_ value: String) -> BasicCredentials? { BasicCredentials(Array(value.utf8).span) }

    @Test(
        "The name ends at the first colon; the case of the scheme and extra blanks do not matter",
        arguments: [
            ("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"), ("bAsIc   dGVzdDoxMjPCow==", "test", "123£"),
            ("Basic YTpiOmM=", "a", "b:c"), ("Basic Og==", "", ""), ("Basic OnB3", "", "pw"),
        ])
    func reads(value: String, name: String, password: String) throws {
        let credentials = try #require(read(value))
        #expect(String(decoding: credentials.name, as: UTF8.self) == name)
        #expect(String(decoding: credentials.password, as: UTF8.self) == password)
    }

    @Test(
        "Ambiguous or invalid credentials are rejected",
        arguments: [
            "", "Basic", "Basic ", "Bearer QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "BasicQWxhZGRpbjpvcGVuIHNlc2FtZQ==",
            "Basic\tQWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=",
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ== ", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==, Basic YTpi", "Basic YWJj", "Basic YTpj!",
            "Basic YTpiCg==", "Basic YTpiAA==", "Basic YTp/", "Basic YTpj-_", "Basic YTpi=", "Basic realm=\"x\"",
        ])
    func refuses(value: String) { #expect(read(value) == nil) }

    @Test("512 bytes are accepted, 513 are not, and megabytes are not even decoded")
    func isBounded() {
        func value(_ count: Int) -> String {
            "Basic " + Base64.encode(Array("a:".utf8) + [UInt8](repeating: 0x78, count: count - 2))
        }
        #expect(read(value(512))?.octets.count == 512)
        #expect(read(value(513)) == nil)
        #expect(read(value(3_000_000)) == nil)
    }
}
