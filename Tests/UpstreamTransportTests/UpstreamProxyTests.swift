import Glibc
import HTTPMessage
import HTTPWire
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Transport: through an upstream proxy (RFC 9112 §3.2.2, RFC 9110 §9.3.6)")
struct UpstreamProxyTests {
    private func harness(_ proxy: ScriptedOrigin, user: String? = nil) throws -> TransportHarness {
        try TransportHarness {
            $0.proxy =
                if let user {
                    UpstreamProxy(host: "127.0.0.1", port: proxy.port, user: user, password: "open sesame")
                } else {
                    UpstreamProxy(host: "127.0.0.1", port: proxy.port)
                }
        }
    }

    @Test("The request target is in absolute form, credentials are added, and one connection serves all origins")
    func absoluteForm() throws {
        let proxy = ScriptedOrigin { connection in
            while connection.readHead() != nil { connection.respond() }
        }
        defer { proxy.stop() }
        let harness = try harness(proxy, user: "Aladdin")
        #expect(harness.fetch(port: 80, host: "one.test", path: "/a?b").isComplete)
        #expect(harness.fetch(port: 8080, host: "two.test", path: "/").isComplete)
        #expect(harness.fetch(port: 81, host: "2001:db8::1", path: "/").isComplete)
        #expect(harness.fetch(port: 80, host: "one.test", method: .options, path: "*").isComplete)
        let credentials = "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"
        #expect(
            proxy.requestHeads == [
                "GET http://one.test/a?b HTTP/1.1\r\n\(credentials)Host: one.test:80\r\n\r\n",
                "GET http://two.test:8080/ HTTP/1.1\r\n\(credentials)Host: two.test:8080\r\n\r\n",
                "GET http://[2001:db8::1]:81/ HTTP/1.1\r\n\(credentials)Host: 2001:db8::1:81\r\n\r\n",
                "OPTIONS http://one.test HTTP/1.1\r\n\(credentials)Host: one.test:80\r\n\r\n",
            ])
        #expect(proxy.connectionCount == 1)
    }

    @Test("T03: a forbidden address is refused, although the proxy would connect to it")
    func forbidden() throws {
        let proxy = ScriptedOrigin { _ in }
        defer { proxy.stop() }
        let harness = try harness(proxy)
        for host in ["169.254.169.254", "0xa9fea9fe", "::ffff:a9fe:a9fe"] {
            guard case .destinationProhibited = harness.fetch(port: 80, host: host).error else {
                Issue.record("\(host) was let through")
                continue
            }
        }
        #expect(proxy.connectionCount == 0)
    }

    @Test("A tunnel is requested with CONNECT, and bytes after the response belong to the tunnel")
    func tunnel() throws {
        let proxy = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.send("HTTP/1.1 200 Connection established\r\nX-A: b\r\n\r\nfirst bytes")
            _ = connection.readToEnd()
        }
        defer { proxy.stop() }
        let harness = try harness(proxy, user: "Aladdin")
        let recorder = harness.openTunnel(to: "one.test", port: 443)
        let descriptor = try #require(recorder.tunnelDescriptor)
        defer { close(descriptor) }
        let head = try #require(proxy.requestHeads.first)
        #expect(head.hasPrefix("CONNECT one.test:443 HTTP/1.1\r\nHost: one.test:443\r\n"))
        #expect(head.contains("Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"))
        #expect(head.contains("Via: 1.1 one, 1.0 two\r\n"))
        var buffer = [UInt8](repeating: 0, count: 64)
        var count = -1
        harness.run {
            count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            return count >= 0
        }
        #expect(String(decoding: buffer[..<max(count, 0)], as: UTF8.self) == "first bytes")
    }

    @Test("A tunnel that the proxy refuses fails with the proxy's status")
    func refused() throws {
        let proxy = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.respond("403 Forbidden", body: "no")
        }
        defer { proxy.stop() }
        let harness = try harness(proxy)
        #expect(harness.openTunnel(to: "one.test", port: 443).error == .tunnelRefused(status: 403))
    }

    @Test("The proxy's 407 response is an error and is not passed to the client (RFC 9110 §15.5.8)")
    func wantsPassword() throws {
        let proxy = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.respond("407 Proxy Authentication Required", body: "no")
        }
        defer { proxy.stop() }
        #expect(try harness(proxy).fetch(port: 80, host: "one.test").error == .tunnelRefused(status: 407))
    }
}
