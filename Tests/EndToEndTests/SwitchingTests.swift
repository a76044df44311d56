import Foundation
import TestSupport
import Testing
import UpstreamTransport

@Suite("Connections that switch to WebSocket (RFC 9110 §7.8, RFC 6455)")
struct SwitchingTests {
    typealias Way = SwitchingStage.Way

    @Test("A byte is echoed in every way of connecting, and the log counts the bytes", arguments: Way.allCases, [1, 4])
    func echoes(way: Way, loops: Int) throws {
        let stage = try SwitchingStage(way, loops: loops, answer: SwitchingStage.echoes)
        let client = try stage.switched()
        for octet in ["a", "b"] {
            client.send(octet)
            #expect(try client.read(count: 1) == Array(octet.utf8))
        }
        stage.end(client)
        #expect(client.isClosedByPeer())
        let request = OriginRequest(head: try #require(stage.origin.requestHeads.first))
        #expect(request["Connection"] == "upgrade" && request["Upgrade"] == "websocket")
        #expect(request["Sec-WebSocket-Key"] == "dGhlIHNhbXBsZSBub25jZQ==" && request["Via"] == "1.1 larder")
        let line = try #require(try stage.proxy.logLines().first { $0.contains("\"status\":101") })
        #expect(line.contains("\"cache\":\"tunnel\"") && line.contains("\"method\":\"GET\""))
        #expect(line.contains("\"bytes_in\":2"), "\(line)")
    }

    @Test("10 MiB pass both ways at once", arguments: [Way.plain, .tunnelled, .upgraded], [1, 4])
    func passesMuch(way: Way, loops: Int) throws {
        let body = PatternedBody(length: 10 << 20)
        let stage = try SwitchingStage(way, loops: loops, answer: SwitchingStage.echoes)
        let client = try stage.switched()
        let sender = Sender(client.descriptor, body)
        #expect(try client.read(body, count: body.length) == body.length)
        sender.wait()
        client.endSending()
        #expect(client.isClosedByPeer())
    }

    @Test(
        "With TLS at both ends 10 MiB are echoed too, and Larder reads no data that the client does not read", arguments: [1, 4])
    func passesMuchInTLS(loops: Int) throws {
        let body = PatternedBody(length: 10 << 20)
        let stalls = Gate()
        let stage = try SwitchingStage(.intercepted, loops: loops) { request, connection in
            connection.send(SwitchingStage.grant)
            switch request.target {
            case "/echo": while let octets = connection.readSome(), connection.send(bytes: octets) {}
            case "/send": connection.send(bytes: body.bytes(0..<body.length))
            default:
                // Far more than all buffers between the two hold.
                connection.limitSending(milliseconds: 500)
                if !connection.send(bytes: [UInt8](repeating: 0, count: 64 << 20)) { stalls.open() }
                connection.cut()
                return false
            }
            connection.endSending()
            return false
        }
        let echo = try stage.switched("/echo")
        let piece = 100_000
        for start in stride(from: 0, to: body.length, by: piece) {
            let octets = body.bytes(start..<min(start + piece, body.length))
            #expect(echo.send(bytes: octets) == octets.count)
            let isSame = try echo.read(count: octets.count) == octets
            try #require(isSame, "at \(start)")
        }
        stage.end(echo)
        #expect(echo.isClosedByPeer())

        let reader = try stage.switched("/send")
        #expect(try reader.read(body, count: body.length) == body.length)
        let idler = try stage.switched("/stall")
        #expect(stalls.wait())
        idler.close()
    }

    @Test("Each side ends separately: the client ends first, and then the origin sends the rest", arguments: Way.allCases)
    func clientEndsFirst(way: Way) throws {
        let stage = try SwitchingStage(way) { _, connection in
            connection.send(SwitchingStage.grant)
            let all = connection.readToEnd()
            connection.send(bytes: all.reversed())
            connection.endSending()
            return false
        }
        let client = try stage.switched()
        client.send("abc")
        stage.end(client)
        #expect(try client.readToEnd() == Array("cba".utf8))
    }

    @Test("The origin may end first, and still receives data", arguments: Way.allCases)
    func originEndsFirst(way: Way) throws {
        let received = Gate()
        let stage = try SwitchingStage(way) { _, connection in
            connection.send(SwitchingStage.grant + "bye")
            connection.endSending()
            if connection.readToEnd() == Array("more".utf8) { received.open() }
            return false
        }
        let client = try stage.switched()
        #expect(try client.readToEnd() == Array("bye".utf8))
        client.send("more")
        stage.end(client)
        #expect(received.wait())
    }

    @Test("Bytes directly after either head are passed on once and in order", arguments: Way.allCases)
    func passesEarlyOctets(way: Way) throws {
        let stage = try SwitchingStage(way) { _, connection in
            connection.send(SwitchingStage.grant + "hello ")
            guard let octets = connection.read(count: 5) else { return false }
            connection.send(bytes: octets)
            connection.endSending()
            return false
        }
        let client = try stage.switched(early: "early")
        #expect(try client.readToEnd() == Array("hello early".utf8))
    }

    @Test("An origin that refuses the switch sends a normal response, and the connection stays usable", arguments: Way.allCases)
    func isRefused(way: Way) throws {
        let stage = try SwitchingStage(way) { request, connection in
            switch request.target {
            case "/426":
                return connection.respond("426 Upgrade Required", fields: "Upgrade: x\r\nConnection: upgrade\r\n", body: "no")
            case "/ok": return connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "page")
            case "/403": return connection.respond("403 Forbidden", fields: "Cache-Control: max-age=60\r\n", body: "no")
            default: return SwitchingStage.echoes(request, connection)
            }
        }
        let client = try stage.client()
        for (path, status) in [("/426", 426), ("/403", 403), ("/403", 403), ("/ok", 200), ("/ok", 200)] {
            client.send(stage.head(path))
            let response = try client.readResponse()
            #expect(response.status == status && response["Upgrade"] == nil && response["Connection"] == nil)
            #expect(response.cacheStatus == "Larder; fwd=bypass; detail=upgrade")
        }
        client.send(stage.head("/ok", fields: ""))
        #expect(try client.readResponse().cacheStatus == "Larder; fwd=uri-miss; stored")
        // A stored response does not answer a request to switch protocols.
        client.send(stage.head("/ok"))
        #expect(try client.readResponse().cacheStatus == "Larder; fwd=bypass; detail=upgrade")
        #expect(stage.origin.connectionCount == 1)
        client.send(stage.head("/ws") + "x")
        #expect(try client.readHead().status == 101)
        #expect(try client.read(count: 1) == Array("x".utf8))
        #expect(stage.origin.connectionCount == 1)
    }

    @Test("A 101 without a request for it, or for another protocol, does not reach the client", arguments: Way.allCases)
    func refusesOtherProtocol(way: Way) throws {
        let other = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"
        let isLetGo = Gate()
        let stage = try SwitchingStage(way) { request, connection in
            if request.target == "/ok" { return connection.respond(body: "page") }
            connection.send((request.target == "/other" ? other : SwitchingStage.grant) + "HTTP/1.1 200 OK\r\n\r\n")
            if connection.isLetGo() { isLetGo.open() }
            return false
        }
        let client = try stage.client()
        let ignored = "Connection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 3\r\n"
        for (path, fields, content) in [
            ("/other", SwitchingStage.asks, ""), ("/unasked", "", ""), ("/content", ignored, "abc"),
        ] {
            client.send(stage.head(path, fields: fields) + content)
            let response = try client.readResponse()
            #expect(response.status == 502 && response.code == "unexpected_upgrade", "\(path)")
        }
        #expect(isLetGo.wait())
        client.send(stage.head("/ok", fields: ""))
        #expect(try client.readResponse().text == "page")
    }

    @Test(
        "A request with content does not switch: the bytes after its head are content, whatever they look like",
        arguments: Way.allCases)
    func ignoresContent(way: Way) throws {
        let stage = try SwitchingStage(way) { request, connection in
            let content = connection.readBody(of: request) ?? []
            return connection.respond(body: "\(request["Upgrade"] ?? "none") \(String(decoding: content, as: UTF8.self))")
        }
        let client = try stage.client()
        let smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
        client.send(stage.head("/a", fields: SwitchingStage.asks + "Content-Length: \(smuggled.utf8.count)\r\n") + smuggled)
        #expect(try client.readResponse().text == "none \(smuggled)")
        client.send(stage.head("/b", fields: SwitchingStage.asks + "Transfer-Encoding: chunked\r\n") + "3\r\nabc\r\n0\r\n\r\n")
        #expect(try client.readResponse().text == "none abc")
        #expect(stage.origin.requestHeads.count == 2)
    }

    @Test("A rule denies the handshake, and another rule edits it", arguments: Way.allCases)
    func obeysRules(way: Way) throws {
        let rules = """
              - {name: no, match: {path: /no}, deny: {reason: no}}
              - {name: edit, match: {path: /ws}, request: {set: {X-Asked: "1"}}, response: {set: {X-Granted: "2"}}}

            """
        let stage = try SwitchingStage(way, rules: rules, answer: SwitchingStage.echoes)
        let client = try stage.client()
        client.send(stage.head("/no"))
        #expect(try client.readResponse().code == "denied_by_rule")
        client.send(stage.head("/ws"))
        let response = try client.readHead()
        #expect(response.status == 101 && response["X-Granted"] == "2")
        #expect(stage.origin.requestHeads.count == 1)
        #expect(OriginRequest(head: stage.origin.requestHeads[0])["X-Asked"] == "1")
    }

    @Test("Both sides are closed after the tunnel idle timeout", arguments: Way.allCases)
    func endsWhenIdle(way: Way) throws {
        let stage = try SwitchingStage(way, change: { $0.timeouts.tunnelIdle = 3_000 }, answer: SwitchingStage.echoes)
        let client = try stage.switched()
        client.send("a")
        #expect(try client.read(count: 1) == Array("a".utf8))
        #expect(try client.receiveAnything() == false)
        try eventually { stage.origin.openCount == 0 }
    }

    @Test("If one side disappears, Larder closes the other one", arguments: Way.allCases)
    func endsWithReset(way: Way) throws {
        let isLetGo = Gate()
        let stage = try SwitchingStage(way) { request, connection in
            connection.send(SwitchingStage.grant)
            if request.target == "/vanish" {
                _ = connection.read(count: 1)
                connection.resetOnClose()
                connection.cut()
            } else if connection.isLetGo() {
                isLetGo.open()
            }
            return false
        }
        let client = try stage.switched()
        client.reset()
        #expect(isLetGo.wait())
        let other = try stage.switched("/vanish")
        other.send("x")
        #expect(try other.receiveAnything() == false)
    }

    enum Cut: CaseIterable { case reset, silentEnd }

    @Test(
        "If Larder ends TLS, it passes on only ends that a peer has sent: a cut connection is cut on the other side too",
        arguments: [Way.intercepted, .upgraded], Cut.allCases)
    func passesCutsOn(way: Way, cut: Cut) throws {
        let isCut = Gate()
        let stage = try SwitchingStage(way) { request, connection in
            connection.send(SwitchingStage.grant + "half a mess")
            if request.target == "/client", connection.peerEnd() == .cut { isCut.open() }
            if cut == .reset { connection.resetOnClose() }
            connection.cut()
            return false
        }
        let other = try stage.switched("/origin")
        #expect(throws: ClientFault.self) { while try other.receive() {} }
        #expect(other.takeHeld() == Array("half a mess".utf8))
        // Without TLS the end of the connection is an end that the peer has sent.
        if way == .upgraded, cut == .silentEnd { return }
        let client = try stage.switched("/client")
        client.send("half a mess")
        if cut == .reset { client.reset() } else { client.close() }
        #expect(isCut.wait())
    }

    @Test("An end that arrives with the handshake's request, or with bytes after it, is passed on", arguments: ["", "hi"])
    func hearsEarlyEnd(early: String) throws {
        let stage = try SwitchingStage(.intercepted) { _, connection in
            connection.send(SwitchingStage.grant)
            guard let octets = connection.read(count: early.utf8.count), connection.peerEnd() == .said else { return false }
            connection.send(bytes: octets + Array("bye".utf8))
            connection.endSending()
            return false
        }
        let client = try stage.client()
        client.sendTogether {
            client.send(stage.head("/ws") + early)
            client.endTLS()
        }
        #expect(try client.readHead().status == 101)
        #expect(try client.readToEnd() == Array((early + "bye").utf8))
    }

    @Test("When the proxy stops, both sides are closed", arguments: Way.allCases)
    func endsWithProxy(way: Way) throws {
        let isLetGo = Gate()
        let stage = try SwitchingStage(way) { _, connection in
            connection.send(SwitchingStage.grant)
            if connection.isLetGo() { isLetGo.open() }
            return false
        }
        let client = try stage.switched()
        stage.proxy.stop()
        #expect(try client.receiveAnything() == false)
        #expect(isLetGo.wait())
    }

    @Test("A reload does not affect connections that switched before", arguments: Way.allCases)
    func outlivesReload(way: Way) throws {
        let stage = try SwitchingStage(way, answer: SwitchingStage.echoes)
        let client = try stage.switched()
        for _ in 0..<3 { try stage.proxy.reload("tunnel: {ports: any}") }
        stage.proxy.settle()
        for octet in ["a", "b"] {
            client.send(octet)
            #expect(try client.read(count: 1) == Array(octet.utf8))
        }
    }

    @Test(
        "A reload closes a connection that switched before, if its address is now denied", arguments: Way.allCases,
        [("{deny: [127.0.0.0/8]}", "destination_prohibited"), ("{private: deny}", "destination_private")])
    func closesByAddress(way: Way, denial: (addresses: String, code: String)) throws {
        let stage = try SwitchingStage(way, answer: SwitchingStage.echoes)
        let client = try stage.switched()
        try stage.proxy.reload("tunnel: {ports: any}\negress: {addresses: \(denial.addresses)}")
        #expect(client.isClosedByPeer())
        #expect(try stage.proxy.logLines().contains { $0.contains("\"error\":\"\(denial.code)\"") })
    }

    @Test(
        "A reload closes a connection that switched inside a tunnel, if `tls` now denies the host or its CONNECT",
        arguments: [Way.intercepted, .upgraded, .tunnelled], [true, false])
    func closesByTrustSettings(way: Way, isWholeHost: Bool) throws {
        let stage = try SwitchingStage(way, answer: SwitchingStage.echoes)
        let client = try stage.switched()
        try stage.proxy.reload("tunnel: {ports: any}") {
            $0.transport.connect = ConnectPolicy(fallback: .deny)
            $0.transport.connect.deniesUnnamedHosts = isWholeHost
        }
        stage.proxy.settle()
        // A request over plain HTTP, or without a tunnel, does not depend on `tls` for CONNECT.
        if way == .upgraded, !isWholeHost {
            client.send("a")
            #expect(try client.read(count: 1) == Array("a".utf8))
            return
        }
        #expect(client.isClosedByPeer())
        let code = isWholeHost ? "host_denied" : "connect_denied"
        #expect(try stage.proxy.logLines().contains { $0.contains("\"error\":\"\(code)\"") })
    }

    @Test("A request to switch protocols is not upgraded to an https URL that a rule denies, and nothing is sent")
    func judgesUpgrades() throws {
        let stage = try SwitchingStage(
            .upgraded, rules: "  - {name: no, match: {scheme: https, path: /ws}, deny: {}}\n", answer: SwitchingStage.echoes)
        for fields in [SwitchingStage.asks, ""] {
            let client = try stage.client()
            client.send(stage.head("/ws", fields: fields))
            #expect(try client.readResponse().code == "denied_by_rule")
        }
        #expect(stage.origin.connectionCount == 0)
        _ = try stage.switched("/other")
    }

    @Test("A reload closes an upgraded connection whose https URL is now denied")
    func closesUpgraded() throws {
        let stage = try SwitchingStage(.upgraded, answer: SwitchingStage.echoes)
        let client = try stage.switched()
        try stage.proxy.reload("tunnel: {ports: any}\nrules: [{name: no, match: {scheme: https}, deny: {}}]")
        #expect(client.isClosedByPeer())
        #expect(try stage.proxy.logLines().contains { $0.contains("\"error\":\"denied_by_rule\"") })
    }

    @Test("Offline, Larder connects to nothing")
    func staysOffline() throws {
        let stage = try Stage("mode: offline", answer: SwitchingStage.echoes)
        let response = try stage.fetch("/ws", fields: SwitchingStage.asks)
        #expect(response.status == 504 && response.code == "offline_miss")
        #expect(stage.origin.connectionCount == 0)
    }
}

extension RawClient {
    /// Whether anything arrives before the connection ends in any way.
    fileprivate func receiveAnything() throws -> Bool {
        do { return try receive() } catch let fault as ClientFault where fault.reason == .reset { return false }
    }
}
