import HTTPMessage
import Testing

@testable import ProxyServer

@Suite("Who may connect")
struct ServerSettingsTests {
    private func peer(_ text: String) throws -> PeerAddress {
        PeerAddress(address: try #require(IPAddress(text)), port: 1)
    }

    @Test("T02 this machine always may, others by the list alone")
    func allows() throws {
        var settings = ServerSettings()
        for text in ["127.0.0.1", "127.8.9.10", "::1"] { #expect(settings.allows(try peer(text)), "\(text)") }
        for text in ["192.0.2.1", "2001:db8::1", "0.0.0.0", "::"] { #expect(!settings.allows(try peer(text)), "\(text)") }
        settings.allowedClients = ["192.0.2.0/24", "2001:db8::/32"].compactMap { AddressRange($0) }
        for text in ["192.0.2.255", "2001:db8::1", "::ffff:192.0.2.1"] { #expect(settings.allows(try peer(text)), "\(text)") }
        for text in ["192.0.3.1", "2001:db9::1"] { #expect(!settings.allows(try peer(text)), "\(text)") }
    }
}

@Suite("Which loop gets a connection")
struct ConnectionCountsTests {
    @Test("The one with the fewest")
    func choosesLeast() {
        let counts = ConnectionCounts(loops: 3)
        #expect((0..<6).map { _ in counts.opened() } == [0, 1, 2, 0, 1, 2])
        counts.closed(on: 1)
        #expect(counts.opened() == 1)
        #expect(counts.total == 6)
    }
}
