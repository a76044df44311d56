import Testing
import TestSupport

@Suite("Reloads, and the end of service")
struct ReloadTests {
    @Test("Under load every response follows the old rules or the new ones, and none is lost", arguments: [1, 4])
    func reloadsUnderLoad(loops: Int) throws {
        let stage = try Stage(loops: loops) { _, connection in connection.respond(body: "x") }
        let port = stage.proxy.port
        let head = stage.head("GET", "/")
        let proxy = stage.proxy
        let started = Gate()
        let reloaded = Gate()
        let reloader = try ReloadLoop(proxy, started: started, ended: reloaded)
        let counts = try concurrently(4) { _ in
            let client = try RawClient(port: port)
            started.open()
            var statuses: [Int: Int] = [:]
            for _ in 0..<200 {
                client.send(head)
                statuses[try client.readResponse().status, default: 0] += 1
            }
            return statuses
        }
        #expect(reloaded.wait())
        _ = reloader
        for statuses in counts {
            #expect(Set(statuses.keys).isSubset(of: [200, 403]))
            #expect(statuses.values.reduce(0, +) == 200)
        }
        try stage.proxy.reload("rules: [{name: no, deny: {reason: closed}}]")
        #expect(try stage.fetch("/").status == 403)
        try stage.proxy.reload("")
        #expect(try stage.fetch("/").status == 200)
    }

    @Test("A drain accepts no new connections, lets requests in flight finish, and reports when all have", arguments: [1, 4])
    func drains(loops: Int) throws {
        let asked = Gate()
        let release = Gate()
        let drained = Gate()
        let stage = try Stage(loops: loops) { request, connection in
            guard request.target == "/slow" else { return connection.respond(body: "quick") }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
            asked.open()
            release.wait()
            return connection.send("half")
        }
        let idle = try stage.client()
        idle.send(stage.head("GET", "/"))
        #expect(try idle.readResponse().text == "quick")
        let busy = try stage.client()
        busy.send(stage.head("GET", "/slow"))
        asked.wait()
        stage.proxy.server.drain { drained.open() }
        #expect(idle.isClosedByPeer())
        #expect(throws: ClientFault.self) { _ = try stage.fetch("/") }
        release.open()
        #expect(try busy.readResponse().text == "halfhalf")
        busy.close()
        #expect(drained.wait())
    }

    @Test("When a drain begins, it closes connections that one loop has accepted for another")
    func closesLateConnections() throws {
        for _ in 0..<10 {
            let asked = Gate()
            let release = Gate()
            let drained = Gate()
            let stage = try Stage(loops: 4) { _, connection in
                asked.open()
                release.wait()
                return connection.respond(body: "late")
            }
            let busy = try stage.client()
            busy.send(stage.head("GET", "/"))
            asked.wait()
            let connecting = (0..<4).map { _ in Gate() }
            let port = stage.proxy.port
            let server = stage.proxy.server
            let late = try concurrently(5) { number in
                var clients: [RawClient] = []
                if number == 4 {
                    for gate in connecting { gate.wait() }
                    server.drain { drained.open() }
                } else {
                    while clients.count < 100, let client = try? RawClient(port: port) {
                        clients.append(client)
                        if clients.count == 10 { connecting[number].open() }
                    }
                }
                return LateClients(clients: clients)
            }
            release.open()
            #expect(try busy.readResponse().text == "late")
            busy.close()
            #expect(drained.wait())
            #expect(late.flatMap(\.clients).allSatisfy(ends))
        }
    }

    /// Whether the peer closes or resets the connection without sending anything. The kernel may complete a connection to a listener that is
    /// closing, and tell its client only when that sends something.
    private func ends(_ client: RawClient) -> Bool {
        client.send("G")
        return client.isClosedByPeer()
    }

    @Test(
        "A request head that had begun before a drain is answered, and its limit still applies (T37)", arguments: [false, true])
    func drainsHeads(isTooLong: Bool) throws {
        let drained = Gate()
        // Longer than any wait of the test, because a busy machine may be slow to send the rest of the head.
        let stage = try Stage(change: { $0.timeouts.lingering = 600_000 }) { _, connection in connection.respond(body: "last") }
        let client = try stage.client()
        let head = stage.head("GET", "/")
        client.send(String(head.prefix(20)))
        // The only loop has read those bytes when it responds to a later client, and has begun to drain when it closes that one.
        let later = try stage.client()
        later.send(head)
        #expect(try later.readResponse().text == "last")
        stage.proxy.server.drain { drained.open() }
        #expect(later.isClosedByPeer())
        if isTooLong {
            // Sent in pieces, because the refusal arrives before the last one.
            for _ in 0..<1000 where client.send(bytes: [UInt8](repeating: 0x61, count: 1000)) < 1000 { break }
            #expect(client.hasInput(withinMilliseconds: Deadline.milliseconds))
        } else {
            client.send(String(head.dropFirst(20)))
            let response = try client.readResponse()
            #expect(response.text == "last" && response["Connection"] == "close")
            #expect(client.isClosedByPeer())
        }
        client.close()
        #expect(drained.wait())
    }

    @Test("A request head that had begun before a drain and stops gets a short time to finish")
    func drainsHalfHeads() throws {
        let drained = Gate()
        let stage = try Stage(change: { $0.timeouts.lingering = 200 }) { _, connection in connection.respond(body: "last") }
        let client = try stage.client()
        client.send("GET http://o")
        _ = try stage.fetch("/")
        stage.proxy.server.drain { drained.open() }
        #expect(try client.readResponse().status == 408)
        client.close()
        #expect(drained.wait())
    }

    @Test("A drain waits for tunnels")
    func drainsTunnels() throws {
        let drained = Gate()
        let stage = try Stage("tunnel: {ports: any}") { connection in connection.send(bytes: connection.readToEnd()) }
        let client = try stage.client()
        client.send("CONNECT 127.0.0.1:\(stage.origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse(to: "CONNECT").status == 200)
        stage.proxy.server.drain { drained.open() }
        client.send("still here")
        client.endSending()
        #expect(try client.readToEnd() == Array("still here".utf8))
        #expect(drained.wait())
    }

    @Test("A stop cuts a response in flight, so that it never looks complete")
    func stops() throws {
        let asked = Gate()
        let release = Gate()
        let stage = try Stage { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n")
            asked.open()
            release.wait()
            return false
        }
        let client = try stage.client()
        client.send(stage.head("GET", "/"))
        asked.wait()
        #expect(try client.readHead().status == 200)
        stage.proxy.stop()
        release.open()
        #expect(throws: ClientFault.self) { while try !client.readChunk().isEmpty {} }
    }
}

/// @unchecked: one thread at a time uses them.
private struct LateClients: @unchecked Sendable {
    let clients: [RawClient]
}
