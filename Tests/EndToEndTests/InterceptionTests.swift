import ClientPasswords
import Glibc
import HTTPMessage
import ProxyServer
import ServerTrust
import TestSupport
import Testing

@Suite("CONNECT by host: intercept")
struct InterceptionTests {
    @Test("What is fetched in a tunnel is stored, and served to whoever asks for the same URL", arguments: [1, 4])
    func storesAndServes(loops: Int) throws {
        let stage = try InterceptingStage(loops: loops)
        let first = try stage.fetch("/a")
        #expect(first.text == "answer to GET /a" && first.cacheStatus == "Larder; fwd=uri-miss; stored")
        let second = try stage.fetch("/a")
        #expect(second.text == "answer to GET /a" && second.cacheStatus.hasPrefix("Larder; hit"))
        // The same outside of any tunnel.
        let client = try RawClient(port: stage.proxy.port, owner: stage)
        client.send(stage.head("https://one.test:\(stage.origin.port)/a"))
        #expect(try client.readResponse().cacheStatus.hasPrefix("Larder; hit"))
        #expect(stage.origin.requestHeads.count == 1)
        #expect(try stage.logged("connect").filter { !$0.isEmpty } == ["intercept", "intercept"])
        #expect(try stage.logged("url").contains("https://one.test:\(stage.origin.port)/a"))
    }

    @Test("One connection carries many requests, also sent at once, each with its answer in order")
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

    @Test("The certificate names the host alone, and the client's TLS is what it asked for", arguments: [0x0303, 0x0304])
    func showsLeaf(version: Int32) throws {
        let stage = try InterceptingStage()
        let client = try stage.secure {
            $0.greatestVersion = version
            $0.protocols = ["h2", "http/1.1"]
        }
        let agreed = try #require(client.agreed)
        #expect(agreed.version == (version == 0x0303 ? "TLSv1.2" : "TLSv1.3"))
        #expect(agreed.protocolName == "http/1.1")
        let leaf = try #require(Certificate(der: agreed.certificate))
        #expect(leaf.facts.names == ["one.test"])
    }

    @Test(
        "A client that comes back with its ticket needs no full handshake, and one for another host does",
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

    @Test("Under settings that were read again no ticket of before is good")
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
        // A connection that stands goes on.
        first.send(stage.head("/"))
        #expect(try first.readResponse().status == 200)
    }

    @Test("A body of several megabytes comes whole, both ways")
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

    @Test("A server that is not believed is told of in a 502 inside TLS, and gets no byte of the request (T30, T32)")
    func tellsOfBadServer() throws {
        let stage = try InterceptingStage(originNames: "DNS:elsewhere.test")
        let response = try stage.fetch("/secret")
        #expect(response.status == 502 && response.code == "certificate_not_trusted" && response.detail == "host_mismatch")
        #expect(stage.origin.requestHeads.isEmpty)
    }

    @Test("A host that cannot be reached is told of inside TLS, and what is stored of it is served")
    func servesWithoutOrigin() throws {
        let stage = try InterceptingStage()
        _ = try stage.fetch("/a")
        stage.origin.stop()
        #expect(try stage.fetch("/a").cacheStatus.hasPrefix("Larder; hit"))
        #expect(try stage.fetch("/b").code == "connection_refused")
    }

    // MARK: Whom the client means (T17)

    @Test("A Host field or an absolute target that names another than the tunnel is answered 421 (T17)")
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

    @Test("A ClientHello that names another than the tunnel ends with unrecognized_name (T17)")
    func refusesOtherName() throws {
        let stage = try InterceptingStage()
        let client = try stage.connect("one.test")
        #expect(client.startTLS(stage.terms("two.test")) == .alert(112))
        #expect(stage.origin.requestHeads.isEmpty)
        #expect(try stage.logged("detail") == ["server_name_mismatch"])
    }

    @Test("A tunnel to an address is for the name in the ClientHello, or for the address where there is none")
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

    @Test("http and https of one host are stored apart (T19)")
    func keepsSchemesApart() throws {
        let stage = try InterceptingStage()
        _ = try stage.fetch("/a")
        let client = try RawClient(port: stage.proxy.port, owner: stage)
        client.send(stage.head("http://one.test:\(stage.origin.port)/a"))
        #expect(try client.readResponse().cacheStatus.contains("fwd=uri-miss"))
    }

    @Test(
        "However the host is written, what is asked inside is for it",
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
        // What is no usual way to write an address is in no certificate, and the server is not believed to be it.
        if host.contains("test") || host == "127.0.0.1" {
            #expect(response.text == "answer to GET /a")
        } else {
            #expect(response.status == 502, "\(response.text)")
        }
        #expect(
            try stage.logged("url").contains { $0.hasPrefix("https://\(host.lowercased().hasSuffix(".") ? "one.test" : host):") })
    }

    @Test("A request in plain text in a tunnel to an address says itself whom it means")
    func namesInPlainText() throws {
        let plain = ScriptedOrigin.answering(InterceptingStage.answersPath)
        defer { plain.stop() }
        let stage = try InterceptingStage()
        let client = try stage.connect("127.0.0.1", port: plain.port)
        client.send("GET /p HTTP/1.1\r\nHost: one.test:\(plain.port)\r\n\r\n")
        #expect(try client.readResponse().text == "answer to GET /p")
        #expect(try stage.logged("url").contains("http://one.test:\(plain.port)/p"))
    }

    @Test("Whose password has to be looked at first is intercepted as others are, and asked for none inside")
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

    @Test("Who says nothing for a time is not let past, and gets no server")
    func waitsForTheSilent() throws {
        let stage = try InterceptingStage(change: {
            $0.timeouts.firstOctets = 50
            $0.timeouts.clientHandshake = 400
        })
        let silent = try stage.connect()
        #expect(silent.isClosedByPeer())
        #expect(stage.origin.connectionCount == 0)
        // The time for the first bytes of other tunnels is not that of this one.
        let patient = try InterceptingStage(change: {
            $0.timeouts.firstOctets = 50
            $0.timeouts.clientHandshake = 60_000
        })
        let late = try patient.connect()
        #expect(!late.hasInput(withinMilliseconds: 150))
        #expect(late.startTLS(patient.terms()) == .done)
    }

    @Test("A client that has said that it sends no more is answered, and told the same")
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

    // MARK: What is not intercepted

    @Test("A host with a tunnel of its own is not intercepted, nor one that is never intercepted, nor one that is denied")
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

    @Test("A client that offers HTTP/2 alone gets a tunnel to a server that has been judged")
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

    @Test("A client that offers HTTP/1.0 alone speaks it inside: rules and store hold for it", arguments: [0x0303, 0x0304])
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

    @Test("A rule whose mode lets nothing out closes tunnels that would hide their requests", arguments: ["/", "/a"])
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

    @Test("Where other protocols are denied, a client that offers HTTP/2 alone is told that none of its own is spoken")
    func deniesHTTP2() throws {
        let stage = try InterceptingStage(connect: { $0.tunnelsOtherProtocols = false })
        let client = try stage.connect()
        var terms = stage.terms()
        terms.protocols = ["h2"]
        #expect(client.startTLS(terms) == .alert(120))
        #expect(try stage.logged("detail") == ["no_http1_offered"])
    }

    @Test("A server that is not believed gets no tunnel from a client that offers HTTP/2 alone")
    func judgesForHTTP2() throws {
        let stage = try InterceptingStage(originNames: "DNS:elsewhere.test")
        let client = try stage.connect()
        var terms = TLSClient.Terms(serverName: "one.test")
        terms.protocols = ["h2"]
        #expect(client.startTLS(terms) == .alert(112))
        #expect(try stage.logged("error") == ["certificate_not_trusted"])
    }

    @Test("A client that does not believe our authority is named in the log with what it said")
    func namesUnbelievers() throws {
        let stage = try InterceptingStage()
        let client = try stage.connect()
        #expect(client.startTLS(TLSClient.Terms(serverName: "one.test", anchor: stage.authority.der)) == .failed)
        client.close()
        try eventually { stage.proxy.server.connectionCount == 0 }
        #expect(try stage.logged("error") == ["client_refused_certificate"])
        #expect(try stage.logged("detail") == ["unknown_ca"])
    }

    @Test("Where it is set, such a host gets tunnels from then on; not one that the settings have intercepted")
    func learnsTunnels() throws {
        let stage = try InterceptingStage(connect: { policy in
            policy.refusalsKeptMilliseconds = 60_000
            HostScope(host: "two.test").map { _ = policy.insert(.intercept, for: $0) }
        })
        for host in ["one.test", "two.test"] {
            let stranger = TLSClient.Terms(serverName: host, anchor: stage.authority.der)
            #expect(try stage.connect(host).startTLS(stranger) == .failed)
            // The alert is on its way.
            try eventually { try stage.connect(host).startTLS(stranger) == (host == "one.test" ? .done : .failed) }
        }
    }

    @Test("A host outside the authority's constraint is refused, and the log says why (T28)")
    func holdsToConstraint() throws {
        let stage = try InterceptingStage(constrainedTo: ["one.test"])
        #expect(try stage.fetch("/").status == 200)
        #expect(try stage.connect("two.test").startTLS(stage.terms("two.test")) == .alert(49))
        #expect(try stage.logged("detail").contains("outside_authority_constraint"))
    }

    // MARK: Plain HTTP in a tunnel

    @Test("Plain HTTP in a tunnel is answered as such, and stored under its http URL", arguments: ["one.test", "tunnel.test"])
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

    @Test("What is neither TLS nor HTTP gets no tunnel to a host that is intercepted")
    func refusesOtherOctets() throws {
        let stage = try InterceptingStage()
        let client = try stage.connect()
        client.send("SSH-2.0-client\r\n")
        #expect(client.isClosedByPeer())
        #expect(stage.origin.requestHeads.isEmpty)
    }

    // MARK: Time and number (T36)

    @Test("A client that stops in the midst of its handshake has its time, and no more")
    func limitsHandshake() throws {
        let stage = try InterceptingStage(change: { $0.timeouts.clientHandshake = 2_000 })
        let client = try stage.connect()
        client.send(bytes: [22, 3, 1, 2, 0, 1])
        #expect(client.isClosedByPeer())
        #expect(try stage.logged("detail") == ["client_hello_timeout"])
    }

    @Test("A hundred that come at once are all served, while some have stopped in the midst")
    func servesMany() throws {
        let stage = try InterceptingStage(
            loops: 2,
            change: {
                $0.handshakeLimit = 4; $0.timeouts.clientHandshake = 60_000
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

    @Test("Clients that stop in the midst of their handshakes give way to others, long before their time is over")
    func stoppedGiveWay() throws {
        let stage = try InterceptingStage(
            change: {
                $0.handshakeLimit = 4; $0.timeouts.clientHandshake = 60_000
            })
        let hello = TLSClient.hello(to: "one.test")
        // Each has its place once it has been answered; the last two take those of the first two.
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

    @Test("A client that leaves within its handshake, and one that closes an idle connection, leave nothing behind")
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
        "A drain waits a moment for who has only begun: a silent tunnel, half a ClientHello, half a handshake",
        arguments: [[], [22, 3, 1], TLSClient.hello(to: "one.test")])
    func drainsInterceptions(octets: [UInt8]) throws {
        let stage = try InterceptingStage(change: {
            $0.timeouts.clientHandshake = 60_000
            $0.timeouts.firstOctets = 60_000
            $0.timeouts.lingering = 200
        })
        let client = try stage.connect()
        client.send(bytes: octets)
        // Its bytes have been read once another one has been served behind them.
        #expect(try stage.fetch("/a").text == "answer to GET /a")
        let drained = Gate()
        stage.proxy.server.drain { drained.open() }
        #expect(drained.wait())
        client.close()
    }

    @Test("An upload whose head comes in pieces behind the handshake is heard whole", arguments: [1_000, 40_000, 200_000])
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

    @Test("Requests that come with the end of the client's side are all answered, however many", arguments: [33, 100, 5_000])
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
        "A hundred that leave at once are all let go, each told so, while others are served; a last request before the end is answered"
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
                // The beginning of a record, of which the rest never comes.
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

    @Test("An upload whose end comes with that of the client's side is heard whole, and answered")
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

    @Test("Answers that take longer to be written than a client may be idle are written to their end")
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
        // Nothing of them is taken until a connection without a request has been idle for too long.
        #expect(try stage.secure().isClosedByPeer())
        for _ in 0..<20 { #expect(try client.readResponse().body.count == 4_000_000) }
        #expect(client.isClosedByPeer())
    }
}
