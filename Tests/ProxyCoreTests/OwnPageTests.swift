import HTTPMessage
import ProxyPolicy
import Testing

@testable import ProxyCore

@Suite("A listener's responses to direct requests")
struct OwnPageTests {
    private static let root = RootCertificate(
        der: [0x30, 0x03, 0x02, 0x01, 0x05], pem: Array("-----BEGIN CERTIFICATE-----\n".utf8))

    private static func book(
        root: RootCertificate? = root, mode: ExchangeContext.Mode = .live, rules: [[String: Setting]] = []
    ) throws -> Playbook {
        Playbook(
            context: ExchangeContext(
                rules: try Setting.rules(rules), mode: mode,
                ownAddresses: [
                    ExchangeContext.OwnAddress(hosts: ["localhost", "127.0.0.1"].map { Array($0.utf8) }, port: 3180),
                    ExchangeContext.OwnAddress(hosts: ["::1", "localhost"].map { Array($0.utf8) }, port: 3181),
                    ExchangeContext.OwnAddress(hosts: [Array("0.0.0.0".utf8)], port: 3182, isAnyAddress: true),
                    ExchangeContext.OwnAddress(hosts: [Array("localhost".utf8)], port: 80),
                ],
                rootCertificate: root))
    }

    private static func text(_ book: Playbook) -> String { String(decoding: book.written?.body ?? [], as: UTF8.self) }

    @Test(
        "The PAC script sends http requests through the listener that the client has addressed",
        arguments: [
            ("127.0.0.1:3180", "PROXY 127.0.0.1:3180"), ("LocalHost:3180", "PROXY LocalHost:3180"),
            ("localhost.:3180", "PROXY localhost:3180"), ("[::1]:3181", "PROXY [::1]:3181"), ("localhost", "PROXY localhost:80"),
            ("192.168.1.5:3182", "PROXY 192.168.1.5:3182"), ("[fd00::5]:3182", "PROXY [fd00::5]:3182"),
        ])
    func writesScript(host: String, expected: String) throws {
        let book = try Self.book()
        try book.run(.request("GET /proxy.pac", "Host: \(host)"), [.sendLocal], .delivered, [.finish])
        #expect(book.written?.status == 200 && book.exchange.trace.outcome == .local)
        #expect(book.written?["content-type"] == "application/x-ns-proxy-autoconfig")
        #expect(book.written?["cache-control"] == "no-store")
        #expect(
            Self.text(book) == """
                function FindProxyForURL(url, host) {
                  return /^(https?|wss?):/i.test(url) ? "\(expected)" : "DIRECT";
                }

                """)
    }

    @Test("HEAD is answered like GET, without content")
    func answersHead() throws {
        for path in ["/proxy.pac", "/ca.pem", "/ca.der"] {
            let get = try Self.book()
            try get.run(.request("GET \(path)", "Host: localhost:3180"), [.sendLocal], .delivered, [.finish])
            let head = try Self.book()
            try head.run(.request("HEAD \(path)", "Host: localhost:3180"), [.sendLocal], .delivered, [.finish])
            #expect(head.written?.status == 200 && head.written?["content-length"] == get.written?["content-length"])
        }
    }

    @Test("The root certificate is available in both formats; without a CA, the error says how to make one")
    func givesRoot() throws {
        for (path, octets) in [("/ca.der", Self.root.der), ("/ca.pem", Self.root.pem)] {
            let book = try Self.book()
            try book.run(.request("GET \(path)", "Host: 127.0.0.1:3180"), [.sendLocal], .delivered, [.finish])
            #expect(book.written?.body == octets && book.written?["content-type"] == "application/x-x509-ca-cert")
            let none = try Self.book(root: nil)
            try none.run(
                .request("GET \(path)", "Host: 127.0.0.1:3180", "Accept: text/plain"), [.sendError], .delivered, [.finish])
            #expect(none.written?.status == 404 && none.exchange.trace.fault == .noAuthority)
            #expect(Self.text(none).contains("larder ca init"))
        }
    }

    @Test(
        "T05: a Host that is not ours gets 403, whatever address it resolved to",
        arguments: [
            "evil.example", "evil.example:3180", "127.0.0.1", "127.0.0.1:3181", "localhost:8080", "127.0.0.1.evil.example:3180",
            "127.0.0.2:3180", "evil.example:3182", "[::1]:3180",
        ])
    func refusesForeignHosts(host: String) throws {
        for path in ["/proxy.pac", "/ca.pem", "/ca.der"] {
            let book = try Self.book()
            try book.run(.request("GET \(path)", "Host: \(host)"), [.sendError], .delivered, [.finish])
            #expect(book.written?.status == 403 && book.exchange.trace.fault == .foreignHost)
            #expect(!Self.text(book).contains("evil"))
        }
    }

    @Test("T05: an HTTP/1.0 request without Host gets 403 too")
    func refusesNobody() throws {
        let book = try Self.book()
        try Messages.read("GET /proxy.pac HTTP/1.0\r\n\r\n", into: &book.exchange.request)
        #expect(book.handle(.requestHead(body: .none, at: book.now)) == [.sendError])
        #expect(book.exchange.trace.fault == .foreignHost)
    }

    @Test(
        "T06: requests by pages of other sites get 403, requests typed by the user do not",
        arguments: [
            ("Sec-Fetch-Site: cross-site", false), ("Sec-Fetch-Site: same-site", false), ("sec-fetch-site: CROSS-SITE", false),
            ("Sec-Fetch-Site: none", true), ("Sec-Fetch-Site: same-origin", true), ("Sec-Fetch-Site: none, cross-site", false),
            ("Origin: http://evil.example", false), ("Origin: null", false), ("origin: http://localhost:3180", false),
            ("User-Agent: curl", true),
        ])
    func refusesPages(field: String, isAnswered: Bool) throws {
        for path in ["/proxy.pac", "/ca.pem", "/ca.der"] {
            let book = try Self.book()
            try book.run(
                .request("GET \(path)", "Host: localhost:3180", field), [isAnswered ? .sendLocal : .sendError], .delivered,
                [.finish])
            #expect(book.exchange.trace.fault == (isAnswered ? nil : .crossSite))
        }
    }

    @Test(
        "T07: requesting one of our own pages through the proxy is a loop",
        arguments: ["GET http://localhost:3180/proxy.pac", "GET http://127.0.0.1:3180/ca.pem", "CONNECT 127.0.0.1:3180"])
    func refusesLoops(line: String) throws {
        let book = try Self.book()
        try book.run(.request(line), [.sendError], .delivered, [.finish])
        #expect(book.written?.status == 508)
    }

    @Test("Our own pages use neither rules nor the store, also in offline mode")
    func asksNobody() throws {
        let book = try Self.book(mode: .offline, rules: [["deny": ["reason": "closed"]]])
        try book.run(.request("GET /proxy.pac", "Host: localhost:3180"), [.sendLocal], .delivered, [.finish])
        #expect(book.exchange.key.isEmpty && book.exchange.trace.reuse == nil)
    }

    @Test("Our own pages require no proxy credentials")
    func asksForNoPassword() throws {
        for (line, command) in [
            ("GET /proxy.pac", ExchangeCommand.sendLocal), ("GET /ca.pem", .sendLocal), ("GET http://a.example/", .sendError),
        ] {
            let book = try Self.book()
            book.exchange.incoming.sender = RequestSender(needsCredentials: true)
            try book.run(.request(line, "Host: localhost:3180"), [command], .delivered, [.finish])
            #expect(book.written?.status == (command == .sendLocal ? 200 : 407))
        }
    }
}
