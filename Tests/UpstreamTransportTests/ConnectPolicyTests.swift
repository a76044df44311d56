import EventLoop
import HTTPWire
import ServerTrust
import Testing

@testable import UpstreamTransport

@Suite("How CONNECT requests are handled, and which first bytes are allowed in a tunnel")
struct ConnectPolicyTests {
    private static func policy(
        _ entries: [(String, ConnectWay)] = [
            ("pinned.test", .probe), ("*.pinned.test", .probe), ("denied.test", .deny), ("192.0.2.1", .probe),
            ("192.0.2.3", .tunnel),
        ],
        fallback: ConnectWay = .tunnel
    ) throws -> ConnectPolicy {
        var policy = ConnectPolicy(fallback: fallback)
        for (host, way) in entries { policy.insert(way, for: try #require(HostScope(host: host, labels: .all))) }
        return policy
    }

    private static func hello(_ name: String?) -> ClientHello {
        var hello = ClientHello()
        hello.serverName = name.map { Array($0.utf8) }
        return hello
    }

    private static func judgedHost(_ host: String) -> String { Origin(scheme: .http, host: host, port: 443).judgedHost }

    @Test(
        "Every spelling of a host is handled in the same way",
        arguments: [
            ("pinned.test", .probe), ("pinned.test.", .probe), ("a.b.pinned.test", .probe), ("other.test", .tunnel),
            ("denied.test.", .deny), ("192.0.2.1", .probe), ("3221225985", .probe), ("0xc0.0.2.1", .probe),
            ("::ffff:192.0.2.1", .probe), ("192.0.2.2", .tunnel), ("not..a.host", .deny), ("pinned.test..", .deny),
        ] as [(String, ConnectWay)])
    func findsWay(host: String, way: ConnectWay) throws {
        #expect(try Self.policy().way(host: Self.judgedHost(host), port: 443) == way)
    }

    @Test("If every host gets a tunnel, no ClientHello needs to be checked")
    func asksNothing() throws {
        #expect(!ConnectPolicy().isGuarding)
        #expect(try !Self.policy([("a.test", .tunnel)]).isGuarding)
        #expect(try Self.policy([("a.test", .deny)]).isGuarding)
        #expect(ConnectPolicy(fallback: .probe).isGuarding)
        #expect(ConnectPolicy().way(host: "not..a.host", port: 443) == .tunnel)
    }

    @Test(
        "The name in the ClientHello must match the authority; another one must not evade pins or denials",
        arguments: [
            // The tunnel's host is probed.
            ("pinned.test", "pinned.test", .pass), ("pinned.test", "PINNED.test", .pass), ("pinned.test.", "pinned.test", .pass),
            ("pinned.test", "pinned.test.", .pass), ("pinned.test", nil, .pass),
            ("pinned.test", "other.test", .refuse(.nameMismatch)), ("pinned.test", "a.pinned.test", .refuse(.nameMismatch)),
            ("pinned.test", "192.0.2.1", .refuse(.nameMismatch)), ("pinned.test", "\u{0}", .refuse(.nameMismatch)),
            // The tunnel's host is not probed.
            ("other.test", "other.test", .pass), ("other.test", nil, .pass), ("other.test", "third.test", .pass),
            ("other.test", "pinned.test", .refuse(.nameMismatch)), ("other.test", "x.PINNED.test.", .refuse(.nameMismatch)),
            ("other.test", "denied.test", .refuse(.nameMismatch)), ("other.test", "pinned.test..", .refuse(.nameMismatch)),
            ("other.test", "pinned.test\u{0}", .refuse(.nameMismatch)),
            ("other.test", "pinned.t\u{e9}st", .refuse(.nameMismatch)),
            ("other.test", "192.0.2.1", .refuse(.nameMismatch)),
            // The tunnel's host is an address: the name selects the policy.
            ("192.0.2.9", "pinned.test", .judge(host: "pinned.test")),
            ("2001:db8::1", "pinned.test.", .judge(host: "pinned.test")),
            ("192.0.2.9", "other.test", .pass), ("192.0.2.9", nil, .pass), ("192.0.2.9", "192.0.2.9", .pass),
            ("192.0.2.9", "denied.test", .refuse(.nameMismatch)), ("192.0.2.9", "..", .refuse(.nameMismatch)),
            ("192.0.2.3", "other.test", .pass), ("192.0.2.3", "pinned.test", .judge(host: "pinned.test")),
            // The tunnel's host is an address that is probed.
            ("192.0.2.1", nil, .pass), ("192.0.2.1", "192.0.2.1", .pass), ("192.0.2.1", "other.test", .refuse(.nameMismatch)),
            ("192.0.2.1", "pinned.test", .judge(host: "pinned.test")),
            // The host has been denied since the tunnel was opened.
            ("denied.test", "denied.test", .refuse(.denied)),
        ] as [(String, String?, HelloDecision)])
    func decides(host: String, name: String?, decision: HelloDecision) throws {
        #expect(try Self.policy().decide(on: Self.hello(name), host: Self.judgedHost(host), port: 443) == decision)
    }

    @Test("Required ClientHello contents are checked even if no host is guarded; any name is then allowed")
    func looksWithoutGuards() {
        var policy = ConnectPolicy()
        #expect(!policy.isAskedAboutHellos)
        policy.allowsMissingName = false
        #expect(policy.isAskedAboutHellos && !policy.isGuarding)
        #expect(policy.decide(on: Self.hello(nil), host: "a.test", port: 443) == .refuse(.nameMissing))
        for name in ["a.test", "b.test", "not..a.host"] {
            #expect(policy.decide(on: Self.hello(name), host: "a.test", port: 443) == .pass)
        }
        #expect(policy.decide(on: nil, host: "a.test", port: 443) == .pass)
        policy.allowsMissingName = true
        policy.allowsEncryptedHello = false
        #expect(policy.isAskedAboutHellos)
        var hello = Self.hello("a.test")
        #expect(policy.decide(on: hello, host: "a.test", port: 443) == .pass)
        hello.hasEncryptedHello = true
        #expect(policy.decide(on: hello, host: "a.test", port: 443) == .refuse(.encryptedHello))
    }

    @Test("A name with a character that Unicode folds to an ASCII letter (U+212A) is refused")
    func foldsNothingBesidesASCII() throws {
        let policy = try Self.policy([("bank.test", .probe)])
        #expect(policy.decide(on: Self.hello("BANK.test"), host: "bank.test", port: 443) == .pass)
        for host in ["bank.test", "192.0.2.9"] {
            #expect(policy.decide(on: Self.hello("ban\u{212A}.test"), host: host, port: 443) == .refuse(.nameMismatch))
        }
    }

    @Test("If every host is probed, the policy for an address is chosen by the name in the ClientHello")
    func judgesAddresses() throws {
        let policy = try Self.policy([("open.test", .tunnel), ("192.0.2.1", .probe)], fallback: .probe)
        for (host, way) in [("a.test", .probe), ("192.0.2.1", .probe), ("192.0.2.9", .tunnel), ("open.test", .tunnel)]
            as [(String, ConnectWay)]
        {
            #expect(policy.wayBeforeHello(host: host, port: 443) == way)
        }
        let decisions: [(String, String?, HelloDecision)] = [
            ("192.0.2.9", "a.test", .judge(host: "a.test")), ("192.0.2.9", nil, .judge(host: "192.0.2.9")),
            ("192.0.2.9", "192.0.2.9", .judge(host: "192.0.2.9")), ("192.0.2.9", "open.test", .pass),
            ("open.test", "a.test", .refuse(.nameMismatch)), ("a.test", "open.test", .refuse(.nameMismatch)),
        ]
        for (host, name, decision) in decisions {
            #expect(policy.decide(on: Self.hello(name), host: host, port: 443) == decision, "\(host) \(name ?? "-")")
        }
        #expect(policy.decide(on: nil, host: "192.0.2.9", port: 443) == .refuse(.notTLS))
    }

    @Test("Data other than TLS passes to hosts that are not guarded")
    func passesOthers() throws {
        let policy = try Self.policy()
        for (host, decision) in [("other.test", .pass), ("192.0.2.9", .pass), ("pinned.test", .refuse(.notTLS))]
            as [(String, HelloDecision)]
        {
            #expect(policy.decide(on: nil, host: host, port: 443) == decision)
        }
    }

    @Test("A ClientHello without SNI or with ECH is refused if the settings say so")
    func followsSettings() throws {
        var policy = try Self.policy()
        var encrypted = Self.hello("pinned.test")
        encrypted.hasEncryptedHello = true
        #expect(policy.decide(on: encrypted, host: "pinned.test", port: 443) == .pass)
        policy.allowsMissingName = false
        policy.allowsEncryptedHello = false
        for host in ["pinned.test", "192.0.2.9"] {
            #expect(policy.decide(on: encrypted, host: host, port: 443) == .refuse(.encryptedHello))
            #expect(policy.decide(on: Self.hello(nil), host: host, port: 443) == .refuse(.nameMissing))
        }
    }

    @Test("An entry for one port applies to that port only")
    func heedsPorts() throws {
        var policy = ConnectPolicy()
        policy.insert(.probe, for: try #require(HostScope(host: "pinned.test", port: 443)))
        #expect(policy.way(host: "pinned.test", port: 443) == .probe)
        #expect(policy.way(host: "pinned.test", port: 8443) == .tunnel)
        #expect(policy.decide(on: Self.hello("pinned.test"), host: "other.test", port: 8443) == .pass)
    }

    // MARK: Entered tunnels, in which the client's first bytes decide

    private static func intercepting(_ change: (inout ConnectPolicy) -> Void = { _ in }) throws -> ConnectPolicy {
        var policy = try policy(
            [
                ("inspected.test", .intercept), ("tunnel.test", .tunnel), ("probed.test", .probe), ("denied.test", .deny),
                ("192.0.2.1", .intercept), ("192.0.2.3", .tunnel),
            ], fallback: .intercept)
        for host in ["*.maker.test", "inspected.test"] {
            policy.exceptFromInterception(try #require(HostScope(host: host, labels: .all)))
        }
        change(&policy)
        return policy
    }

    @Test(
        "Larder inspects a tunnel if its host may be intercepted, or at the port of plain HTTP",
        arguments: [
            ("any.test", 443, true), ("inspected.test", 443, true), ("a.maker.test", 443, false), ("a.maker.test", 80, true),
            ("tunnel.test", 443, false), ("tunnel.test", 80, true), ("probed.test", 443, false), ("probed.test", 80, true),
            ("denied.test", 80, false), ("192.0.2.9", 443, true), ("192.0.2.3", 443, false),
        ] as [(String, UInt16, Bool)])
    func enters(host: String, port: UInt16, isEntered: Bool) throws {
        #expect(try Self.intercepting().isEntered(host: host, port: port) == isEntered)
    }

    @Test("If no host is intercepted, Larder inspects only tunnels for plain HTTP")
    func entersPlainHTTPAlone() throws {
        for policy in [ConnectPolicy(), try Self.policy()] {
            #expect(policy.isEntered(host: "other.test", port: 80) && !policy.isEntered(host: "other.test", port: 443))
            #expect(!policy.isEntered(host: "192.0.2.9", port: 443))
        }
    }

    @Test(
        "In an inspected tunnel the name in the ClientHello must match the authority, or says which host an address belongs to (T17)",
        arguments: [
            ("any.test", "any.test", .intercept(host: "any.test")), ("any.test", "ANY.test.", .intercept(host: "any.test")),
            ("any.test", nil, .intercept(host: "any.test")), ("any.test", "other.test", .refuse(.nameMismatch)),
            ("any.test", "not..a.host", .refuse(.nameMismatch)),
            ("inspected.test", "inspected.test", .intercept(host: "inspected.test")),
            ("192.0.2.9", "any.test", .intercept(host: "any.test")), ("192.0.2.9", "tunnel.test", .tunnel),
            ("192.0.2.9", "probed.test", .tunnel), ("192.0.2.9", "a.maker.test", .tunnel),
            ("192.0.2.9", "denied.test", .refuse(.denied)),
            ("192.0.2.9", nil, .intercept(host: "192.0.2.9")), ("192.0.2.1", "any.test", .refuse(.nameMismatch)),
            ("192.0.2.1", "192.0.2.1", .intercept(host: "192.0.2.1")),
        ] as [(String, String?, InterceptionDecision)])
    func decidesEntered(host: String, name: String?, decision: InterceptionDecision) throws {
        let now = MonotonicTime(nanoseconds: 0)
        #expect(try Self.intercepting().decideIntercepted(on: Self.hello(name), host: host, port: 443, at: now) == decision)
    }

    @Test("If the fallback denies all other hosts, the refusal says so; a host with a `deny` entry is denied for CONNECT only")
    func tellsDenials() throws {
        var policy = ConnectPolicy(fallback: .deny)
        policy.deniesUnnamedHosts = true
        policy.insert(.deny, for: try #require(HostScope(host: "named.test")))
        policy.insert(.intercept, for: try #require(HostScope(host: "inspected.test")))
        for (host, refusal) in [("named.test", TunnelRefusal.denied), ("any.test", .hostDenied), ("192.0.2.9", .hostDenied)] {
            #expect(policy.decide(on: Self.hello(nil), host: host, port: 443) == .refuse(refusal))
            #expect(policy.deniesHost(host, port: 443) == (refusal == .hostDenied))
        }
        #expect(!policy.deniesHost("not..a.host", port: 443))
    }

    @Test("A client's refusal of the certificate is remembered for a limited time, and never for hosts that the settings name")
    func learns() throws {
        let policy = try Self.intercepting { $0.refusalsKeptMilliseconds = 1000 }
        func decision(_ host: String, at milliseconds: UInt64) -> InterceptionDecision {
            let now = MonotonicTime(nanoseconds: milliseconds * 1_000_000)
            return policy.decideIntercepted(on: Self.hello(host), host: host, port: 443, at: now)
        }
        for host in ["any.test", "inspected.test"] {
            #expect(decision(host, at: 0) == .intercept(host: host))
            policy.noteRefusal(host: host, port: 443, at: MonotonicTime(nanoseconds: 0))
        }
        #expect(decision("any.test", at: 999) == .tunnelUninspected(host: "any.test", .certificateRefused))
        #expect(decision("any.test", at: 1000) == .intercept(host: "any.test"))
        #expect(decision("inspected.test", at: 1) == .intercept(host: "inspected.test"))
    }

    @Test(
        "A client that offers HTTP/1.0 is intercepted; one without HTTP/1 gets a reported tunnel, or is refused if so set",
        arguments: [
            ([.http10], .intercept(host: "any.test")), ([.http10, .http2], .intercept(host: "any.test")),
            ([.http2], .tunnelUninspected(host: "any.test", .noHTTP1Offered)),
            ([.other], .tunnelUninspected(host: "any.test", .noHTTP1Offered)),
        ] as [(ApplicationProtocols, InterceptionDecision)])
    func goesByProtocols(protocols: ApplicationProtocols, decision: InterceptionDecision) throws {
        var hello = Self.hello("any.test")
        hello.protocols = protocols
        let now = MonotonicTime(nanoseconds: 0)
        #expect(try Self.intercepting().decideIntercepted(on: hello, host: "any.test", port: 443, at: now) == decision)
        let strict = try Self.intercepting { $0.tunnelsOtherProtocols = false }
        let refused = strict.decideIntercepted(on: hello, host: "any.test", port: 443, at: now)
        #expect(refused == (protocols.contains(.http10) ? decision : .refuse(.otherProtocol)))
    }

    @Test(
        "At port 80 an intercepted host without an entry may have a tunnel without TLS; an address only if there are no entries")
    func permitsPlainTunnels() throws {
        let usual = ConnectPolicy(fallback: .intercept)
        for host in ["any.test", "192.0.2.9"] {
            #expect(usual.permitsUninspected(host: host, port: 80) && !usual.permitsUninspected(host: host, port: 443))
        }
        let named = try Self.intercepting()
        #expect(named.permitsUninspected(host: "any.test", port: 80))
        for host in ["inspected.test", "192.0.2.1", "192.0.2.9"] { #expect(!named.permitsUninspected(host: host, port: 80)) }
        #expect(!ConnectPolicy(fallback: .probe).permitsUninspected(host: "any.test", port: 80))
    }

    @Test("A tunnel that is not intercepted after all goes to a server that was verified")
    func judgesTunnels() throws {
        let policy = try Self.intercepting()
        #expect(policy.wayBeforeHello(host: "any.test", port: 443) == .probe)
        #expect(policy.decide(on: Self.hello("any.test"), host: "any.test", port: 443) == .pass)
        #expect(policy.decide(on: Self.hello("any.test"), host: "192.0.2.9", port: 443) == .judge(host: "any.test"))
        #expect(policy.decide(on: nil, host: "any.test", port: 443) == .refuse(.notTLS))
    }
}
