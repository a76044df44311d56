import ClientPasswords
import HTTPMessage
import Testing

@testable import ProxyServer

@Suite("Which clients may connect, and which must authenticate")
struct ClientAdmissionTests {
    private static let local = ["127.0.0.1", "127.8.9.10", "::1"]
    private static let listed = ["192.0.2.255", "2001:db8::1", "::ffff:192.0.2.1"]
    private static let strange = ["192.0.3.1", "2001:db9::1"]
    private static let list = ["192.0.2.0/24", "2001:db8::/32"].compactMap { AddressRange($0) }

    private func peer(_ text: String) throws -> PeerAddress {
        PeerAddress(address: try #require(IPAddress(text)), port: 1)
    }

    @Test("T02 without passwords, clients on this machine and on the list may connect, and none must authenticate")
    func allowsByAddress() throws {
        var admission = ClientAdmission()
        for text in Self.local { #expect(admission.allows(try peer(text)), "\(text)") }
        for text in Self.listed + Self.strange + ["0.0.0.0", "::"] { #expect(!admission.allows(try peer(text)), "\(text)") }
        admission.allowedClients = Self.list
        for asked in [ClientAdmission.Asked.unlisted, .remote, .all] {
            admission.asked = asked
            for text in Self.listed { #expect(admission.allows(try peer(text)), "\(text)") }
            for text in Self.strange { #expect(!admission.allows(try peer(text)), "\(text)") }
            for text in Self.local + Self.listed + Self.strange { #expect(!admission.asks(try peer(text)), "\(text)") }
        }
    }

    @Test(
        "With passwords, the setting decides which clients must authenticate; a list still restricts addresses except with unlisted",
        arguments: [
            (ClientAdmission.Asked.unlisted, false, "strange", "listed strange"),
            (.unlisted, true, "strange", "listed strange"),
            (.remote, false, "listed strange", "listed strange"), (.remote, true, "listed strange", "listed"),
            (.all, false, "local listed strange", "listed strange"), (.all, true, "local listed strange", "listed"),
        ])
    func asks(asked: ClientAdmission.Asked, hasList: Bool, whoIsAsked: String, whoMayConnect: String) throws {
        var admission = ClientAdmission()
        admission.passwords = try PasswordFile(
            parsing: Array("a:$2y$04$abcdefghijklmnopqrstuu/LVz6MZlItEy42I2juLihZ66HnQx/cy".utf8))
        admission.asked = asked
        if hasList { admission.allowedClients = Self.list }
        for (kind, texts) in [("local", Self.local), ("listed", Self.listed), ("strange", Self.strange)] {
            for text in texts {
                let isListed = kind == "listed" && !hasList && asked == .unlisted
                #expect(admission.asks(try peer(text)) == (whoIsAsked.contains(kind) || isListed), "\(text)")
                #expect(admission.allows(try peer(text)) == (kind == "local" || whoMayConnect.contains(kind)), "\(text)")
            }
        }
    }
}

@Suite("The loop that gets a connection")
struct ConnectionCountsTests {
    @Test("A new connection goes to the loop with the fewest")
    func choosesLeast() {
        let counts = ConnectionCounts(loops: 3)
        #expect((0..<6).map { _ in counts.opened() } == [0, 1, 2, 0, 1, 2])
        counts.closed(on: 1)
        #expect(counts.opened() == 1)
        #expect(counts.total == 6)
    }
}
