import HTTPMessage
import ProxyPolicy
import TestSupport
import Testing

@testable import ProxyServer

@Suite("Addresses that stand for names in a command's network namespace")
struct ReservedNamesTests {
    private static func rules(_ rules: [(name: String, keys: [String: SettingsNode])]) throws -> PolicyRuleSet {
        let nodes = rules.map { rule in node(["name": text(rule.name)].merging(rule.keys) { $1 }) }
        return try PolicyRuleSet(parsing: SettingsNode(.sequence(nodes), at: .none)).under(EgressTerms(.deny))
    }

    private static func text(_ text: String) -> SettingsNode { SettingsNode(.scalar(SettingsScalar(text)), at: .none) }

    private static func node(_ keys: [String: SettingsNode]) -> SettingsNode {
        let entries = keys.map { SettingsNode.Entry(key: $0.key, at: .none, value: $0.value) }
        return SettingsNode(.mapping(entries), at: .none)
    }

    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func addresses(_ resolution: ReservedNames.Resolution) throws -> (ipv4: IPAddress, ipv6: IPAddress) {
        guard case .addresses(let ipv4, let ipv6) = resolution else { throw Unresolved() }
        return (ipv4, ipv6)
    }

    private struct Unresolved: Error {}

    private static func host(_ origin: TransparentOrigin?) -> String? { origin.map { String(decoding: $0.host, as: UTF8.self) } }

    @Test("Each name has two addresses of its own, the same ones in any case of letters, and they lead back to the name")
    func standsForNames() throws {
        let names = ReservedNames()
        var seen: Set<IPAddress> = []
        for name in ["a.test", "b.test", "xn--bcher-kva.test", "_service.a.test", "single"] {
            let (ipv4, ipv6) = try Self.addresses(names.resolve(Self.bytes(name), under: .empty))
            #expect("\(ipv4)".hasPrefix("198.18.") && "\(ipv6)".hasPrefix("fd6c:6172:6465:7200::"))
            #expect(seen.insert(ipv4).inserted && seen.insert(ipv6).inserted)
            #expect(names.resolve(Self.bytes(name.uppercased()), under: .empty) == .addresses(ipv4: ipv4, ipv6: ipv6))
            for address in [ipv4, ipv6] {
                let origin = names.origin(at: PeerAddress(address: address, port: 443))
                #expect(Self.host(origin) == name && origin?.hostKind == .name && origin?.isSecure == true)
            }
        }
    }

    @Test("A reserved address without a name leads nowhere, and any other address stands for itself")
    func knowsOtherAddresses() throws {
        let names = ReservedNames()
        _ = names.resolve(Self.bytes("a.test"), under: .empty)
        for text in ["198.18.0.0", "198.18.0.2", "198.19.255.255", "fd6c:6172:6465:7200::", "fd6c:6172:6465:7200::2"] {
            let address = try #require(IPAddress(text))
            #expect(names.origin(at: PeerAddress(address: address, port: 80)) == nil, "\(text)")
        }
        let mapped = PeerAddress(address: try #require(IPAddress("::ffff:10.1.2.3")), port: 80)
        #expect(Self.host(names.origin(at: mapped)) == "10.1.2.3" && names.origin(at: mapped)?.hostKind == .ipv4)
        for text in ["198.17.255.255", "198.20.0.0", "127.0.0.1", "2001:db8::1", "fd6c:6172:6465:7201::1"] {
            let origin = names.origin(at: PeerAddress(address: try #require(IPAddress(text)), port: 80))
            #expect(Self.host(origin) == text && origin?.hostKind != .name, "\(text)")
        }
    }

    @Test("Under default deny, a name has an address if some rule may allow a request to that host")
    func asksTheRules() throws {
        let names = ReservedNames()
        let hosts = SettingsNode(.sequence([Self.text("a.test"), Self.text("*.below.test")]), at: .none)
        let rules = try Self.rules([
            (
                "a",
                [
                    "match": Self.node(["host": hosts, "path": Self.text("/x"), "method": Self.text("GET")]),
                    "allow": Self.node([:]),
                ]
            ),
            ("b", ["match": Self.node(["host": Self.text("b.test")]), "deny": Self.node([:])]),
            ("c", ["match": Self.node(["host": Self.text("c.test")]), "cache": Self.node(["store": Self.text("never")])]),
        ])
        for name in ["a.test", "x.below.test", "A.TEST"] {
            #expect(throws: Never.self) { try Self.addresses(names.resolve(Self.bytes(name), under: rules)) }
        }
        for name in ["b.test", "c.test", "below.test", "d.test"] {
            #expect(!names.exists(Self.bytes(name), under: rules), "\(name)")
            #expect(names.resolve(Self.bytes(name), under: rules) == .denied, "\(name)")
        }
        // A query about other records is not counted.
        #expect(!names.exists(Self.bytes("e.test"), under: rules) && !names.exists(Self.bytes("1.2.3.4"), under: .empty))
        for name in ["a.test", "Y.below.test"] { #expect(names.exists(Self.bytes(name), under: rules), "\(name)") }
        #expect(names.denied.names == ["b.test", "c.test", "below.test", "d.test"] && !names.denied.isCut)
        let any = try Self.rules([("any", ["match": Self.node(["method": Self.text("GET")]), "allow": Self.node([:])])])
        #expect(throws: Never.self) { try Self.addresses(names.resolve(Self.bytes("d.test"), under: any)) }
    }

    @Test(
        "Text that cannot be a host name has no address, so it cannot change the request that Larder makes from it",
        arguments: [
            "", ".", "a..b", ".a", "a.", "a b", "a\r\nHost: b", "a/b", "a@b", "a:80", "1.2.3.4", "127.1", "a.0x7f", "*.a",
            "ä.test",
            String(repeating: "a", count: 64), String(repeating: "abcdefg.", count: 31) + "abcdefg",
        ])
    func rejectsOthers(name: String) {
        #expect(ReservedNames().resolve(Self.bytes(name), under: .empty) == .denied)
    }

    @Test("The number of names and of denied names has a limit; earlier names keep their addresses")
    func isBounded() throws {
        let names = ReservedNames()
        let first = names.resolve(Self.bytes("a0.test"), under: .empty)
        for number in 1..<ReservedNames.nameLimit {
            _ = try Self.addresses(names.resolve(Self.bytes("a\(number).test"), under: .empty))
        }
        #expect(names.resolve(Self.bytes("one.more"), under: .empty) == .full)
        #expect(names.resolve(Self.bytes("a0.test"), under: .empty) == first)
        let nothing = try Self.rules([])
        for number in 0...ReservedNames.deniedLimit { _ = names.resolve(Self.bytes("d\(number).test"), under: nothing) }
        #expect(names.denied.names.count == ReservedNames.deniedLimit && names.denied.isCut)
        #expect(names.denied.remark?.hasSuffix("d99.test and more") == true)
    }

    @Test("Larder treats a connection to port 443 as a CONNECT to the same origin")
    func makesConnect() throws {
        for (address, authority) in [("10.1.2.3", "10.1.2.3:443"), ("2001:db8::1", "[2001:db8::1]:443")] {
            let destination = PeerAddress(address: try #require(IPAddress(address)), port: 443)
            let origin = try #require(ReservedNames().origin(at: destination))
            #expect(
                String(decoding: origin.connectRequest, as: UTF8.self)
                    == "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
        }
    }
}
