import HTTPMessage
import Testing

@Suite("Authority: uri-host and port (RFC 9110 §4.2, RFC 3986 §3.2)")
struct AuthorityTests {
    private func parse(_ text: String) throws(AuthorityFault) -> (host: String, kind: RequestTarget.HostKind, port: UInt16?) {
        let bytes = Array("<\(text)>".utf8)
        let authority = try Authority(parsing: 1..<bytes.count - 1, in: bytes.span)
        return (String(decoding: bytes[authority.host.range], as: UTF8.self), authority.hostKind, authority.port)
    }

    @Test(
        "A host is parsed with its kind and port",
        arguments: [
            ("a", "a", RequestTarget.HostKind.name, nil), ("WWW.Example-1.com:8080", "WWW.Example-1.com", .name, 8080),
            ("under_score:1", "under_score", .name, 1), ("xn--bcher-kva.example", "xn--bcher-kva.example", .name, nil),
            ("127.0.0.1:65535", "127.0.0.1", .ipv4, 65535), ("[::1]", "::1", .ipv6, nil), ("[::1]:80", "::1", .ipv6, 80),
            ("[2001:db8::a.b]", nil, .ipv6, nil), ("[::ffff:169.254.169.254]:1", "::ffff:169.254.169.254", .ipv6, 1),
            ("a:", "a", .name, nil), ("a:00080", "a", .name, 80), ("1.example", "1.example", .name, nil),
        ] as [(String, String?, RequestTarget.HostKind, UInt16?)])
    func reads(text: String, host: String?, kind: RequestTarget.HostKind, port: UInt16?) throws {
        guard let host else {
            #expect(throws: AuthorityFault.self) { try parse(text) }
            return
        }
        let read = try parse(text)
        #expect(read.host == host)
        #expect(read.kind == kind)
        #expect(read.port == port)
    }

    @Test("T03 The final dot of a name is ignored", arguments: ["a.", "a.:80", "169.254.169.254."])
    func dropsFinalDot(text: String) throws {
        let read = try parse(text)
        #expect(!read.host.hasSuffix("."))
        #expect(read.kind == (text.hasPrefix("169") ? .ipv4 : .name))
    }

    @Test(
        "T03 A number in another spelling counts as a name, checked on lookup", arguments: ["2130706433", "0x7f.1", "0177.0.0.1"])
    func leavesNumbersToLookUp(text: String) throws {
        #expect(try parse(text).kind == .name)
    }

    @Test(
        "T17 An authority that two recipients could read differently is rejected",
        arguments: [
            ("", AuthorityFault.emptyHost), (":80", .emptyHost), ("u@a", .userinfo), ("u:p@a", .userinfo), ("u:@a:80", .userinfo),
            ("a@b@c", .userinfo), ("@a", .userinfo), (":@a", .userinfo), ("a\\@b", .userinfo), ("a\\b", .malformedHost),
            ("a b", .malformedHost), ("a%00", .malformedHost), ("a%2e", .malformedHost), ("b\u{fc}cher", .malformedHost),
            ("\u{430}pple.com", .malformedHost), ("a..b", .malformedHost), (".a", .malformedHost), (".", .malformedHost),
            ("a,b", .malformedHost), ("a;b", .malformedHost), ("*", .malformedHost), ("a!b", .malformedHost),
            ("[::1", .malformedHost), ("[::1]a", .malformedHost), ("::1", .emptyHost), ("[fe80::1%25eth0]", .malformedHost),
            ("[v1.a]", .malformedHost), ("[]", .malformedHost), ("[127.0.0.1]", .malformedHost), ("[:::1]", .malformedHost),
            ("[1:2:3:4:5:6:7]", .malformedHost), ("[1:2:3:4:5:6:7:8:9]", .malformedHost), ("a:b", .malformedPort),
            ("a:0", .malformedPort), ("a:65536", .malformedPort), ("a:000080", .malformedPort), ("a:+80", .malformedPort),
            ("a:80:80", .malformedPort), ("a: 80", .malformedPort),
        ])
    func refuses(text: String, fault: AuthorityFault) {
        #expect(throws: fault) { try parse(text) }
    }

    @Test("A name has at most 253 bytes, and a label 63 (RFC 1035 §2.3.4)")
    func limitsLengths() throws {
        let label = String(repeating: "a", count: 63)
        let name = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(try parse(name).host.utf8.count == 253)
        #expect(try parse(name + ".").host.utf8.count == 253)
        #expect(throws: AuthorityFault.malformedHost) { try parse(name + "b") }
        #expect(throws: AuthorityFault.malformedHost) { try parse(label + "a.b") }
        #expect(throws: AuthorityFault.malformedHost) { try parse("b." + label + "a") }
    }
}
