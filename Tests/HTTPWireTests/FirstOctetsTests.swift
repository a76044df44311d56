import Testing

@testable import HTTPWire

@Suite("The protocol that a client uses in a tunnel")
struct FirstOctetsTests {
    @Test(
        "The first bytes decide, however few arrive at once",
        arguments: [
            ("\u{16}\u{3}\u{1}", .tls), ("\u{17}", .tls), ("GET / HTTP/1.1\r\n", .http1), ("\r\nPOST /x", .http1),
            ("OPTIONS * H", .http1),
            ("GET http://a/ HTTP/1.1", .http1), ("M-SEARCH * HTTP", .http1), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .http2),
            ("PRI * HTTP/1.1\r\n", .http1), ("SSH-2.0-x\r\n", .other), ("GET\r\n", .other), ("EHLO me.test\r\n", .http1),
            ("a1 LOGIN x", .other), ("* OK ready", .other), ("\u{0}\u{1}", .other), ("\u{1}", .other), ("{\"a\":1}", .other),
            ("\r\n\r\n\r\nGET / HTTP/1.1", .other), ("ABCDEFGHIJKLMNOPQRSTUVWXYZ / HTTP/1.1", .other),
            (" GET / HTTP/1.1", .other),
            ("GET  / HTTP/1.1", .other),
        ] as [(String, FirstOctets)])
    func tells(text: String, kind: FirstOctets) {
        let octets = Array(text.utf8)
        #expect(FirstOctets(octets.span) == kind)
        for count in 0..<octets.count {
            let early = FirstOctets(octets.span.extracting(0..<count))
            #expect(early == .undecided || early == kind, "\(count) octets")
        }
    }

    @Test("The protocol does not stay undecided past the limit")
    func decides() {
        for octet in UInt8.min...UInt8.max {
            let octets = [UInt8](repeating: octet, count: FirstOctets.undecidedLimit)
            #expect(FirstOctets(octets.span) != .undecided, "\(octet)")
        }
        let nearly = Array("\r\n\r\n".utf8) + Array(repeating: UInt8(ascii: "A"), count: FirstOctets.undecidedLimit - 4)
        #expect(FirstOctets(nearly.span) != .undecided)
    }
}
