import HTTPCaching
import HTTPMessage
import ProxyPolicy
import Testing

@testable import ProxyCore

@Suite("Upgrading or refusing plain-text requests (T19, T49)")
struct UpgradeTests {
    private static let upgrade: [String: Setting] = ["request": ["upgrade": "https"], "match": ["host": "a.example"]]

    @Test(
        "Port 80 becomes 443, other ports stay, and the key has the https URL",
        arguments: [
            ("http://a.example/x", "https://a.example:443/x", "a.example"),
            ("http://a.example:80/x", "https://a.example:443/x", "a.example"),
            ("http://a.example:8080/x", "https://a.example:8080/x", "a.example:8080"),
            ("http://a.example:443/x", "https://a.example:443/x", "a.example"),
            ("https://a.example:80/x", "https://a.example:80/x", "a.example:80"),
            ("http://b.example/x", "http://b.example:80/x", "b.example"),
        ])
    func upgrades(url: String, key: String, host: String) throws {
        let book = try Playbook(rules: [Self.upgrade])
        try book.run(.request("GET \(url)"), [.lookUp(onDisk: false)], .found([]), [.joinFetch], .alone, [.fetch])
        #expect(String(decoding: book.exchange.key, as: UTF8.self) == key)
        #expect(book.exchange.trace.isUpgraded == (url.hasPrefix("http://a")))
        let forwarded = try #require(book.forwarded)
        #expect(forwarded.fields.combinedValue(of: .host) == host)
    }

    @Test("An upgraded write invalidates the https URL's responses; a PURGE removes both")
    func invalidates() throws {
        let dropping: [String: Setting] = [
            "request": ["upgrade": "https"], "match": ["host": "a.example", "scheme": "http"],
            "cache": ["key": ["drop_query": "u"]],
        ]
        let book = try Playbook(rules: [dropping])
        try book.run(.request("DELETE http://a.example/x?u=1"), [.fetch], .response(204), [.invalidate, .relay(store: false)])
        let keys = book.exchange.changes.invalidatedKeys.map { String(decoding: $0, as: UTF8.self) }
        #expect(keys.contains("https://a.example:443/x?u=1") && keys.contains("https://a.example:443/x"))
        #expect(!keys.contains { $0.hasPrefix("http://") })

        let context = ExchangeContext(
            rules: try Setting.rules([Self.upgrade]), purgeClients: [try #require(AddressRange("127.0.0.1"))])
        let purge = Playbook(context: context)
        purge.exchange.incoming.sender = RequestSender(ClientFacts(address: .loopbackIPv4))
        try purge.run(.request("PURGE http://a.example/x"), [.purge])
        let purged = (purge.exchange.incoming.purge?.keys ?? []).map { String(decoding: $0, as: UTF8.self) }
        #expect(purged.contains("http://a.example:80/x") && purged.contains("https://a.example:443/x"))
    }

    @Test("T49: a plain-text request to a pinned host is refused without a look-up, unless it is upgraded")
    func refuses() throws {
        let rule: ExchangeContext.PlaintextLookUp = { host, port, _ in
            host == "a.example" && port == 80
                ? .refused(TrustRefusal(plaintextTo: host, source: "x/larder.yaml:3:1", expected: ["sha256/a"]))
                : .allowed(until: Timestamp(milliseconds: .max))
        }
        let book = Playbook(context: ExchangeContext(rules: .empty, plaintextRule: rule))
        try book.run(.request("GET http://A.Example/x"), [.sendError], .delivered, [.finish])
        #expect(book.exchange.trace.fault == .plaintextToPinnedHost && book.exchange.trace.status == 403)
        let body = String(decoding: try #require(book.written).body, as: UTF8.self)
        #expect(body.contains(#""policy":"larder.yaml:3:1""#) && body.contains("request: {upgrade: https}"))

        let other = Playbook(context: ExchangeContext(rules: .empty, plaintextRule: rule))
        try other.run(.request("GET http://b.example/x"), [.lookUp(onDisk: false)])
        let upgraded = Playbook(context: ExchangeContext(rules: try Setting.rules([Self.upgrade]), plaintextRule: rule))
        try upgraded.run(.request("GET http://a.example/x"), [.lookUp(onDisk: false)])
        let tunnel = Playbook(context: ExchangeContext(rules: .empty, plaintextRule: rule))
        try tunnel.run(.request("CONNECT a.example:80"), [.openTunnel])
    }

    @Test("The trust policy of an allowed host is not looked up again until its result expires")
    func remembersWhoMayBeAsked() throws {
        let begin = Messages.epoch
        func context() -> ExchangeContext {
            ExchangeContext(
                rules: .empty,
                plaintextRule: { host, _, now in
                    now > begin.advanced(seconds: 3)
                        ? .refused(TrustRefusal(plaintextTo: host, source: "", expected: []))
                        : .allowed(until: begin.advanced(seconds: 10))
                })
        }
        let (settings, others) = (context(), context())
        let book = Playbook(context: settings)
        func run(_ url: String, under context: ExchangeContext, _ expected: Playbook.Step) throws {
            book.exchange.begin(id: 1, context: context)
            try book.run(.request("GET \(url)"), expected)
        }
        let asks: Playbook.Step = [.lookUp(onDisk: false)]
        let refuses: Playbook.Step = [.sendError]
        try run("http://a.example/x", under: settings, asks)
        book.now = begin.advanced(seconds: 5)
        try run("http://b.example/", under: settings, refuses)
        try run("http://a.example:8080/", under: settings, refuses)
        try run("http://A.Example/y", under: settings, asks)
        book.now = begin.advanced(seconds: 11)
        try run("http://a.example/x", under: settings, refuses)

        book.now = begin
        try run("http://a.example/x", under: settings, asks)
        book.now = begin.advanced(seconds: 5)
        try run("http://a.example/x", under: others, refuses)
        try run("http://a.example/x", under: settings, refuses)
    }
}
