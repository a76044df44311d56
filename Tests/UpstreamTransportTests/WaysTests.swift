import EventLoop
import Glibc
import HTTPMessage
import ParentSelection
import ServerTrust
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Transport: SOCKS5 proxies, proxies with TLS, and parents")
struct WaysTests {
    let authority = TestAuthority()

    /// A SOCKS5 proxy that answers each request itself, and notes the hosts and the credentials that it got.
    private final class SOCKSProxy {
        let server: ScriptedOrigin
        private let box: Box

        init(password: String? = nil) {
            let seen = Box()
            box = seen
            server = ScriptedOrigin { connection in
                guard Self.greet(connection, password, seen), Self.accept(connection, seen) else { return }
                while connection.readHead() != nil { connection.respond(body: "through socks") }
            }
        }

        final class Box: Sendable { let seen = Guarded<[String]>([]) }

        var notes: [String] { box.seen.withLock { $0 } }

        private static func greet(_ connection: borrowing OriginConnection, _ password: String?, _ box: Box) -> Bool {
            guard let greeting = connection.read(count: 2), greeting[0] == 5,
                let methods = connection.read(count: Int(greeting[1]))
            else { return false }
            guard let password else { return methods.contains(0) && connection.send(bytes: [5, 0]) }
            guard methods.contains(2) else {
                connection.send(bytes: [5, 0xFF])
                return false
            }
            connection.send(bytes: [5, 2])
            guard let user = connection.read(count: 2), let name = connection.read(count: Int(user[1])),
                let length = connection.read(count: 1), let text = connection.read(count: Int(length[0]))
            else { return false }
            let given = String(decoding: name, as: UTF8.self) + ":" + String(decoding: text, as: UTF8.self)
            box.seen.withLock { $0.append(given) }
            let isRight = given == password
            connection.send(bytes: [1, isRight ? 0 : 1])
            return isRight
        }

        private static func accept(_ connection: borrowing OriginConnection, _ box: Box) -> Bool {
            guard let request = connection.read(count: 4), request[1] == 1 else { return false }
            let host: String
            if request[3] == 3 {
                guard let length = connection.read(count: 1), let name = connection.read(count: Int(length[0])) else {
                    return false
                }
                host = String(decoding: name, as: UTF8.self)
            } else {
                guard let address = connection.read(count: 4) else { return false }
                host = address.map { "\($0)" }.joined(separator: ".")
            }
            guard let port = connection.read(count: 2) else { return false }
            box.seen.withLock { $0.append("\(host):\(Int(port[0]) << 8 | Int(port[1]))") }
            return connection.send(bytes: [5, 0, 0, 1, 127, 0, 0, 1, 0, 0])
        }
    }

    private func harness(
        _ scheme: UpstreamProxy.Scheme, _ port: UInt16, password: (String, String)? = nil,
        _ change: (inout TransportConfiguration) -> Void = { _ in }
    ) throws -> TransportHarness {
        try TransportHarness {
            $0.proxy =
                if let password {
                    UpstreamProxy(scheme: scheme, host: "127.0.0.1", port: port, user: password.0, password: password.1)
                } else {
                    UpstreamProxy(scheme: scheme, host: "127.0.0.1", port: port)
                }
            change(&$0)
        }
    }

    @Test("socks5h sends the name to the proxy, without and with a password (RFC 1928, RFC 1929)")
    func socksByName() throws {
        let open = SOCKSProxy()
        defer { open.server.stop() }
        #expect(try harness(.socks5h, open.server.port).fetch(port: 81, host: "one.test").text == "through socks")
        #expect(open.notes == ["one.test:81"])
        let closed = SOCKSProxy(password: "me:secret")
        defer { closed.server.stop() }
        let right = try harness(.socks5h, closed.server.port, password: ("me", "secret"))
        #expect(right.fetch(port: 81, host: "one.test").text == "through socks")
        #expect(closed.notes == ["me:secret", "one.test:81"])
        // Plain HTTP in a SOCKS tunnel is in origin form.
        #expect(closed.server.requestHeads.first?.hasPrefix("GET / HTTP/1.1\r\n") == true)
        let wrong = try harness(.socks5h, closed.server.port, password: ("me", "wrong")).fetch(port: 81, host: "one.test")
        #expect(wrong.error == .tunnelRefused(status: 0))
        let missing = try harness(.socks5h, closed.server.port).fetch(port: 81, host: "one.test")
        #expect(missing.error == .tunnelRefused(status: 0))
    }

    @Test("socks5 sends an address that Larder has looked up, and that egress.addresses permits")
    func socksByAddress() throws {
        let proxy = SOCKSProxy()
        defer { proxy.server.stop() }
        let harness = try harness(.socks5, proxy.server.port) {
            $0.resolve = ["fixed.test": [.loopbackIPv4], "forbidden.test": [IPAddress("169.254.169.254")!]]
        }
        #expect(harness.fetch(port: 81, host: "fixed.test").text == "through socks")
        #expect(harness.fetch(port: 82, host: "localhost").text == "through socks")
        #expect(proxy.notes == ["127.0.0.1:81", "127.0.0.1:82"])
        guard case .destinationProhibited = harness.fetch(port: 81, host: "forbidden.test").error else {
            Issue.record("a forbidden address was passed to the proxy")
            return
        }
        #expect(proxy.notes.count == 2)
    }

    @Test("A proxy with TLS gets plain requests in absolute form, and tunnels inside TLS")
    func secureProxy() throws {
        let proxy = ScriptedOrigin(identity: authority.identity()) { connection in
            while let head = connection.readHead() {
                guard head.hasPrefix("CONNECT ") else {
                    connection.respond(body: "forwarded")
                    continue
                }
                connection.send("HTTP/1.1 200 OK\r\n\r\nfirst ")
                while let bytes = connection.readSome() { connection.send(bytes: bytes) }
                return
            }
        }
        defer { proxy.stop() }
        let policies = try authority.policies()
        let harness = try harness(.https, proxy.port, password: ("Aladdin", "open sesame")) { $0.trust = policies }
        let recorder = harness.fetch(port: 80, host: "one.test", path: "/a")
        #expect(recorder.text == "forwarded")
        // The certificate is the proxy's, so it says nothing about the origin.
        #expect(recorder.metrics.trustMark == 0)
        let tunnel = harness.openTunnel(to: "one.test", port: 443)
        let descriptor = try #require(tunnel.tunnelDescriptor)
        let sent = Array("echo".utf8)
        #expect(send(descriptor, sent, sent.count, Int32(MSG_NOSIGNAL)) == 4)
        var received: [UInt8] = []
        harness.run {
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 { received += buffer[..<count] }
            return received.count >= 10
        }
        #expect(String(decoding: received, as: UTF8.self) == "first echo")
        close(descriptor)
        #expect(harness.run { harness.transport.isQuiet })
        let credentials = "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"
        #expect(proxy.requestHeads.first?.hasPrefix("GET http://one.test/a HTTP/1.1\r\n\(credentials)") == true)
        #expect(proxy.requestHeads.last?.hasPrefix("CONNECT one.test:443 HTTP/1.1\r\nHost: one.test:443\r\nVia: ") == true)
        #expect(proxy.requestHeads.last?.contains(credentials) == true)
    }

    @Test("A large body passes through a tunnel inside TLS in both directions")
    func largeTunnel() throws {
        let length = 4 << 20
        let proxy = ScriptedOrigin(identity: authority.identity()) { connection in
            guard connection.readHead() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            guard let bytes = connection.read(count: length) else { return }
            connection.send(bytes: bytes)
        }
        defer { proxy.stop() }
        let policies = try authority.policies()
        let harness = try harness(.https, proxy.port) { $0.trust = policies }
        let descriptor = try #require(harness.openTunnel(to: "one.test", port: 443).tunnelDescriptor)
        let sent = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        var position = 0
        var received: [UInt8] = []
        var hasEnded = false
        harness.run {
            if position < length {
                let count = sent[position...].withUnsafeBytes {
                    send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
                }
                position += max(count, 0)
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 { received += buffer[..<count] }
            if count == 0 { hasEnded = true }
            return hasEnded
        }
        close(descriptor)
        #expect(received == sent)
        #expect(harness.run { harness.transport.isQuiet })
    }

    @Test("A proxy whose certificate is wrong gets no request and no credentials")
    func untrustedProxy() throws {
        let proxy = ScriptedOrigin(identity: TestAuthority().identity()) { connection in
            while connection.readHead() != nil { connection.respond() }
        }
        defer { proxy.stop() }
        let policies = try authority.policies()
        let harness = try harness(.https, proxy.port, password: ("me", "secret")) { $0.trust = policies }
        for error in [harness.fetch(port: 80, host: "one.test").error, harness.openTunnel(to: "one.test", port: 443).error] {
            guard case .untrusted(let failure) = error else {
                Issue.record("not refused: \(String(describing: error))")
                continue
            }
            #expect(failure.host == "127.0.0.1")
        }
        #expect(proxy.requestHeads.isEmpty)
    }

    // MARK: Parents

    private func parent(_ name: String) -> ScriptedOrigin {
        ScriptedOrigin { connection in while connection.readHead() != nil { connection.respond(body: name) } }
    }

    private func group(_ ports: [UInt16]) -> ParentGroup {
        ParentGroup(ports.map { UpstreamProxy(host: "127.0.0.1", port: $0) })
    }

    @Test("A request with content goes to the next parent if the first one cannot be reached, and is sent once")
    func connectsElsewhere() throws {
        let gone = parent("gone")
        let other = parent("other")
        defer { other.stop() }
        gone.stop()
        let group = group([gone.port, other.port])
        let harness = try TransportHarness { $0.parents = group }
        for _ in 0..<8 {
            let recorder = Recorder()
            let exchange = harness.open(
                recorder, port: 80, host: "one.test", method: .post, fields: "Content-Length: 4\r\n", body: .length(4))
            _ = exchange.sendBody(Array("body".utf8).span)
            harness.run { recorder.hasEnded }
            #expect(recorder.text == "other")
        }
        #expect(other.requestHeads.count == 8)
        #expect(group.snapshot.members.allSatisfy { $0.inFlight == 0 })
    }

    @Test("A request that a parent has begun to process is sent again only if it is idempotent")
    func repeatsOnlyIdempotent() throws {
        let broken = ScriptedOrigin { connection in _ = connection.readHead() }
        defer { broken.stop() }
        let other = parent("other")
        defer { other.stop() }
        for method in [Method.get, .post] {
            let group = group([broken.port, other.port])
            let harness = try TransportHarness { $0.parents = group }
            var errors = 0
            for number in 0..<8 {
                let recorder = Recorder()
                let head = "\(method.name) / HTTP/1.1\r\nHost: one.test\r\nContent-Length: 0\r\n\r\n"
                var request = UpstreamRequest(
                    origin: Origin(scheme: .http, host: "one.test", port: 80), method: method, head: Array(head.utf8),
                    body: .length(0))
                request.parentKey = KeyHash(of: "\(number)")
                _ = harness.transport.open(request, delegate: recorder)
                harness.run { recorder.hasEnded }
                if recorder.error != nil { errors += 1 } else { #expect(recorder.text == "other") }
            }
            #expect(method == .get ? errors == 0 : errors > 0)
            #expect(group.snapshot.members[0].failures > 0)
        }
    }

    @Test("A parent that is down is up again after a probe succeeds")
    func probes() throws {
        let first = parent("first")
        let port = first.port
        let second = parent("second")
        defer { second.stop() }
        first.stop()
        let group = group([port, second.port])
        let harness = try TransportHarness {
            $0.parents = group
            $0.parentProbeMilliseconds = 10
        }
        harness.transport.beginProbing()
        #expect(harness.run { group.snapshot.members[0].isUp == false && group.snapshot.members[1].lastSuccess != nil })
        let back = ScriptedOrigin(port: port) { connection in while connection.readHead() != nil { connection.respond() } }
        defer { back.stop() }
        #expect(harness.run { group.snapshot.members[0].isUp })
        #expect(back.requestHeads.first?.hasPrefix("OPTIONS http://larder.invalid HTTP/1.1\r\n") == true)
        #expect(back.requestHeads.first?.contains("Max-Forwards: 0\r\n") == true)
        harness.transport.stopProbing()
    }

    @Test("A tunnel is opened through the next parent if the first one cannot be reached")
    func tunnelElsewhere() throws {
        let gone = parent("gone")
        gone.stop()
        let other = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            _ = connection.readToEnd()
        }
        defer { other.stop() }
        let group = group([gone.port, other.port])
        let harness = try TransportHarness { $0.parents = group }
        for number in 0..<4 {
            let recorder = harness.openTunnel(to: "host-\(number).test", port: 443)
            close(try #require(recorder.tunnelDescriptor))
        }
        #expect(other.requestHeads.count == 4)
        #expect(group.snapshot.members.allSatisfy { $0.inFlight == 0 })
    }
}
