import EventLoop
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("Proxies of the environment, as curl reads them")
struct EnvironmentProxyTests {
    private static func proxy(_ variables: [String: String], to target: String) throws -> String? {
        let routes = try ProxyRoutes(.environment(variables))
        return routes.proxy(for: try TargetURI(target)).map { "\($0.host):\($0.port)" }
    }

    @Test(
        "The variable of the scheme counts before all_proxy, lower case before upper case, and HTTP_PROXY never",
        arguments: [
            (["http_proxy": "http://a:1"], "a:1", nil), (["HTTP_PROXY": "http://a:1"], nil, nil),
            (["HTTPS_PROXY": "http://a:1"], nil, "a:1"), (["https_proxy": "b:2", "HTTPS_PROXY": "a:1"], nil, "b:2"),
            (["ALL_PROXY": "a:1"], "a:1", "a:1"), (["all_proxy": "b:2", "ALL_PROXY": "a:1"], "b:2", "b:2"),
            (["http_proxy": "h:1", "https_proxy": "s:2", "all_proxy": "a:3"], "h:1", "s:2"),
            (["http_proxy": "", "all_proxy": "a:3"], "a:3", "a:3"), ([:], nil, nil), (["http_proxy": "a"], "a:1080", nil),
            (["http_proxy": "http://a:80/path"], "a:80", nil), (["http_proxy": "http://[::1]:8080"], "::1:8080", nil),
            (["http_proxy": "http://[::1]"], "::1:1080", nil), (["http_proxy": "HTTP://A.Example:3"], "a.example:3", nil),
        ] as [([String: String], String?, String?)])
    func choosesVariables(variables: [String: String], http: String?, https: String?) throws {
        #expect(try Self.proxy(variables, to: "http://example.com/") == http)
        #expect(try Self.proxy(variables, to: "https://example.com/") == https)
    }

    @Test(
        "no_proxy has names with the names below them, addresses and blocks of addresses",
        arguments: [
            ("example.com", "example.com", true), ("example.com", "www.example.com", true),
            ("example.com", "nonexample.com", false),
            (".example.com", "example.com", true), ("example.com.", "www.example.com", true),
            ("EXAMPLE.com,b", "a.example.com", true),
            ("a,example.com", "example.com", true), ("a, example.com", "example.com", true),
            ("a example.com", "example.com", true),
            (",,example.com", "example.com", true), ("com", "example.com", true), ("*", "x.test", true), ("*,a", "x.test", false),
            ("192.168.0.0/16", "192.168.3.4", true), ("192.168.0.0/16", "192.169.3.4", false), ("10.0.0.0/0", "10.0.0.1", false),
            ("10.0.0.1/33", "10.0.0.1", false), ("10.0.0.1", "10.0.0.1", true), ("0.1", "10.0.0.1", false),
            ("10.0.0.0/8", "a10.test", false), ("10.0.0.128/25", "10.0.0.127", false), ("::1", "[::1]", true),
            ("[::1]", "[::1]", false), ("fe80::/10", "[fe81::1]", true), ("fe80::/10", "[fec0::1]", false),
            ("2001:db8::/65", "[2001:db8::1]", true), ("2001:db8::/65", "[2001:db8::8000:0:0:1]", false),
            ("", "example.com", false),
        ])
    func matchesExceptions(list: String, host: String, isException: Bool) throws {
        let variables = ["http_proxy": "http://proxy:1", "NO_PROXY": list]
        #expect((try Self.proxy(variables, to: "http://\(host)/") == nil) == isException)
    }

    @Test("The lower-case no_proxy counts before NO_PROXY")
    func prefersLowerCase() throws {
        let variables = ["http_proxy": "p:1", "no_proxy": "a.test", "NO_PROXY": "b.test"]
        #expect(try Self.proxy(variables, to: "http://a.test/") == nil && Self.proxy(variables, to: "http://b.test/") == "p:1")
    }

    @Test(
        "A variable that names no usable proxy fails the session with its name, and without its password",
        arguments: [
            "socks5://a:1", "https://me:secret@a:1", "http://me:secret%@a:1", "http://", "http://a:secret", "http://a b:1",
        ])
    func refuses(value: String) throws {
        var configuration = SessionConfiguration()
        configuration.proxy = .environment(["https_proxy": value])
        let error = #expect(throws: SessionError.self) { try HTTPSession(configuration: configuration) }
        #expect(error?.code == .badURL && error?.description.contains("https_proxy") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test("Requests go through the proxy with its password, or directly to the hosts of no_proxy")
    func sends() async throws {
        let proxy = ScriptedOrigin.answering { request, connection in
            request["Proxy-Authorization"] == "Basic bWU6cDpAc3M="
                ? connection.respond("200 OK", body: "proxied")
                : connection.respond("407 No", fields: "Proxy-Authenticate: Basic realm=\"p\"\r\n")
        }
        let origin = ScriptedOrigin.answering { _, connection in connection.respond("200 OK", body: "direct") }
        defer {
            proxy.stop()
            origin.stop()
        }
        var configuration = SessionConfiguration()
        configuration.proxy = .environment([
            "http_proxy": "http://me:p:%40ss@127.0.0.1:\(proxy.port)", "no_proxy": "below.test,127.0.0.0/8",
        ])
        configuration.resolve = ["direct.below.test": ["127.0.0.1"]]
        let session = try HTTPSession(configuration: configuration)
        #expect(try await session.get("http://elsewhere.test/a").text == "proxied")
        #expect(try await session.get("http://direct.below.test:\(origin.port)/b").text == "direct")
        #expect(try await session.get("http://127.0.0.1:\(origin.port)/c").text == "direct")
        #expect(proxy.requestHeads.allSatisfy { $0.contains("GET http://elsewhere.test/a HTTP/1.1") })
        #expect(origin.requestHeads.count == 2)
    }
}
