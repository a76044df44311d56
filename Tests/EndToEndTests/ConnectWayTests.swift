import EventLoop
import ServerTrust
import TestSupport
import Testing
import UpstreamTransport

/// A proxy with CONNECT policies, and an origin that speaks TLS.
private final class GuardedStage {
    let authority = TestAuthority()
    let identity: TLSIdentity
    let origin: ScriptedOrigin
    let proxy: TestProxy

    static let yaml = """
        tunnel: {ports: any}
        resolve: {pinned.test: 127.0.0.1, other.test: 127.0.0.1, denied.test: 127.0.0.1}
        """

    /// - Parameters:
    ///   - isRight: whether the origin has the pinned key.
    ///   - script: the script of an origin without TLS.
    init(
        isRight: Bool = true, loops: Int = 1, headTimeout: Int? = nil, change: @escaping (inout ConnectPolicy) -> Void = { _ in },
        script: ScriptedOrigin.Script? = nil
    ) throws {
        let identity = authority.identity(names: "DNS:pinned.test,DNS:other.test,IP:127.0.0.1")
        self.identity = identity
        origin =
            if let script {
                ScriptedOrigin(script: script)
            } else {
                ScriptedOrigin(identity: identity) { connection in
                    while connection.readHead() != nil { connection.respond(body: "for \(connection.serverName ?? "nobody").") }
                }
            }
        let trust = try Self.trust(authority, pinned: isRight ? identity : authority.identity())
        proxy = try TestProxy(
            Self.yaml, loops: loops,
            change: {
                $0.transport.trust = trust
                $0.transport.connect = Self.connect(change)
                if let headTimeout { $0.timeouts.clientHead = headTimeout }
            })
    }

    deinit {
        proxy.stop()
        origin.stop()
    }

    private static func connect(_ change: (inout ConnectPolicy) -> Void = { _ in }) -> ConnectPolicy {
        var policy = ConnectPolicy()
        for (host, way) in [("pinned.test", ConnectWay.probe), ("denied.test", .deny)] {
            HostScope(host: host).map { _ = policy.insert(way, for: $0) }
        }
        change(&policy)
        return policy
    }

    private static func trust(_ authority: TestAuthority, pinned: TLSIdentity) throws -> TrustPolicySet {
        let anchors = TrustPolicy.Anchors.given(try TrustAnchors([try #require(Certificate(der: authority.der))]))
        let pins = try SecureStage.pins(pinned)
        return try TrustPolicySet(
            [.init(host: "pinned.test", policy: TrustPolicy(anchors: anchors, pins: pins))],
            fallback: .policy(TrustPolicy(anchors: anchors)))
    }

    func reload(pinned: TLSIdentity, change: @escaping (inout ConnectPolicy) -> Void = { _ in }) throws {
        let trust = try Self.trust(authority, pinned: pinned)
        try proxy.reload(Self.yaml) {
            $0.transport.trust = trust
            $0.transport.connect = Self.connect(change)
        }
    }

    func connect(_ host: String) throws -> (client: RawClient, response: ReceivedResponse) {
        let client = try RawClient(port: proxy.port, owner: self)
        client.send("CONNECT \(host):\(origin.port) HTTP/1.1\r\nHost: \(host):\(origin.port)\r\n\r\n")
        return (client, try client.readResponse(to: "CONNECT"))
    }

    /// Opens a tunnel to a host and sends a ClientHello for another name, or without a name.
    func handshake(_ host: String, naming name: String?) throws -> (TLSClient, TLSClient.Handshake) {
        let (client, response) = try connect(host)
        #expect(response.status == 200)
        let tls = TLSClient(client, serverName: name)
        return (tls, tls.handshake())
    }

    func fetch(_ host: String, naming name: String?) throws -> String {
        let (tls, outcome) = try handshake(host, naming: name)
        guard outcome == .done else { return "\(outcome)" }
        return String(tls.fetch("/", until: ".").split(separator: "\r\n").last ?? "")
    }

    /// The pin of the origin's key.
    var pin: String { get throws { "\(try #require(Certificate(der: identity.der)).publicKeyDigest)" } }

    /// Stops the proxy and returns this member of each log line.
    func logged(_ member: String) throws -> [String] {
        try proxy.logLines().map { line in
            line.firstRange(of: "\"\(member)\":\"").map { String(line[$0.upperBound...].prefix { $0 != "\"" }) } ?? ""
        }
    }
}

@Suite("CONNECT by host: tunnel, probe, deny")
struct ConnectWayTests {
    @Test("A server without the pinned key gets no tunnel, and receives only Larder's handshake", arguments: [1, 4])
    func refusesWrongPin(loops: Int) throws {
        let stage = try GuardedStage(isRight: false, loops: loops)
        let (client, response) = try stage.connect("pinned.test")
        #expect(response.status == 502)
        #expect(response.code == "certificate_not_trusted" && response.detail == "pin_mismatch")
        #expect(response["Proxy-Status"]?.contains("; error=tls_certificate_error; details=\"pin_mismatch\"") == true)
        client.close()
        #expect(try stage.logged("connect") == ["probe"])
        #expect(try stage.logged("detail") == ["pin_mismatch"])
        stage.origin.stop()
        #expect(stage.origin.connectionCount == 1 && stage.origin.failedHandshakeCount == 1)
        #expect(stage.origin.requestHeads.isEmpty)
    }

    @Test("A server with a pinned key gets tunnels, each after its own probe", arguments: [1, 4])
    func probesPinnedHosts(loops: Int) throws {
        let stage = try GuardedStage(loops: loops)
        for _ in 0..<4 { #expect(try stage.fetch("pinned.test", naming: "pinned.test") == "for pinned.test.") }
        #expect(stage.origin.connectionCount == 8)
        #expect(try stage.logged("connect") == ["probe", "probe", "probe", "probe"])
    }

    @Test("A probed host without pins gets one probe for all tunnels within a minute", arguments: [1, 4])
    func probesOnce(loops: Int) throws {
        let stage = try GuardedStage(loops: loops, change: Self.probesOther)
        for _ in 0..<4 { #expect(try stage.fetch("other.test", naming: "other.test") == "for other.test.") }
        #expect(try stage.fetch("other.test.", naming: "other.test") == "for other.test.")
        #expect(stage.origin.connectionCount == 6)
        // Tunnels of several loops end, and are logged, in any order.
        #expect(try stage.logged("connect").sorted() == ["probe", "probe_kept", "probe_kept", "probe_kept", "probe_kept"])
    }

    private static func probesOther(_ policy: inout ConnectPolicy) {
        HostScope(host: "other.test").map { _ = policy.insert(.probe, for: $0) }
    }

    @Test("A denied host gets 403, and Larder does not connect to it")
    func denies() throws {
        let stage = try GuardedStage()
        let (client, response) = try stage.connect("denied.test")
        #expect(response.status == 403 && response.code == "connect_denied")
        #expect(response["Proxy-Status"]?.contains("; error=http_request_denied; details=\"connect_denied\"") == true)
        client.close()
        #expect(stage.origin.connectionCount == 0)
        #expect(try stage.logged("connect") == ["deny"])
    }

    @Test("T33: a pin that a reload adds applies at once, whatever an earlier probe found")
    func heedsReload() throws {
        let stage = try GuardedStage()
        #expect(try stage.fetch("pinned.test", naming: "pinned.test") == "for pinned.test.")
        try stage.reload(pinned: stage.authority.identity())
        #expect(try stage.connect("pinned.test").response.status == 502)
        try stage.reload(pinned: stage.identity)
        #expect(try stage.fetch("pinned.test", naming: "pinned.test") == "for pinned.test.")
    }

    @Test(
        "A ClientHello for another host ends the tunnel with unrecognized_name where it would bypass pins or a denial",
        arguments: [
            ("pinned.test", "other.test", "server_name_mismatch"), ("other.test", "pinned.test", "server_name_mismatch"),
            ("other.test", "denied.test", "server_name_mismatch"), ("127.0.0.1", "denied.test", "server_name_mismatch"),
        ])
    func refusesName(host: String, name: String, reason: String) throws {
        let stage = try GuardedStage()
        #expect(try stage.handshake(host, naming: name).1 == .alert(112))
        #expect(try stage.logged("detail") == [reason])
        #expect(try stage.logged("error") == ["tunnel_refused"])
        #expect(try stage.logged("cache") == ["denied"])
        stage.origin.stop()
        #expect(stage.origin.requestHeads.isEmpty)
    }

    @Test("No byte of such a ClientHello reaches the server")
    func holdsBack() throws {
        let received = Guarded<[UInt8]?>(nil)
        let stage = try GuardedStage(script: { connection in
            let octets = connection.readToEnd()
            received.withLock { $0 = octets }
        })
        #expect(try stage.handshake("127.0.0.1", naming: "denied.test").1 == .alert(112))
        stage.proxy.stop()
        // The origin may accept the connection after Larder has closed it.
        try eventually { received.withLock { $0 } != nil }
        stage.origin.stop()
        #expect(received.withLock { $0 } == [])
    }

    @Test(
        "A ClientHello with another unprotected name, or without a name, passes",
        arguments: [
            ("other.test", "other.test"), ("other.test", nil), ("other.test", "third.test"), ("pinned.test", nil),
            ("127.0.0.1", nil),
            ("127.0.0.1", "other.test"),
        ] as [(String, String?)])
    func passesNames(host: String, name: String?) throws {
        let stage = try GuardedStage()
        #expect(try stage.fetch(host, naming: name) == "for \(name ?? "nobody").")
        #expect(try stage.logged("connect") == [host == "pinned.test" ? "probe" : "tunnel"])
    }

    @Test("In a tunnel to an address the ClientHello's name selects the policy: the server is verified before any byte passes")
    func judgesAddress() throws {
        let right = try GuardedStage()
        #expect(try right.fetch("127.0.0.1", naming: "pinned.test") == "for pinned.test.")
        #expect(try right.fetch("127.0.0.1", naming: "pinned.test") == "for pinned.test.")
        #expect(right.origin.connectionCount == 4)
        #expect(try right.logged("connect") == ["probe", "probe"])

        let unpinned = try GuardedStage(change: Self.probesOther)
        for _ in 0..<2 { #expect(try unpinned.fetch("127.0.0.1", naming: "other.test") == "for other.test.") }
        #expect(unpinned.origin.connectionCount == 3)
        #expect(try unpinned.logged("connect") == ["probe", "probe_kept"])

        let wrong = try GuardedStage(isRight: false)
        #expect(try wrong.handshake("127.0.0.1", naming: "pinned.test").1 == .alert(112))
        #expect(try wrong.logged("error") == ["certificate_not_trusted"])
        #expect(try wrong.logged("detail") == ["pin_mismatch"])
        wrong.origin.stop()
        #expect(wrong.origin.requestHeads.isEmpty)
    }

    @Test("T33: a tunnel opened under older settings passes nothing to a host that the new settings probe")
    func reloadBeforeHello() throws {
        let stage = try GuardedStage(isRight: false)
        let (client, response) = try stage.connect("other.test")
        #expect(response.status == 200)
        try stage.reload(pinned: stage.authority.identity(), change: Self.probesOther)
        // The response to this CONNECT shows that the loop has the new settings.
        #expect(try stage.connect("denied.test").response.status == 403)
        #expect(TLSClient(client, serverName: "other.test").handshake() == .alert(112))
        #expect(try stage.logged("error").contains("tunnel_refused"))
        #expect(try stage.logged("detail").contains("settings_changed"))
        stage.origin.stop()
        #expect(stage.origin.connectionCount == 1 && stage.origin.requestHeads.isEmpty)
    }

    @Test("The log has a probed server's certificate chain and host, and nothing for a cached verdict")
    func logsChains() throws {
        for host in ["other.test", "127.0.0.1"] {
            let stage = try GuardedStage(change: Self.probesOther)
            for _ in 0..<2 { #expect(try stage.fetch(host, naming: "other.test") == "for other.test.") }
            // Sorted by their start: the second tunnel may end first.
            let lines = try stage.proxy.logLines().sorted()
            let mark = "\"tls\":{\"host\":\"other.test:\(stage.origin.port)\",\"chain\":[{\"key\":\"\(try stage.pin)\""
            #expect(lines.map { $0.contains(mark) } == [true, false], "\(lines)")
        }
        let refused = try GuardedStage(isRight: false)
        #expect(try refused.connect("pinned.test").1.status == 502)
        #expect(try refused.proxy.logLines().allSatisfy { !$0.contains("\"tls\":") })
    }

    @Test(
        "If names are required, a ClientHello without a name is refused even if no host is guarded",
        arguments: [nil, "other.test"])
    func refusesMissingNameEverywhere(name: String?) throws {
        let stage = try GuardedStage(change: {
            $0 = ConnectPolicy()
            $0.allowsMissingName = false
        })
        #expect(try stage.handshake("pinned.test", naming: name).1 == (name == nil ? .alert(112) : .done))
        #expect(try stage.logged("detail") == [name == nil ? "server_name_missing" : ""])
    }

    @Test("If names are required, a ClientHello without a name ends the tunnel to a pinned host too")
    func refusesMissingName() throws {
        let stage = try GuardedStage(change: { $0.allowsMissingName = false })
        #expect(try stage.handshake("pinned.test", naming: nil).1 == .alert(112))
        #expect(try stage.logged("detail") == ["server_name_missing"])
    }

    @Test("Bytes that are not TLS do not reach a pinned host", arguments: ["GET / HTTP/1.1\r\n\r\n", "\u{16}\u{3}"])
    func refusesOthers(text: String) throws {
        let stage = try GuardedStage()
        let (client, response) = try stage.connect("pinned.test")
        #expect(response.status == 200)
        client.send(text)
        client.endSending()
        #expect(client.isClosedByPeer())
        #expect(try stage.logged("detail") == ["not_tls"])
        stage.origin.stop()
        #expect(stage.origin.requestHeads.isEmpty)
    }

    @Test("Protocols in which the server speaks first, or without TLS, pass to other hosts")
    func passesOthers() throws {
        let stage = try GuardedStage(script: { connection in
            connection.send("220 hello\r\n")
            connection.send(bytes: connection.readToEnd().reversed())
        })
        let (client, response) = try stage.connect("other.test")
        #expect(response.status == 200)
        #expect(try client.readLine() == "220 hello")
        client.send("abc")
        client.endSending()
        #expect(try client.readToEnd() == Array("cba".utf8))
    }

    @Test("A client that leaves before it sends anything is not logged as refused")
    func letsLeave() throws {
        let stage = try GuardedStage()
        let (client, _) = try stage.connect("pinned.test")
        client.endSending()
        // The server may still answer.
        _ = try client.readToEnd()
        #expect(try stage.logged("error") == [""])
    }

    @Test("An incomplete ClientHello ends the tunnel after its timeout")
    func limitsTime() throws {
        let stage = try GuardedStage(headTimeout: 3_000)
        let (client, _) = try stage.connect("other.test")
        client.send(bytes: [22, 3, 1, 0, 100, 1])
        #expect(client.isClosedByPeer())
        #expect(try stage.logged("detail") == ["client_hello_timeout"])
    }

    @Test("A ClientHello that is too long or malformed gets decode_error")
    func limitsLength() throws {
        for (octets, reason) in [
            ([22, 3, 1, 0, 4, 1, 0, 0x80, 0], "client_hello_too_long"), ([22, 3, 1, 0, 4, 2, 0, 0, 0], "malformed_client_hello"),
        ] as [([UInt8], String)] {
            let stage = try GuardedStage()
            let (client, _) = try stage.connect("other.test")
            client.send(bytes: octets)
            #expect(try client.readToEnd() == [21, 3, 3, 0, 2, 2, 50])
            #expect(try stage.logged("detail") == [reason])
        }
    }

    @Test("If no host is guarded, Larder inspects no ClientHello")
    func staysBlind() throws {
        let stage = try GuardedStage(change: { $0 = ConnectPolicy() })
        #expect(try stage.fetch("other.test", naming: "pinned.test") == "for pinned.test.")
        #expect(stage.origin.connectionCount == 1)
        #expect(try stage.logged("connect") == ["tunnel"])
    }
}
