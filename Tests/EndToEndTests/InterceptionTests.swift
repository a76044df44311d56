import ClientPasswords
import Glibc
import HTTPMessage
import ProxyServer
import ServerTrust
import TestSupport
import Testing

@Suite("CONNECT by host: intercept")
struct InterceptionTests {
    @Test("A response fetched in a tunnel is stored, and served to every client that requests the URL", arguments: [1, 4])
    func storesAndServes(loops: Int) throws {
        let stage = try InterceptingStage(loops: loops)
        let first = try stage.fetch("/a")
        #expect(first.text == "answer to GET /a" && first.cacheStatus == "Larder; fwd=uri-miss; stored")
        let second = try stage.fetch("/a")
        #expect(second.text == "answer to GET /a" && second.cacheStatus.hasPrefix("Larder; hit"))
        // The same URL without a tunnel.
        let client = try RawClient(port: stage.proxy.port, owner: stage)
        client.send(stage.head("https://one.test:\(stage.origin.port)/a"))
        #expect(try client.readResponse().cacheStatus.hasPrefix("Larder; hit"))
        #expect(stage.origin.requestHeads.count == 1)
        #expect(try stage.logged("connect").filter { !$0.isEmpty } == ["intercept", "intercept"])
        #expect(try stage.logged("url").contains("https://one.test:\(stage.origin.port)/a"))
    }

    @Test("One connection carries many requests, also pipelined, with their responses in order")
    func keepsAlive() throws {
        let stage = try InterceptingStage()
        let client = try stage.secure()
        for path in ["/1", "/2", "/1"] {
            client.send(stage.head(path))
            #expect(try client.readResponse().text == "answer to GET \(path)")
        }
        client.send(stage.head("/3") + stage.head("/1") + stage.head("/4"))
        for path in ["/3", "/1", "/4"] { #expect(try client.readResponse().text == "answer to GET \(path)") }
        #expect(stage.origin.requestHeads.count == 4)
    }

    @Test(
        "The leaf certificate names only the host, and TLS uses the version and protocol that the client offers",
        arguments: [0x0303, 0x0304])
    func showsLeaf(version: Int32) throws {
        let stage = try InterceptingStage()
        let client = try stage.secure {
            $0.greatestVersion = version
            $0.protocols = ["h2", "http/1.1"]
        }
        let agreed = try #require(client.agreed)
        #expect(agreed.version == (version == 0x0303 ? "TLSv1.2" : "TLSv1.3"))
        #expect(agreed.protocolName == "h2")
        let leaf = try #require(Certificate(der: agreed.certificate))
        #expect(leaf.facts.names == ["one.test"])
    }

    @Test(
        "A client resumes its session with a ticket, but not for another host",
        arguments: [0x0303, 0x0304])
    func resumes(version: Int32) throws {
        let stage = try InterceptingStage()
        func client(_ host: String, _ ticket: TLSClient.Ticket?) throws -> RawClient {
            let client = try stage.secure(host) {
                $0.greatestVersion = version
                $0.ticket = ticket
            }
            client.send(stage.head("/", host: host))
            _ = try client.readResponse()
            return client
        }
        let first = try client("one.test", nil)
        let ticket = try #require(first.ticket)
        #expect(try client("one.test", ticket).agreed?.isResumed == true)
        #expect(try client("two.test", ticket).agreed?.isResumed == false)
    }

    @Test("After a reload earlier tickets are not accepted")
    func reloadEndsTickets() throws {
        let stage = try InterceptingStage()
        let first = try stage.secure()
        first.send(stage.head("/"))
        _ = try first.readResponse()
        let ticket = try #require(first.ticket)
        let ours = stage.ours
        let trust = try SecureStage.trust(stage.authority)
        try stage.proxy.reload(InterceptingStage.yaml) {
            $0.transport.trust = trust
            $0.transport.connect = InterceptingStage.policy { _ in }
            $0.authority = ours
        }
        #expect(try stage.secure { $0.ticket = ticket }.agreed?.isResumed == false)
        // An open connection continues.
        first.send(stage.head("/"))
        #expect(try first.readResponse().status == 200)
    }

    @Test("A body of several megabytes passes complete, both ways")
    func carriesBodies() throws {
        let body = String(repeating: "0123456789abcdef\n", count: 300_000)
        let stage = try InterceptingStage(answer: { request, connection in
            let content = connection.readBody(of: request) ?? []
            connection.respond(body: content.isEmpty ? body : "got \(content.count)")
            return true
        })
        let client = try stage.secure()
        client.send(stage.head("/down"))
        #expect(try client.readResponse().text == body)
        client.send(stage.head("/up", method: "POST", fields: "Content-Length: \(body.utf8.count)\r\n") + body)
        #expect(try client.readResponse(to: "POST").text == "got 5100000")
    }

    @Test("An untrusted server gives a 502 inside TLS, and receives no byte of the request (T30, T32)")
    func tellsOfBadServer() throws {
        let stage = try InterceptingStage(originNames: "DNS:elsewhere.test")
        let response = try stage.fetch("/secret")
        #expect(response.status == 502 && response.code == "certificate_not_trusted" && response.detail == "host_mismatch")
        #expect(stage.origin.requestHeads.isEmpty)
    }

    @Test("An unreachable host gives an error inside TLS, and its stored responses are served")
    func servesWithoutOrigin() throws {
        let stage = try InterceptingStage()
        _ = try stage.fetch("/a")
        stage.origin.stop()
        #expect(try stage.fetch("/a").cacheStatus.hasPrefix("Larder; hit"))
        #expect(try stage.fetch("/b").code == "connection_refused")
    }

    // MARK: The host of a request (T17)

    @Test("A Host field or an absolute target for another host than the tunnel's gets 421 (T17)")
    func refusesOtherHosts() throws {
        let stage = try InterceptingStage()
        let client = try stage.secure()
        let port = stage.origin.port
        for head in [
            stage.head("/", host: "two.test"), "GET / HTTP/1.1\r\nHost: one.test\r\n\r\n",
            stage.head("https://two.test:\(port)/"), stage.head("http://one.test:\(port)/"),
            "GET https://one.test:\(port)/ HTTP/1.1\r\nHost: two.test:\(port)\r\n\r\n",
        ] {
            client.send(head)
            let response = try client.readResponse()
            #expect(response.status == 421 && response.code == "misdirected_request", "\(head)")
        }
        client.send(stage.head("https://ONE.test:\(port)/x"))
        #expect(try client.readResponse().text == "answer to GET /x")
        client.send("GET /y HTTP/1.0\r\n\r\n")
        #expect(try client.readResponse().text == "answer to GET /y")
        let other = try stage.secure()
        other.send("CONNECT one.test:\(port) HTTP/1.1\r\nHost: one.test:\(port)\r\n\r\n")
        #expect(try other.readResponse().code == "misdirected_request")
        #expect(stage.origin.requestHeads.count == 2)
        let urls = try stage.logged("url")
        #expect(urls.filter { $0 == "https://one.test:\(port)/" }.count == 3, "\(urls)")
        #expect(!urls.contains { $0.hasPrefix("/") }, "\(urls)")
    }

    @Test("A ClientHello for another host than the tunnel's ends with unrecognized_name (T17)")
    func refusesOtherName() throws {
        let stage = try InterceptingStage()
        let client = try stage.connect("one.test")
        #expect(client.startTLS(stage.terms("two.test")) == .alert(112))
        #expect(stage.origin.requestHeads.isEmpty)
        #expect(try stage.logged("detail") == ["server_name_mismatch"])
    }

    @Test("A tunnel to an address is for the name in the ClientHello, or for the address if there is none")
    func namesAddresses() throws {
        let stage = try InterceptingStage()
        let named = try stage.connect("127.0.0.1")
        #expect(named.startTLS(stage.terms("one.test")) == .done)
        named.send(stage.head("/a"))
        #expect(try named.readResponse().text == "answer to GET /a")
        let bare = try stage.connect("127.0.0.1")
        #expect(bare.startTLS(stage.terms(nil)) == .done)
        let leaf = try #require(Certificate(der: bare.agreed?.certificate ?? []))
        #expect(leaf.facts.names == ["127.0.0.1"])
        bare.send(stage.head("/b", host: "127.0.0.1"))
        #expect(try bare.readResponse().text == "answer to GET /b")
    }

    @Test("http and https of one host are stored separately (T19)")
    func keepsSchemesApart() throws {
        let stage = try InterceptingStage()
        _ = try stage.fetch("/a")
        let client = try RawClient(port: stage.proxy.port, owner: stage)
        client.send(stage.head("http://one.test:\(stage.origin.port)/a"))
        #expect(try client.readResponse().cacheStatus.contains("fwd=uri-miss"))
    }

    @Test(
        "However the host is spelled, requests in the tunnel are for it",
        arguments: [
            ("one.test.", "one.test."), ("ONE.test", "one.test"), ("127.0.0.1", "127.0.0.1"), ("127.1", "127.1"),
            ("[::ffff:7f00:1]", "[::ffff:7f00:1]"),
        ])
    func takesSpellings(authority: String, host: String) throws {
        let stage = try InterceptingStage()
        let client = try stage.connect(authority)
        #expect(client.startTLS(stage.terms(authority.contains("test") ? "one.test" : nil)) == .done)
        client.send(stage.head("/a", host: host))
        let response = try client.readResponse()
        // No certificate contains an unusual spelling of an address, so the server is not trusted for it.
        if host.contains("test") || host == "127.0.0.1" {
            #expect(response.text == "answer to GET /a")
        } else {
            #expect(response.status == 502, "\(response.text)")
        }
        #expect(
            try stage.logged("url").contains { $0.hasPrefix("https://\(host.lowercased().hasSuffix(".") ? "one.test" : host):") })
    }

    @Test("A plain-text request in a tunnel to an address goes to the host of its Host field")
    func namesInPlainText() throws {
        let plain = ScriptedOrigin.answering(InterceptingStage.answersPath)
        defer { plain.stop() }
        let stage = try InterceptingStage()
        let client = try stage.connect("127.0.0.1", port: plain.port)
        client.send("GET /p HTTP/1.1\r\nHost: one.test:\(plain.port)\r\n\r\n")
        #expect(try client.readResponse().text == "answer to GET /p")
        #expect(try stage.logged("url").contains("http://one.test:\(plain.port)/p"))
    }

    @Test("A client whose password must be checked first is intercepted too, and needs no credentials in the tunnel")
    func asksForPasswords() throws {
        let passwords = try PasswordFile(
            parsing: Array("alice:$2y$08$abcdefghijklmnopqrstuuvbcBqwD0vqGp5cw/xK4wy0Mtx9M8.Zy".utf8))
        let stage = try InterceptingStage(change: {
            $0.admission.passwords = passwords
            $0.admission.asked = .all
            $0.timeouts.firstOctets = 60_000
        })
        let client = try RawClient(port: stage.proxy.port, owner: stage)
        let credentials = Base64.encode(Array("alice:open sesame".utf8))
        client.send(
            stage.head(
                "one.test:\(stage.origin.port)", method: "CONNECT", fields: "Proxy-Authorization: Basic \(credentials)\r\n"))
        #expect(try client.readResponse(to: "CONNECT").status == 200)
        #expect(client.startTLS(stage.terms()) == .done)
        client.send(stage.head("/a"))
        #expect(try client.readResponse().text == "answer to GET /a")
    }

    @Test("A silent client gets no tunnel to the server, and is disconnected after its timeout")
    func waitsForTheSilent() throws {
        let stage = try InterceptingStage(change: {
            $0.timeouts.firstOctets = 50
            $0.timeouts.clientHandshake = 400
        })
        let silent = try stage.connect()
        #expect(silent.isClosedByPeer())
        #expect(stage.origin.connectionCount == 0)
        // The timeout for the first bytes of other tunnels does not apply to an intercepted tunnel.
        let patient = try InterceptingStage(change: {
            $0.timeouts.firstOctets = 50
            $0.timeouts.clientHandshake = 60_000
        })
        let late = try patient.connect()
        #expect(!late.hasInput(withinMilliseconds: 150))
        #expect(late.startTLS(patient.terms()) == .done)
    }

    @Test("A client that sends a close_notify gets its response and a close_notify")
    func endsInOrder() throws {
        let stage = try InterceptingStage()
        let client = try stage.secure()
        client.send(stage.head("/a"))
        client.endTLS()
        #expect(try client.readResponse().text == "answer to GET /a")
        #expect(try !client.receive())
        let idle = try stage.secure()
        idle.endTLS()
        #expect(try !idle.receive())
    }

    // MARK: Hosts that are not intercepted

    @Test("Hosts with the policy tunnel, excepted hosts and denied hosts are not intercepted")
    func leavesOthersAlone() throws {
        let stage = try InterceptingStage(connect: { policy in
            HostScope(host: "two.test").map { policy.exceptFromInterception($0) }
        })
        for host in ["tunnel.test", "two.test"] {
            let client = try stage.connect(host)
            #expect(client.startTLS(TLSClient.Terms(serverName: host, anchor: stage.authority.der)) == .done, "\(host)")
            client.send(stage.head("/", host: host))
            #expect(try client.readResponse()["Via"] == nil)
        }
        let client = try RawClient(port: stage.proxy.port, owner: stage)
        client.send("CONNECT denied.test:443 HTTP/1.1\r\nHost: denied.test:443\r\n\r\n")
        #expect(try client.readResponse().code == "connect_denied")
    }

    @Test("A client that offers only HTTP/2 gets a tunnel to a verified server")
    func tunnelsHTTP2() throws {
        let stage = try InterceptingStage()
        let client = try stage.connect()
        var terms = TLSClient.Terms(serverName: "one.test", anchor: stage.authority.der)
        terms.protocols = ["h2"]
        #expect(client.startTLS(terms) == .done)
        client.send(stage.head("/"))
        #expect(try client.readResponse()["Via"] == nil)
        client.close()
        #expect(try stage.logged("connect") == ["probe"])
        #expect(try stage.logged("uninspected") == ["no_http1_offered"])
    }

    @Test("A client that offers only HTTP/1.0 uses it in the tunnel, with rules and the store", arguments: [0x0303, 0x0304])
    func servesHTTP10(version: Int32) throws {
        let stage = try InterceptingStage("rules: [{name: no, match: {host: one.test, path: /denied}, deny: {reason: no}}]")
        func ask(_ path: String) throws -> ReceivedResponse {
            let client = try stage.secure {
                $0.greatestVersion = version
                $0.protocols = ["http/1.0"]
            }
            #expect(client.agreed?.protocolName == "http/1.0")
            client.send("GET \(path) HTTP/1.0\r\nHost: one.test:\(stage.origin.port)\r\n\r\n")
            let answer = try client.readResponse()
            #expect(client.isClosedByPeer())
            return answer
        }
        #expect(try ask("/a").text == "answer to GET /a")
        #expect(try ask("/a").cacheStatus.hasPrefix("Larder; hit"))
        #expect(try ask("/denied").code == "denied_by_rule")
        #expect(stage.origin.requestHeads.count == 1)
        #expect(try stage.logged("uninspected").allSatisfy(\.isEmpty))
    }

    @Test("A rule whose mode forwards nothing refuses tunnels that would hide their requests", arguments: ["/", "/a"])
    func closesHiddenTunnels(path: String) throws {
        let stage = try InterceptingStage("rules: [{name: closed, match: {host: one.test, path: \"\(path)*\"}, mode: offline}]")
        let client = try stage.connect()
        var terms = stage.terms()
        terms.protocols = ["h2"]
        #expect(client.startTLS(terms) == .alert(49))
        #expect(try stage.logged("error") == ["offline_miss"])
        stage.origin.stop()
        #expect(stage.origin.connectionCount == 0)
    }

    @Test("If other protocols are denied, a client that offers only HTTP/2 gets a no_application_protocol alert")
    func deniesHTTP2() throws {
        let stage = try InterceptingStage(connect: { $0.tunnelsOtherProtocols = false })
        let client = try stage.connect()
        var terms = stage.terms()
        terms.protocols = ["h2"]
        #expect(client.startTLS(terms) == .alert(120))
        #expect(try stage.logged("detail") == ["no_http1_offered"])
    }

    @Test("A client that offers only HTTP/2 gets no tunnel to an untrusted server")
    func judgesForHTTP2() throws {
        let stage = try InterceptingStage(originNames: "DNS:elsewhere.test")
        let client = try stage.connect()
        var terms = TLSClient.Terms(serverName: "one.test")
        terms.protocols = ["h2"]
        #expect(client.startTLS(terms) == .alert(112))
        #expect(try stage.logged("error") == ["certificate_not_trusted"])
    }

    @Test("If a client rejects Larder's certificate, the log has the client's alert")
    func namesUnbelievers() throws {
        let stage = try InterceptingStage()
        let client = try stage.connect()
        #expect(client.startTLS(TLSClient.Terms(serverName: "one.test", anchor: stage.authority.der)) == .failed)
        client.close()
        try eventually { stage.proxy.server.connectionCount == 0 }
        #expect(try stage.logged("error") == ["client_refused_certificate"])
        #expect(try stage.logged("detail") == ["unknown_ca"])
    }

    @Test(
        "If the setting is on, a host whose client rejected the certificate gets tunnels afterwards, unless a setting intercepts it"
    )
    func learnsTunnels() throws {
        let stage = try InterceptingStage(connect: { policy in
            policy.refusalsKeptMilliseconds = 60_000
            HostScope(host: "two.test").map { _ = policy.insert(.intercept, for: $0) }
        })
        for host in ["one.test", "two.test"] {
            let stranger = TLSClient.Terms(serverName: host, anchor: stage.authority.der)
            #expect(try stage.connect(host).startTLS(stranger) == .failed)
            // The client's alert may not have arrived yet.
            try eventually { try stage.connect(host).startTLS(stranger) == (host == "one.test" ? .done : .failed) }
        }
    }

    @Test("A host outside the CA's name constraints is refused, and the log has the reason (T28)")
    func holdsToConstraint() throws {
        let stage = try InterceptingStage(constrainedTo: ["one.test"])
        #expect(try stage.fetch("/").status == 200)
        #expect(try stage.connect("two.test").startTLS(stage.terms("two.test")) == .alert(49))
        #expect(try stage.logged("detail").contains("outside_authority_constraint"))
    }

    // MARK: Plain HTTP in a tunnel

    @Test("Plain HTTP in a tunnel is answered, and stored under its http URL", arguments: ["one.test", "tunnel.test"])
    func answersPlainHTTP(host: String) throws {
        let plain = ScriptedOrigin.answering(InterceptingStage.answersPath)
        defer { plain.stop() }
        let stage = try InterceptingStage()
        let isEntered = host == "one.test"
        for isFirst in [true, false] {
            let client = try stage.connect(host, port: plain.port)
            client.send("GET /p HTTP/1.1\r\nHost: \(host):\(plain.port)\r\n\r\n")
            let response = try client.readResponse()
            #expect(response.text == "answer to GET /p")
            let status = isFirst ? "Larder; fwd=uri-miss; stored" : "Larder; hit"
            #expect(isEntered ? response.cacheStatus.hasPrefix(status) : response["Via"] == nil)
        }
        #expect(try stage.logged("connect").filter { !$0.isEmpty } == (isEntered ? ["http", "http"] : ["tunnel", "tunnel"]))
    }

    @Test("Bytes that are neither TLS nor HTTP get no tunnel to an intercepted host")
    func refusesOtherOctets() throws {
        let stage = try InterceptingStage()
        let client = try stage.connect()
        client.send("SSH-2.0-client\r\n")
        #expect(client.isClosedByPeer())
        #expect(stage.origin.requestHeads.isEmpty)
    }

    // MARK: Timeouts and limits (T36)

    @Test("A client that stops in the middle of its ClientHello is disconnected after its timeout")
    func limitsHandshake() throws {
        let stage = try InterceptingStage(change: { $0.timeouts.clientHandshake = 2_000 })
        let client = try stage.connect()
        client.send(bytes: [22, 3, 1, 2, 0, 1])
        #expect(client.isClosedByPeer())
        #expect(try stage.logged("detail") == ["client_hello_timeout"])
    }

    @Test("A hundred clients at once are all served, while some others have stopped in their handshakes")
    func servesMany() throws {
        let stage = try InterceptingStage(
            loops: 2,
            change: {
                // On a busy machine a client may take long for its part.
                $0.handshakeLimit = 4
                $0.timeouts.clientHandshake = 60_000
                $0.timeouts.undisturbedHandshake = 60_000
            })
        let stopped = try (0..<6).map { _ in try stage.connect() }
        for client in stopped { client.send(bytes: [22, 3, 1, 2, 0, 1]) }
        let (port, originPort, anchor) = (stage.proxy.port, stage.origin.port, stage.ours.root.der)
        let texts = try concurrently(100) { index in
            let client = try RawClient(port: port)
            client.send("CONNECT one.test:\(originPort) HTTP/1.1\r\nHost: one.test:\(originPort)\r\n\r\n")
            _ = try client.readResponse(to: "CONNECT")
            guard client.startTLS(TLSClient.Terms(serverName: "one.test", anchor: anchor)) == .done else { return "no TLS" }
            client.send("GET /\(index % 7) HTTP/1.1\r\nHost: one.test:\(originPort)\r\n\r\n")
            return try client.readResponse().text
        }
        for (index, text) in texts.enumerated() { #expect(text == "answer to GET /\(index % 7)") }
        #expect(stage.origin.requestHeads.count == 7)
    }

    @Test("Clients that stop in their handshakes are dropped for others long before their timeouts")
    func stoppedGiveWay() throws {
        let stage = try InterceptingStage(
            change: {
                $0.handshakeLimit = 4; $0.timeouts.clientHandshake = 60_000
            })
        let hello = TLSClient.hello(to: "one.test")
        // Each client occupies a handshake once it gets a response; the last two take the places of the first two.
        let stopped = try (0..<6).map { _ in
            let client = try stage.connect()
            client.send(bytes: hello)
            #expect(client.hasInput(withinMilliseconds: Deadline.milliseconds))
            return client
        }
        #expect(try stage.fetch("/a").text == "answer to GET /a")
        withExtendedLifetime(stopped) {}
        #expect(try stage.logged("detail").filter { $0 == "handshakes_busy" }.count == 3)
    }

    @Test("A client that leaves during its handshake and one that closes an idle connection leave no connection behind")
    func forgetsThoseWhoLeave() throws {
        let stage = try InterceptingStage()
        let client = try stage.connect()
        client.send(bytes: [22, 3, 1, 2, 0, 1])
        client.close()
        let idle = try stage.secure()
        idle.endTLS()
        #expect(idle.isClosedByPeer())
        idle.close()
        try eventually { stage.proxy.server.connectionCount == 0 }
    }

    @Test(
        "A drain waits a short time for a silent tunnel, half a ClientHello and half a handshake",
        arguments: [[], [22, 3, 1], TLSClient.hello(to: "one.test")])
    func drainsInterceptions(octets: [UInt8]) throws {
        let stage = try InterceptingStage(change: {
            $0.timeouts.clientHandshake = 60_000
            $0.timeouts.firstOctets = 60_000
            $0.timeouts.lingering = 200
        })
        let client = try stage.connect()
        client.send(bytes: octets)
        // The response on another tunnel shows that the bytes of this one have been read.
        #expect(try stage.fetch("/a").text == "answer to GET /a")
        let drained = Gate()
        stage.proxy.server.drain { drained.open() }
        #expect(drained.wait())
        client.close()
    }

    @Test("An upload whose head arrives in pieces after the handshake is read completely", arguments: [1_000, 40_000, 200_000])
    func hearsPieces(count: Int) throws {
        let stage = try InterceptingStage(answer: { request, connection in
            if request.method == "POST", connection.read(count: count) == nil { return false }
            return InterceptingStage.answersPath(request, connection)
        })
        let client = try stage.secure()
        let head = stage.head("/up", method: "POST", fields: "Content-Length: \(count)\r\n")
        client.send(String(head.prefix(30)))
        #expect(try stage.fetch("/a").text == "answer to GET /a")
        client.send(String(head.dropFirst(30)) + String(repeating: "x", count: count))
        #expect(try client.readResponse().text == "answer to POST /up")
    }

    @Test(
        "Requests that arrive together with the close of the client's sending side are all answered", arguments: [33, 100, 5_000])
    func answersAllBeforeTheEnd(count: Int) throws {
        let stage = try InterceptingStage()
        #expect(try stage.fetch("/a").text == "answer to GET /a")
        let client = try stage.secure()
        client.send(String(repeating: stage.head("/a"), count: count))
        client.endTLS()
        for _ in 0..<count { #expect(try client.readResponse().text == "answer to GET /a") }
        #expect(client.isClosedByPeer())
    }

    @Test(
        "A hundred clients that leave at once are all closed while others are served, and a last request before a close is answered"
    )
    func letsManyGo() throws {
        let stage = try InterceptingStage()
        #expect(try stage.fetch("/a").text == "answer to GET /a")
        let leaving = try (0..<100).map { _ in try stage.secure() }
        for (index, client) in leaving.enumerated() {
            switch index % 5 {
            case 0: client.endTLS()
            case 1: client.reset()
            case 2: client.endSending()
            case 3:
                client.send(stage.head("/a"))
                client.endTLS()
                client.endSending()
            default:
                // The beginning of a TLS record, without its rest.
                client.sendAsIs([23, 3, 3, 0])
                client.endSending()
            }
        }
        #expect(try stage.fetch("/a").text == "answer to GET /a")
        for (index, client) in leaving.enumerated() where index % 5 != 1 {
            if index % 5 == 3 { #expect(try client.readResponse().text == "answer to GET /a") }
            #expect(client.isClosedByPeer())
            client.close()
        }
        try eventually { stage.proxy.server.connectionCount == 0 }
    }

    @Test("An upload that arrives together with the close of the client's sending side is read completely and answered")
    func hearsUploadsToTheirEnd() throws {
        let stage = try InterceptingStage(answer: { request, connection in
            if request.method == "POST", connection.read(count: 200_000) == nil { return false }
            return InterceptingStage.answersPath(request, connection)
        })
        let client = try stage.secure()
        client.send(
            stage.head("/up", method: "POST", fields: "Content-Length: 200000\r\n") + String(repeating: "x", count: 200_000))
        client.endTLS()
        client.endSending()
        #expect(try client.readResponse().text == "answer to POST /up")
        #expect(client.isClosedByPeer())
    }

    @Test("Responses that take longer to send than the idle timeout are sent completely")
    func writesPastIdleTime() throws {
        let stage = try InterceptingStage(
            change: { $0.timeouts.clientIdle = 3_000 },
            answer: { _, connection in
                connection.respond(fields: "Cache-Control: max-age=600\r\n", body: String(repeating: "x", count: 4_000_000))
                return true
            })
        #expect(try stage.fetch("/large").body.count == 4_000_000)
        let client = try stage.secure()
        client.send(String(repeating: stage.head("/large"), count: 20))
        // The client reads nothing until another, idle connection has timed out.
        #expect(try stage.secure().isClosedByPeer())
        for _ in 0..<20 { #expect(try client.readResponse().body.count == 4_000_000) }
        #expect(client.isClosedByPeer())
    }
}
