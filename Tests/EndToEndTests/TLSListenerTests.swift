import Foundation
import TestSupport
import Testing

@Suite("TLS listeners: one connection, from the socket to the request")
struct TLSListenerTests {
    /// Answers each request with its path and the length of its content.
    private static let answers: ScriptedOrigin.Script = { connection in
        while let head = connection.readHead() {
            let request = OriginRequest(head: head)
            guard let content = connection.readBody(of: request) else { return }
            connection.respond(fields: "Cache-Control: max-age=600\r\n", body: "\(request.target) \(content.count)")
        }
    }

    @Test("Requests on one connection are answered in order, by the origin and from the store", arguments: [1, 4])
    func answers(loops: Int) throws {
        let stage = try ListenerStage(loops: loops, script: Self.answers)
        let client = try stage.client()
        for path in ["/a", "/b", "/a"] {
            client.send(stage.head("GET", path))
            #expect(try client.readResponse().text == "\(path) 0")
        }
        #expect(stage.origin.requestHeads.count == 2)
        client.endTLS()
        #expect(client.isClosedByPeer())
    }

    @Test("A TLS connection counts once against the connection limit")
    func countsOnce() throws {
        let stage = try ListenerStage(change: { $0.connectionLimit = 2 }, script: Self.answers)
        let clients = try (0..<2).map { _ in try stage.client() }
        for client in clients {
            client.send(stage.head())
            #expect(try client.readResponse().text == "/ 0")
        }
        // The third connection is closed without a response.
        let third = try RawClient(port: stage.proxy.port, owner: stage)
        #expect(third.isClosedByPeer())
    }

    @Test("Larder fetches little for a client that does not read, and sends it all when the client reads")
    func slowReader() throws {
        let stalls = Gate()
        let goesOn = Gate()
        let body = PatternedBody(length: 64 << 20)
        let stage = try ListenerStage { connection in
            guard let head = connection.readHead() else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.length)\r\n\r\n")
            // Far more than all buffers between the two hold.
            connection.limitSending(milliseconds: 500)
            let taken = connection.send(body)
            if OriginRequest(head: head).target == "/wait", taken < body.length { stalls.open() }
            goesOn.wait()
            connection.limitSending(milliseconds: 60_000)
            connection.send(body, from: taken)
        }
        let client = try stage.client(receiveBuffer: 4096)
        client.send(stage.head("GET", "/wait", fields: "Connection: close\r\n"))
        #expect(stalls.wait())
        goesOn.open()
        #expect(try client.readHead().status == 200)
        #expect(try client.read(body, count: body.length) == body.length)
        // The end is a close_notify: without one the read would throw.
        #expect(try client.readToEnd().isEmpty)
    }

    @Test("A large upload arrives unchanged", arguments: [1, 4])
    func upload(loops: Int) throws {
        let body = PatternedBody(length: 24 << 20)
        let isRight = Gate()
        let stage = try ListenerStage(loops: loops) { connection in
            guard connection.readHead() != nil else { return }
            var done = 0
            while done < body.length, let piece = connection.read(count: min(65_536, body.length - done)) {
                guard piece.withUnsafeBytes({ body.matches($0, at: done) }) else { return }
                done += piece.count
            }
            if done == body.length { isRight.open() }
            connection.respond(body: "taken")
        }
        let client = try stage.client()
        client.send(stage.head("POST", fields: "Content-Length: \(body.length)\r\n"))
        var sent = 0
        while sent < body.length {
            let piece = body.bytes(sent..<min(sent + 100_000, body.length))
            try #require(client.send(bytes: piece) == piece.count)
            sent += piece.count
        }
        #expect(isRight.wait())
        #expect(try client.readResponse().text == "taken")
    }

    @Test(
        "A client that has sent its close_notify gets its response, whether or not it also ends its side of the connection",
        arguments: [false, true])
    func halfClosed(endsConnection: Bool) throws {
        let stage = try ListenerStage(script: Self.answers)
        let client = try stage.client()
        client.send(stage.head("GET", "/last"))
        client.endTLS()
        if endsConnection { client.endSending() }
        #expect(try client.readResponse().text == "/last 0")
        #expect(try client.readToEnd().isEmpty)
    }

    @Test(
        "Content or a head that a close_notify cuts short ends the connection at once",
        arguments: ["GET", "POST"])
    func cutContent(method: String) throws {
        let stage = try ListenerStage(
            change: {
                $0.timeouts.clientBody = 3_600_000
                $0.timeouts.clientHead = 3_600_000
                $0.timeouts.lingering = 100
            }, script: Self.answers)
        let client = try stage.client()
        let head = stage.head(method, fields: "Content-Length: 10\r\n")
        client.send(method == "POST" ? head + "123" : String(head.dropLast(2)))
        client.endTLS()
        // The TCP connection stays open: only the close_notify shows the end.
        while (try? client.receive()) == true {}
        var byte: UInt8 = 0
        #expect(recv(client.descriptor, &byte, 1, 0) == 0)
        #expect(stage.origin.requestHeads.count <= (method == "POST" ? 1 : 0))
    }

    @Test("An idle connection is closed with a close_notify after its timeout", arguments: [false, true])
    func idle(hasAsked: Bool) throws {
        let stage = try ListenerStage(
            change: {
                $0.timeouts.clientIdle = 3_000
                $0.timeouts.clientHead = 3_000
            }, script: Self.answers)
        let client = try stage.client()
        if hasAsked {
            client.send(stage.head())
            #expect(try client.readResponse().text == "/ 0")
        }
        #expect(try client.readToEnd().isEmpty)
    }

    @Test("A response that must not look complete ends without a close_notify")
    func cutResponse() throws {
        let stage = try ListenerStage { connection in
            guard connection.readHead() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n")
        }
        let client = try stage.client()
        // An HTTP/1.0 client knows only by the end of the connection that the response is complete.
        client.send(stage.head().replacing("HTTP/1.1", with: "HTTP/1.0"))
        #expect(try client.readHead().status == 200)
        #expect(throws: ClientFault.self) { try client.readToEnd() }
    }

    @Test("A renegotiation is refused, and other clients are served")
    func refusesRenegotiation() throws {
        let stage = try ListenerStage(script: Self.answers)
        let client = try stage.client(greatestVersion: 0x0303)
        client.send(stage.head())
        #expect(try client.readResponse().text == "/ 0")
        #expect(!client.renegotiateTLS())
        let other = try stage.client(greatestVersion: 0x0303)
        other.send(stage.head())
        #expect(try other.readResponse().text == "/ 0")
    }

    // MARK: Tunnels

    @Test("10 MiB pass both ways through a tunnel", arguments: [1, 4])
    func tunnels(loops: Int) throws {
        let body = PatternedBody(length: 10 << 20)
        let stage = try ListenerStage(loops: loops) { connection in
            while let bytes = connection.readSome(), connection.send(bytes: bytes) {}
            connection.shutDownSending()
        }
        let client = try stage.tunnel()
        for start in stride(from: 0, to: body.length, by: 100_000) {
            let bytes = body.bytes(start..<min(start + 100_000, body.length))
            try #require(client.send(bytes: bytes) == bytes.count)
            let isSame = try client.read(count: bytes.count) == bytes
            try #require(isSame, "at \(start)")
        }
        client.endTLS()
        #expect(try client.readToEnd().isEmpty)
    }

    @Test(
        "Each side of a tunnel ends separately: the client by a close_notify, or by ending its side of the connection",
        arguments: [false, true])
    func tunnelEnds(saysSo: Bool) throws {
        let stage = try ListenerStage { connection in
            connection.send(bytes: connection.readToEnd().reversed())
        }
        let client = try stage.tunnel()
        client.send("abc")
        if saysSo { client.endTLS() } else { client.endSending() }
        #expect(try client.readToEnd() == Array("cba".utf8))
    }

    @Test("The origin may end its side of a tunnel first, and still receives data")
    func originEndsFirst() throws {
        let received = Gate()
        let stage = try ListenerStage { connection in
            connection.send("bye")
            connection.shutDownSending()
            if connection.readToEnd() == Array("more".utf8) { received.open() }
        }
        let client = try stage.tunnel()
        #expect(try client.readToEnd() == Array("bye".utf8))
        client.send("more")
        client.endTLS()
        #expect(received.wait())
    }

    @Test("Data that an origin sent before it closed reaches a client that reads late", arguments: [1000, 100_000, 8 << 20])
    func tunnelIsSlow(length: Int) throws {
        let body = PatternedBody(length: length)
        let stage = try ListenerStage { connection in connection.send(body) }
        let client = try stage.tunnel(receiveBuffer: 4096)
        #expect(try client.read(body, count: length) == length)
        #expect(try client.readToEnd().isEmpty)
    }

    @Test("Bytes directly after a CONNECT reach the origin once, after the tunnel is open")
    func tunnelWithEarlyBytes() throws {
        let stage = try ListenerStage { connection in
            guard let bytes = connection.read(count: 5) else { return }
            connection.send(bytes: bytes)
        }
        let client = try stage.client()
        client.send("CONNECT 127.0.0.1:\(stage.origin.port) HTTP/1.1\r\nHost: a\r\n\r\nhello")
        #expect(try client.readResponse(to: "CONNECT").status == 200)
        #expect(try client.readToEnd() == Array("hello".utf8))
    }
}
