import CertificateAuthority
import EventLoop
import Foundation
import HTTP2Wire
import HTTPMessage
import ProxyServer
import Recordings
import ServerTrust
import Snapshots
import TestSupport
import Testing

@Suite("Streams that origins reset (RFC 9113 §7, §8.1)")
struct HTTP2ResetTests {
    /// Sends a part of the response, and resets the stream with the code that the path names. `/head/8` has a reset without a response.
    private static let resets: @Sendable (HTTP2Origin, borrowing OriginConnection) -> Void = { server, connection in
        while let event = server.next(on: connection) {
            guard case .end(let id) = event, let target = server.request(on: id)?.head.target else { continue }
            let parts = target.split(separator: "/")
            guard let code = parts.last.flatMap({ UInt32($0) }) else {
                server.respond(id, body: "whole")
                continue
            }
            if parts.first != "head" {
                server.begin(id, 200, [("content-type", "text/plain"), ("cache-control", "no-store")])
                server.send("a part", on: id)
                server.flush(to: connection)
            }
            server.session.reset(id, HTTP2ErrorCode(rawValue: code))
        }
    }

    /// A proxy that intercepts tunnels of clients without TLS, whose origin speaks HTTP/2 without TLS.
    private func proxy(_ yaml: String = "", change: (inout ServerSettings) -> Void = { _ in }) throws -> TestProxy {
        let ours = try LocalAuthority(
            making: RootTerms(user: "tester", host: "here", days: 30, constraint: nil),
            at: POSIXTime(seconds: Int64(Date().timeIntervalSince1970)))
        let policy = InterceptingStage.policy { $0.interceptsHTTP2 = true }
        return try TestProxy(
            "tunnel: {ports: any}\n\(yaml)",
            change: {
                $0.transport.connect = policy
                $0.authority = ours
                $0.offersHTTP2 = true
                change(&$0)
            })
    }

    private func connect(_ proxy: TestProxy, to port: UInt16) throws -> HTTP2Client {
        let raw = try RawClient(port: proxy.port, owner: proxy)
        raw.send("CONNECT 127.0.0.1:\(port) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
        #expect(try raw.readResponse(to: "CONNECT").status == 200)
        return try HTTP2Client(raw)
    }

    /// The rest of a response in HTTP/1.1 that is cut off; `nil` if the response is complete.
    private func cutContent(_ proxy: TestProxy, _ url: String, _ port: UInt16) throws -> String? {
        let client = try RawClient(port: proxy.port, owner: proxy)
        client.send("POST \(url) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Length: 0\r\n\r\n")
        #expect(try client.readHead().status == 200)
        let rest = String(decoding: (try? client.readToEnd()) ?? [], as: UTF8.self)
        return rest.hasSuffix("0\r\n\r\n") ? nil : rest
    }

    /// A code of the origin, and the code for the client.
    private static let codes: [(HTTP2ErrorCode, HTTP2ErrorCode)] = [
        (.cancel, .cancel), (.internalError, .internalError), (.enhanceYourCalm, .enhanceYourCalm),
        (.refusedStream, .internalError), (.noError, .internalError), (.protocolError, .internalError),
        (.http11Required, .internalError), (HTTP2ErrorCode(rawValue: 0x99), .internalError),
    ]

    @Test("The code of a reset within a response reaches the client, if it concerns the request")
    func passesCodes() throws {
        let origin = ScriptedOrigin { Self.resets(HTTP2Origin(), $0) }
        defer { origin.stop() }
        let proxy = try proxy()
        defer { proxy.stop() }
        let client = try connect(proxy, to: origin.port)
        for (code, expected) in Self.codes {
            let response = try client.fetch("http://127.0.0.1:\(origin.port)/part/\(code.rawValue)", method: "POST", content: [])
            #expect(response.status == 200 && response.text == "a part" && !response.hasEnded, "\(code)")
            #expect(response.reset == expected, "\(code)")
        }
        #expect(try client.fetch("http://127.0.0.1:\(origin.port)/whole").text == "whole" && origin.connectionCount == 1)
    }

    @Test("A reset without a response is a 502 that names the code; REFUSED_STREAM and HTTP_1_1_REQUIRED are retried before")
    func namesCodes() throws {
        let origin = ScriptedOrigin { Self.resets(HTTP2Origin(), $0) }
        defer { origin.stop() }
        let proxy = try proxy()
        defer { proxy.stop() }
        let client = try connect(proxy, to: origin.port)
        for code in [HTTP2ErrorCode.cancel, .internalError, .enhanceYourCalm, .refusedStream] {
            let response = try client.fetch("http://127.0.0.1:\(origin.port)/head/\(code.rawValue)", method: "POST", content: [])
            let reason = "stream_reset_\(code)".lowercased()
            #expect(response.status == 502 && response.hasEnded, "\(code)")
            #expect(response.value("proxy-status")?.contains(reason) == true, "\(code): \(response.value("proxy-status") ?? "")")
        }
        // The last request was sent 21 times.
        #expect(origin.requestHeads.count == 3 + 21)
    }

    @Test("A recorded response that the origin reset is replayed as far as it came, with the same code, over both versions")
    func replays() throws {
        let origin = ScriptedOrigin { Self.resets(HTTP2Origin(), $0) }
        let port = origin.port
        let folder = try TestFolder()
        let path = "\(folder.path)/test.larder"
        let file = try Recorder.file(path)
        let recording = try proxy("mode: record\nrecord: {file: x}") { $0.recording = file }
        let url = "http://127.0.0.1:\(port)/part/8"
        let client = try connect(recording, to: port)
        #expect(try client.fetch(url, method: "POST", content: []).reset == .cancel)
        #expect(try client.fetch("http://127.0.0.1:\(port)/whole").text == "whole")
        recording.stop()
        try Recorder.finish(file)
        origin.stop()

        let snapshot = try Snapshot(path: path)
        let recordings = try (0..<snapshot.count).map { try snapshot.recording(at: $0) }
        let cut = try #require(recordings.first { $0.failure != nil })
        #expect(cut.failure == RecordedFailure(.cutShort, code: "stream_reset_cancel"))
        #expect(recordings.count == 2 && recordings.allSatisfy { $0.protocolName == Array("HTTP/2".utf8) })
        var har: [UInt8] = []
        _ = try HARExport(snapshot, tool: (name: "larder", version: "test")).write { har += $0 }
        let text = String(decoding: har, as: UTF8.self)
        #expect(text.split(separator: "\"httpVersion\":\"HTTP/2\"").count == 5 && !text.contains("HTTP/1.1"), "\(text)")

        let layers = try Recorder.layers([path])
        let replaying = try proxy("mode: replay\nreplay: {layers: [x]}") { $0.layers = layers }
        defer { replaying.stop() }
        let again = try connect(replaying, to: port)
        let response = try again.fetch(url, method: "POST", content: [])
        #expect(response.status == 200 && response.text == "a part" && response.reset == .cancel && !response.hasEnded)
        #expect(try again.fetch("http://127.0.0.1:\(port)/whole").text == "whole")
        #expect(try cutContent(replaying, url, port)?.contains("a part") == true)
        #expect(try replaying.logLines().contains { $0.contains(#""error":"response_reset""#) })
    }

    @Test("HTTP/2 reaches an origin through an upstream proxy: one CONNECT, and HTTP/2 inside the tunnel")
    func passesUpstreamProxies() throws {
        let authority = TestAuthority()
        let identity = authority.identity(names: "DNS:a.example").choosingHTTP2()
        let targets = Guarded<[String]>([])
        let upstream = ScriptedOrigin { connection in
            guard connection.readHead()?.hasPrefix("CONNECT a.example:443 ") == true else { return }
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            connection.speakTLS(as: identity) { inner in
                guard inner.isHTTP2 else { return }
                HTTP2Origin.serve(inner) { server, request in
                    targets.withLock { $0.append(request.head.target) }
                    server.respond(request.stream, body: "\(request.head.target) \(request.content.count)")
                }
            }
        }
        defer { upstream.stop() }
        let trust = try SecureStage.trust(authority)
        let proxy = try TestProxy(
            "upstream: {proxy: 'http://127.0.0.1:\(upstream.port)'}", change: { $0.transport.trust = trust })
        defer { proxy.stop() }
        let client = try HTTP2Client(RawClient(port: proxy.port, owner: proxy))
        #expect(try client.fetch("https://a.example/first").text == "/first 0")
        let streams = try (0..<10).map { try client.begin("GET", "https://a.example/\($0)") }
        for (number, stream) in streams.enumerated() { #expect(try client.readResponse(on: stream).text == "/\(number) 0") }
        #expect(try client.fetch("https://a.example/up", method: "POST", content: [1, 2, 3]).text == "/up 3")
        #expect(targets.withLock { $0.count } == 12 && upstream.connectionCount == 1)
        #expect(try proxy.logLines().allSatisfy { $0.contains("\"upstream_version\":\"2.0\"") })
    }
}
