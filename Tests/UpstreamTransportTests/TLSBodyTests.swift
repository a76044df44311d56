import EventLoop
import Glibc
import HTTPMessage
import HTTPWire
import ServerTrust
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Transport: bodies, ends and timeouts over TLS")
struct TLSBodyTests {
    let authority = TestAuthority()
    private static let length = 10 << 20

    private func harness(_ change: (inout TransportConfiguration) -> Void = { _ in }) throws -> TransportHarness {
        let policies = try authority.policies()
        return try TransportHarness {
            $0.trust = policies
            change(&$0)
        }
    }

    private static func pattern(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: index &* 31 &+ index >> 9) }

    @Test("A large body arrives whole, even if its reader pauses at each piece", arguments: [false, true])
    func download(pauses: Bool) throws {
        let body = (0..<Self.length).map(Self.pattern)
        let origin = ScriptedOrigin(identity: authority.identity()) { connection in
            while connection.readHead() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
                connection.send(bytes: body)
            }
        }
        defer { origin.stop() }
        let harness = try harness()
        let recorder = Recorder()
        var isPaused = false
        if pauses {
            recorder.onBody = {
                $0.pauseReading()
                isPaused = true
            }
        }
        let exchange = harness.open(recorder, scheme: .https, port: origin.port)
        harness.run {
            if isPaused {
                isPaused = false
                exchange.resumeReading()
            }
            return recorder.hasEnded
        }
        #expect(recorder.isComplete)
        let isSame = recorder.body == body
        #expect(isSame)
        let longest = recorder.pieces.max() ?? 0
        #expect(longest <= Transport.readLength)
        #expect(harness.fetch(.https, port: origin.port, method: .get).metrics.isConnectionReused)
    }

    @Test("A large body is sent whole, as fast as the server reads it")
    func upload() throws {
        let body = (0..<Self.length).map(Self.pattern)
        let origin = ScriptedOrigin(identity: authority.identity()) { connection in
            guard connection.readHead() != nil, let received = connection.read(count: body.count) else { return }
            connection.respond(body: received == body ? "same" : "other")
        }
        defer { origin.stop() }
        let harness = try harness()
        let recorder = Recorder()
        var sent = 0
        func send(_ exchange: OriginExchange) {
            while sent < body.count {
                let next = min(sent + 100_000, body.count)
                defer { sent = next }
                if !exchange.sendBody(body.span.extracting(sent..<next)) { return }
            }
            exchange.endBody()
        }
        recorder.onReady = { send($0) }
        let exchange = harness.open(
            recorder, scheme: .https, port: origin.port, method: .post, fields: "Content-Length: \(body.count)\r\n",
            body: .length(UInt64(body.count)))
        send(exchange)
        harness.run { recorder.hasEnded }
        #expect(recorder.text == "same")
    }

    @Test("A response ends by its length or by a TLS closure alert, never by the end of the connection alone (RFC 8446 §6.1)")
    func truncation() throws {
        let origin = ScriptedOrigin(identity: authority.identity()) { connection in
            guard let head = connection.readHead() else { return }
            let target = OriginRequest(head: head).target
            if target.hasSuffix("cut") { connection.cut() }
            connection.send(
                target.hasPrefix("/length") ? "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart" : "HTTP/1.0 200 OK\r\n\r\npart")
        }
        defer { origin.stop() }
        let harness = try harness()
        #expect(harness.fetch(.https, port: origin.port, path: "/length/cut").error == .incompleteBody)
        #expect(harness.fetch(.https, port: origin.port, path: "/length/notified").error == .incompleteBody)
        #expect(harness.fetch(.https, port: origin.port, path: "/close/cut").error == .incompleteBody)
        let whole = harness.fetch(.https, port: origin.port, path: "/close/notified")
        #expect(whole.isComplete && whole.text == "part")
    }

    @Test("A pooled connection that the server has closed is replaced by a new one")
    func deadConnection() throws {
        let origin = ScriptedOrigin(identity: authority.identity()) { connection in
            if connection.readHead() != nil { connection.respond(body: "\(connection.number)") }
        }
        defer { origin.stop() }
        let harness = try harness()
        #expect(harness.fetch(.https, port: origin.port).text == "1")
        #expect(harness.fetch(.https, port: origin.port).text == "2")
        harness.run { harness.transport.statistics.connections == 0 }
        #expect(harness.budgets.statistics.connections == 0)
    }

    @Test("An unsolicited response, in its own TLS record or not, is never taken for the next one", arguments: [false, true])
    func unasked(inRecordOfItsOwn: Bool) throws {
        let origin = ScriptedOrigin(identity: authority.identity()) { connection in
            guard connection.readHead() != nil else { return }
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(connection.number)"
            let unasked = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nunasked"
            if inRecordOfItsOwn {
                connection.send(answer)
                connection.send(unasked)
            } else {
                connection.send(answer + unasked)
            }
            _ = connection.readHead()
        }
        defer { origin.stop() }
        let harness = try harness()
        for number in 1...2 {
            #expect(harness.fetch(.https, port: origin.port).text == "\(number)")
            harness.run { harness.transport.statistics.connections == 0 }
        }
    }

    @Test("Many exchanges at once, some of them cancelled, leave no connections behind")
    func manyAtOnce() throws {
        let origin = ScriptedOrigin.secure(authority.identity())
        defer { origin.stop() }
        let harness = try harness()
        for _ in 0..<3 {
            let recorders = (0..<40).map { _ in Recorder() }
            let exchanges = recorders.enumerated().map {
                harness.open($1, scheme: .https, port: origin.port, path: "/\($0)")
            }
            for (index, exchange) in exchanges.enumerated() where index % 4 == 3 { exchange.cancel() }
            harness.run { recorders.enumerated().allSatisfy { $0 % 4 == 3 || $1.hasEnded } }
            for (index, recorder) in recorders.enumerated() where index % 4 != 3 { #expect(recorder.text == "/\(index)") }
        }
        harness.transport.closeIdleConnections()
        #expect(harness.transport.statistics.connections == 0)
        #expect(harness.budgets.statistics.connections == 0)
    }

    @Test(
        "A server that is silent in the handshake runs into the connect timeout, and an exchange waiting for it can be cancelled")
    func silentServer() throws {
        let origin = ScriptedOrigin { connection in _ = connection.readToEnd() }
        defer { origin.stop() }
        let hasty = try self.harness { $0.timeouts.connect = 150 }
        #expect(hasty.fetch(.https, port: origin.port).error == .timedOut(.connect))
        #expect(hasty.budgets.statistics.connections == 0)
        // The second one has the usual time, so that it is the cancellation that ends it.
        let harness = try self.harness()
        let recorder = Recorder()
        let exchange = harness.open(recorder, scheme: .https, port: origin.port)
        harness.run { origin.connectionCount == 2 }
        exchange.cancel()
        harness.run { origin.openCount == 0 }
        #expect(!recorder.hasEnded)
        #expect(harness.budgets.statistics.connections == 0)
    }

    @Test("T03: a forbidden address is not connected to over TLS")
    func forbiddenAddress() throws {
        let origin = ScriptedOrigin.secure(authority.identity())
        defer { origin.stop() }
        let harness = try harness {
            $0.addresses = AddressPolicy(denied: [AddressRange("127.0.0.0/8")!])
            $0.resolve = ["one.test": [.loopbackIPv4]]
        }
        for host in ["127.0.0.1", "one.test"] {
            #expect(harness.fetch(.https, port: origin.port, host: host).error == .destinationProhibited(.loopbackIPv4))
        }
        #expect(origin.connectionCount == 0)
    }

    @Test("Through an upstream proxy the server is verified inside a tunnel, and the proxy sees only the CONNECT request")
    func throughProxy() throws {
        let identity = authority.identity()
        let proxy = ScriptedOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.send("HTTP/1.1 200 Connection established\r\n\r\n")
            connection.speakTLS(as: identity) { inner in
                while let head = inner.readHead() { inner.respond(body: OriginRequest(head: head).target) }
            }
        }
        defer { proxy.stop() }
        let harness = try harness {
            $0.proxy = UpstreamProxy(host: "127.0.0.1", port: proxy.port, user: "Aladdin", password: "open sesame")
        }
        #expect(harness.fetch(.https, port: 443, host: "one.test", path: "/a").text == "/a")
        #expect(harness.fetch(.https, port: 443, host: "one.test", path: "/b").metrics.isConnectionReused)
        #expect(proxy.requestHeads.count == 3)
        #expect(proxy.requestHeads[0].hasPrefix("CONNECT one.test:443 HTTP/1.1\r\n"))
        #expect(proxy.requestHeads[0].contains("Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"))
        #expect(proxy.requestHeads[1] == "GET /a HTTP/1.1\r\nHost: one.test:443\r\n\r\n")
        #expect(harness.fetch(.https, port: 443, host: "two.test").error?.reason.description == "host_mismatch")
        #expect(proxy.requestHeads.count == 4)
    }

    @Test("A proxy's refusal of the tunnel has an error of its own")
    func proxyRefuses() throws {
        let proxy = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.respond("403 Forbidden", body: "no")
        }
        defer { proxy.stop() }
        let harness = try harness { $0.proxy = UpstreamProxy(host: "127.0.0.1", port: proxy.port) }
        #expect(harness.fetch(.https, port: 443, host: "one.test").error == .tunnelRefused(status: 403))
    }
}
