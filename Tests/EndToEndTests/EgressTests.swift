import Foundation
import Testing
import TestSupport

@Suite("Which addresses the proxy connects to, and which clients may use it")
struct EgressTests {
    private static let metadata = [
        "169.254.169.254", "169.254.0.1", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "0xa9.0xfe.0xa9.0xfe",
        "169.254.43518",
        "169.16689662", "169.254.169.254.", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[::169.254.169.254]",
        "[64:ff9b::169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::1]", "[64:ff9b:1::a9fe:a9fe]",
        "[::ffff:0:169.254.169.254]", "[fd00:ec2::254]", "[FD00:0EC2:0::0254]", "[fd00:ec2::23]", "[fd20:ce::254]",
        "100.100.100.200", "[::ffff:100.100.100.200]", "[fd00:100::100:200]", "168.63.129.16", "0xa83f8110",
        "[fd00:c1::a9fe:a9fe]",
        "[fd00:42::42]", "[fd00:a9fe:a9fe::1]",
        "[fe80::1]", "[febf::1]",
    ]

    @Test("T03 link-local and metadata addresses are refused in every spelling, for GET", arguments: metadata)
    func refusesGet(host: String) throws {
        let proxy = try TestProxy()
        let client = try RawClient(port: proxy.port, owner: proxy)
        client.send("GET http://\(host)/latest/meta-data/ HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        try expectRefusal(try client.readResponse())
    }

    @Test("T03 link-local and metadata addresses are refused in every spelling, for CONNECT", arguments: metadata)
    func refusesConnect(host: String) throws {
        let proxy = try TestProxy()
        let client = try RawClient(port: proxy.port, owner: proxy)
        client.send("CONNECT \(host):443 HTTP/1.1\r\nHost: \(host):443\r\n\r\n")
        try expectRefusal(try client.readResponse())
    }

    /// Either the spelling is not a host, or its address is refused.
    private func expectRefusal(_ response: ReceivedResponse) throws {
        let isProhibited = response.status == 403 && response.code == "destination_prohibited"
        let isNoHost = response.status == 400 && response.code == "bad_url"
        #expect(isProhibited || isNoHost, "\(response.status) \(response.text)")
        if isProhibited { #expect(response["Proxy-Status"]?.contains("destination_ip_prohibited") == true) }
    }

    @Test("T03 a name that resolves to such an address is refused", arguments: ["GET", "CONNECT"])
    func refusesNames(method: String) throws {
        let proxy = try TestProxy("resolve: {meta.test: 169.254.169.254, six.test: 'fd00:ec2::254', link.test: 'fe80::1'}")
        for host in ["meta.test", "six.test", "link.test", "META.test", "meta.test."] {
            let client = try RawClient(port: proxy.port, owner: proxy)
            let target = method == "GET" ? "http://\(host)/" : "\(host):443"
            client.send("\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            let response = try client.readResponse()
            #expect(response.status == 403 && response.code == "destination_prohibited", "\(host): \(response.text)")
        }
    }

    @Test("T03 egress.addresses.deny refuses its hosts, by name and by address", arguments: ["GET", "CONNECT"])
    func refusesSettings(method: String) throws {
        let stage = try Stage(
            "{egress: {addresses: {deny: [127.0.0.0/8]}}, resolve: {own.test: 127.0.0.1}, tunnel: {ports: any}}"
        ) {
            _, connection in
            connection.respond()
        }
        for host in ["127.0.0.1", "own.test", "[::ffff:127.0.0.1]"] {
            let client = try stage.client()
            let authority = "\(host):\(stage.origin.port)"
            let target = method == "GET" ? "http://\(authority)/" : authority
            client.send("\(method) \(target) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
            let response = try client.readResponse()
            #expect(response.status == 403 && response.code == "destination_prohibited", "\(host): \(response.text)")
        }
        #expect(stage.origin.connectionCount == 0)
    }

    @Test("T04 a name that changes to a refused address is refused, whatever it resolved to before")
    func refusesRebinding() throws {
        let stage = try Stage("resolve: {rebind.test: 127.0.0.1}") { _, connection in
            connection.respond(fields: "Connection: close\r\n", body: "vetted")
            return false
        }
        #expect(try stage.fetch("/", host: "rebind.test").text == "vetted")
        try stage.proxy.reload("resolve: {rebind.test: 169.254.169.254}")
        #expect(try stage.fetch("/", host: "rebind.test").code == "destination_prohibited")
        #expect(stage.origin.connectionCount == 1)
    }

    @Test("T01 a listener on non-loopback addresses without a list of clients is refused when the settings are read")
    func refusesOpenProxy() throws {
        for address in ["0.0.0.0:3180", "[::]:3180", "192.0.2.1:3180"] {
            #expect(throws: SettingsRefused.self, "\(address)") { try TestProxy.settings("listen: ['\(address)']") }
            _ = try TestProxy.settings("{listen: ['\(address)'], clients: {allow: [192.0.2.0/24]}}")
        }
        _ = try TestProxy.settings("listen: ['127.0.0.1:3180', '[::1]:3180']")
    }

    @Test("T02 a client from another machine gets 403 unless it is on the list", .enabled(if: OwnAddress.beyondLoopback != nil))
    func refusesStrangers() throws {
        let own = try #require(OwnAddress.beyondLoopback)
        let proxy = try TestProxy("clients: {allow: [203.0.113.0/24]}", host: "0.0.0.0")
        let stranger = try RawClient(port: proxy.port, host: own, owner: proxy)
        let refused = try stranger.readResponse()
        #expect(refused.status == 403 && refused.code == "client_not_allowed")
        #expect(stranger.isClosedByPeer())
        let local = try RawClient(port: proxy.port, owner: proxy)
        local.send("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try local.readResponse(to: "OPTIONS").status == 200)

        let open = try TestProxy("clients: {allow: [\(own)/32]}", host: "0.0.0.0")
        let friend = try RawClient(port: open.port, host: own, owner: open)
        friend.send("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try friend.readResponse(to: "OPTIONS").status == 200)
    }

    @Test(
        "T47 a request that returns to the proxy is 508",
        arguments: ["127.0.0.1", "localhost", "0.0.0.0", "[::1]", "LOCALHOST."])
    func findsLoops(host: String) throws {
        let proxy = try TestProxy()
        let client = try RawClient(port: proxy.port, owner: proxy)
        client.send("GET http://\(host):\(proxy.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.status == 508 && response.code == "loop_detected")
    }

    @Test(
        "T47 a tunnel to the proxy itself is 508, in every spelling of its address",
        arguments: ["127.0.0.1", "2130706433", "0x7f.1", "127.1", "0", "0.0.0.0", "[::ffff:127.0.0.1]", "own.test", "two.test"])
    func findsLoopsOfTunnels(host: String) throws {
        let proxy = try TestProxy("{\(Self.tunnels)}")
        try expectLoop(through: proxy, to: host)
    }

    @Test(
        "T47 if the proxy listens on all addresses, a tunnel to any address of this machine is 508",
        arguments: ["127.0.0.1", "127.0.0.2", "0", "own.test", OwnAddress.beyondLoopback ?? "127.0.0.3"])
    func findsLoopsOfWildcard(host: String) throws {
        let proxy = try TestProxy("{\(Self.tunnels), clients: {allow: [203.0.113.0/24]}}", host: "0.0.0.0")
        try expectLoop(through: proxy, to: host)
    }

    @Test("T47 an origin on this machine is not mistaken for the proxy's listener, whatever its address")
    func reachesNeighbours() throws {
        let stage = try Stage("tunnel: {ports: any}") { _, connection in connection.respond(body: "neighbour") }
        let client = try stage.client()
        client.send("CONNECT 0:\(stage.origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readResponse(to: "CONNECT").status == 200)
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readResponse().text == "neighbour")
    }

    private static let tunnels = "tunnel: {ports: any}, resolve: {own.test: 127.0.0.1, two.test: [127.0.0.1, 127.0.0.1]}"

    private func expectLoop(through proxy: TestProxy, to host: String) throws {
        let client = try RawClient(port: proxy.port, owner: proxy)
        client.send("CONNECT \(host):\(proxy.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.status == 508 && response.code == "loop_detected")
    }

    @Test("T47 a Via with the proxy's own name is 508, and one with another name is not")
    func findsOwnVia() throws {
        let stage = try Stage { _, connection in connection.respond() }
        #expect(try stage.fetch("/", fields: "Via: 1.0 a, HTTP/1.1 larder (x)\r\n").status == 508)
        #expect(try stage.fetch("/", fields: "Via: 1.1 larder-two, 1.1 other\r\n").status == 200)
    }

    @Test("T47 a CONNECT to an upstream proxy carries Via, so that a CONNECT that returns gets 508")
    func findsLoopsThroughUpstreamProxy() throws {
        let upstream = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            _ = connection.readToEnd()
        }
        defer { upstream.stop() }
        let proxy = try TestProxy("upstream: {proxy: 'http://127.0.0.1:\(upstream.port)'}")
        func connect(_ via: String) throws -> ReceivedResponse {
            let client = try RawClient(port: proxy.port, owner: proxy)
            client.send("CONNECT one.test:443 HTTP/1.1\r\nHost: one.test:443\r\nVia: \(via)\r\n\r\n")
            return try client.readResponse(to: "CONNECT")
        }
        #expect(try connect("1.0 first").status == 200)
        #expect(upstream.requestHeads.first?.contains("\r\nVia: 1.0 first, 1.1 larder\r\n") == true)
        #expect(try connect("1.0 first, 1.1 larder").status == 508)
    }

    @Test("T47 the proxy ignores http_proxy and ALL_PROXY in its environment")
    func ignoresEnvironment() throws {
        setenv("http_proxy", "http://127.0.0.1:1", 1)
        setenv("ALL_PROXY", "http://127.0.0.1:1", 1)
        defer {
            unsetenv("http_proxy")
            unsetenv("ALL_PROXY")
        }
        let stage = try Stage { _, connection in connection.respond(body: "direct") }
        #expect(try stage.fetch("/").text == "direct")
    }

    @Test("T48 a redirect is passed on and not followed; no cookie is kept; nothing is added to the request")
    func addsNothing() throws {
        let stage = try Stage { request, connection in
            connection.respond("302 Found", fields: "Location: /elsewhere\r\nSet-Cookie: a=b\r\n")
        }
        #expect(try stage.fetch("/from").status == 302)
        #expect(try stage.fetch("/from").status == 302)
        for head in stage.origin.requestHeads {
            let request = OriginRequest(head: head)
            #expect(request.target == "/from")
            #expect(request.lines.map { $0.name.lowercased() } == ["host", "via"])
        }
    }
}
