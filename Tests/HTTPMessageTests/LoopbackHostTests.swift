import Testing

@testable import HTTPMessage

@Suite("Hosts that name this machine")
struct LoopbackHostTests {
    @Test(
        "localhost, names below it, and loopback addresses in every spelling name this machine",
        arguments: [
            "localhost", "LocalHost.", "a.localhost", "a.b.localhost.", "127.0.0.1", "127.255.0.9", "127.1", "0x7f000001",
            "2130706433", "::1",
            "::ffff:127.0.0.1", "0.0.0.0", "::", "0",
        ])
    func isThisMachine(host: String) { #expect(Self.isMeant(by: host)) }

    @Test(
        "Any other host may be another machine",
        arguments: [
            "", ".", "localhost.example", "notlocalhost", ".localhost", "localhos", "localhost..", "128.0.0.1", "10.0.0.1", "::2",
            "fe80::1",
            "127.0.0.1.example",
        ])
    func isAnother(host: String) { #expect(!Self.isMeant(by: host)) }

    private static func isMeant(by host: String) -> Bool {
        let host = Array(host.utf8)
        return LoopbackHost.isMeant(by: host.span)
    }
}
