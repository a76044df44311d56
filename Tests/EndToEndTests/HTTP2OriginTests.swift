import CertificateAuthority
import EventLoop
import Foundation
import HTTP2Wire
import HTTPMessage
import ProxyServer
import Recordings
import ServerTrust
import TestSupport
import Testing

@Suite("Origins with HTTP/2, and gRPC on both sides")
struct HTTP2OriginTests {
    /// A proxy that intercepts, offers HTTP/2, and has an origin that speaks it.
    private func stage(
        _ yaml: String = "", change: (inout ServerSettings) -> Void = { _ in },
        _ script: @escaping @Sendable (HTTP2Origin, borrowing OriginConnection) -> Void
    ) throws -> InterceptingStage {
        try InterceptingStage(
            yaml, connect: { $0.interceptsHTTP2 = true },
            change: {
                $0.offersHTTP2 = true
                change(&$0)
            }, http2: script)
    }

    private func client(_ stage: InterceptingStage) throws -> HTTP2Client {
        let client = try stage.secure { $0.protocols = ["h2"] }
        #expect(client.agreed?.protocolName == "h2")
        return try HTTP2Client(client)
    }

    /// A proxy that intercepts the tunnels of clients without TLS, too.
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

    /// Answers each message before the next one, as a bidirectional call does; a call of `Fail` ends with a reset.
    private static let grpc: @Sendable (HTTP2Origin, borrowing OriginConnection) -> Void = { server, connection in
        while let event = server.next(on: connection) {
            switch event {
            case .head(let id):
                if server.request(on: id)?.head.target == "/a.B/Denied" {
                    // Only trailers: one field section ends the response.
                    try? server.session.submitResponse(
                        id, HTTP2Origin.head(200, [("content-type", "application/grpc"), ("grpc-status", "7")]), endStream: true)
                } else {
                    server.begin(id, 200, [("content-type", "application/grpc")])
                }
            case .content(let id, let bytes):
                server.send(String(decoding: bytes.reversed(), as: UTF8.self), on: id)
                if server.request(on: id)?.head.target == "/a.B/Fail" {
                    server.flush(to: connection)
                    server.session.reset(id, .internalError)
                }
            case .end(let id): server.send([], trailers: [("grpc-status", "0"), ("grpc-message", "well")], on: id)
            default: break
            }
        }
    }

    private let grpcFields = [("content-type", "application/grpc"), ("te", "trailers"), ("grpc-timeout", "10S")]

    @Test("A call of gRPC inside interception: messages both ways in turn, trailers, and rules for its path")
    func carriesCalls() throws {
        let stage = try stage("rules: [{name: no-c, match: {path: \"/a.C/*\"}, deny: {}}]", Self.grpc)
        let client = try client(stage)
        let url = "https://one.test:\(stage.origin.port)"
        let stream = try client.begin("POST", "\(url)/a.B/Talk", grpcFields, hasContent: true)
        for number in 0..<3 {
            try client.send(Array("<\(number)>".utf8), on: stream)
            #expect(try client.read(3 * (number + 1), on: stream).hasSuffix(">\(number)<"))
        }
        try client.send([], on: stream, end: true)
        let response = try client.readResponse(on: stream)
        #expect(response.status == 200 && response.text == ">0<>1<>2<" && response.value("content-type") == "application/grpc")
        #expect(response.trailers?.texts.map(\.value) == ["0", "well"])
        let denied = try client.fetch("\(url)/a.B/Denied", method: "POST", grpcFields, content: [1])
        #expect(denied.hasEnded && denied.value("grpc-status") == "7" && denied.body.isEmpty)
        let refused = try client.fetch("\(url)/a.C/Talk", method: "POST", grpcFields, content: [1])
        #expect(refused.status == 403 && refused.text.contains("\"code\":\"denied_by_rule\""))
        let failed = try client.fetch("\(url)/a.B/Fail", method: "POST", grpcFields, content: [1])
        #expect(failed.status == 200 && !failed.hasEnded && failed.reset != nil)
        let heads = stage.origin.requestHeads.map { OriginRequest(head: $0) }
        #expect(heads.map(\.target) == ["/a.B/Talk", "/a.B/Denied", "/a.B/Fail"] && stage.origin.connectionCount == 1)
        #expect(heads[0]["te"] == "trailers" && heads[0]["grpc-timeout"] == "10S" && heads[0]["via"] == "2.0 larder")
        let lines = try stage.proxy.logLines()
        #expect(lines.filter { $0.contains("\"upstream_version\":\"2.0\"") }.count == 3, "\(lines)")
    }

    @Test("A client that cancels its call resets the stream to the origin, whose connection goes on")
    func cancelsCalls() throws {
        let resets = Guarded<[HTTP2ErrorCode]>([])
        let isReset = Gate()
        let stage = try stage { server, connection in
            while let event = server.next(on: connection) {
                switch event {
                case .head(let id): server.begin(id, 200)
                case .end(let id): server.send(Array("a".utf8)[...], on: id)
                case .reset(_, let code):
                    resets.withLock { $0.append(code) }
                    isReset.open()
                default: break
                }
            }
        }
        let client = try client(stage)
        let url = "https://one.test:\(stage.origin.port)"
        let stream = try client.begin("POST", "\(url)/a.B/Talk", grpcFields, hasContent: true)
        #expect(try client.readHead(on: stream).status == 200)
        client.session.reset(stream, .cancel)
        client.flush()
        #expect(isReset.wait())
        #expect(try client.fetch("\(url)/b").text == "a")
        #expect(resets.withLock { $0 } == [.cancel] && stage.origin.connectionCount == 1)
    }

    @Test("Many streams of one client share one connection to the origin, and responses are stored for clients of both versions")
    func shares() throws {
        let stage = try stage { server, connection in
            while let event = server.next(on: connection) {
                guard case .end(let id) = event, let request = server.request(on: id) else { continue }
                server.respond(
                    id, 200, [("cache-control", "max-age=600"), ("x-target", request.head.target)],
                    body: String(repeating: request.head.target, count: 1000))
            }
        }
        let client = try client(stage)
        let url = "https://one.test:\(stage.origin.port)"
        #expect(try client.fetch("\(url)/first").value("via") == "2.0 larder")
        let streams = try (0..<50).map { try client.begin("GET", "\(url)/\($0)") }
        for (number, stream) in streams.enumerated() {
            #expect(try client.readResponse(on: stream).text == String(repeating: "/\(number)", count: 1000))
        }
        #expect(stage.origin.connectionCount == 1)
        stage.proxy.waitUntilStored()
        let stored = try stage.fetch("/7")
        #expect(stored["Cache-Status"]?.hasPrefix("Larder; hit") == true && stored.text.hasPrefix("/7/7"))
        #expect(stage.origin.requestHeads.count == 51)
    }

    @Test("gRPC in clear text: a client that uses HTTP/2 in a tunnel without TLS reaches a server that does")
    func carriesPlainCalls() throws {
        let origin = ScriptedOrigin { Self.grpc(HTTP2Origin(), $0) }
        defer { origin.stop() }
        let proxy = try proxy()
        defer { proxy.stop() }
        let client = try connect(proxy, to: origin.port)
        let url = "http://127.0.0.1:\(origin.port)/a.B/Talk"
        let response = try client.fetch(url, method: "POST", grpcFields, content: Array("abc".utf8))
        #expect(response.text == "cba" && response.trailers?.texts.first?.value == "0")
        #expect(OriginRequest(head: try #require(origin.requestHeads.first))["via"] == "2.0 larder")
    }

    @Test("A response that the origin resets in the middle is not stored, and reaches no client as whole")
    func storesNoPart() throws {
        let stage = try stage { server, connection in
            while let event = server.next(on: connection) {
                guard case .end(let id) = event else { continue }
                server.begin(id, 200, [("cache-control", "max-age=600")])
                server.send("a part", on: id)
                server.flush(to: connection)
                server.session.reset(id, .cancel)
            }
        }
        let client = try client(stage)
        let url = "https://one.test:\(stage.origin.port)/a"
        for _ in 0..<2 {
            let response = try client.fetch(url)
            #expect(response.reset != nil && !response.hasEnded && response.status == 200)
        }
        #expect(stage.origin.requestHeads.count == 2)
    }

    @Test("After a reload that changes a pin, an open connection carries no further request")
    func obeysNewPins() throws {
        let authority = TestAuthority()
        let identity = authority.identity().choosingHTTP2()
        let origin = ScriptedOrigin(identity: identity) { connection in
            HTTP2Origin.serve(connection) { $0.respond($1.stream, body: "a") }
        }
        defer { origin.stop() }
        let right = try SecureStage.trust(authority, pins: SecureStage.pins(identity))
        let wrong = try SecureStage.trust(authority, pins: SecureStage.pins(authority.identity()))
        let proxy = try TestProxy("", change: { $0.transport.trust = right })
        defer { proxy.stop() }
        let client = try HTTP2Client(RawClient(port: proxy.port))
        let url = "https://127.0.0.1:\(origin.port)/"
        #expect(try client.fetch(url + "1").text == "a")
        try proxy.reload("") { $0.transport.trust = wrong }
        let refused = try client.fetch(url + "2")
        #expect(refused.status == 502 && refused.text.contains("pin"), "\(refused.text)")
        #expect(origin.requestHeads.count == 1)
    }

    @Test("Responses of https origins lose Alt-Svc, unless the settings keep it", arguments: [true, false])
    func removesAltSvc(removes: Bool) throws {
        let stage = try stage(change: { $0.removesAltSvc = removes }) { server, connection in
            while let event = server.next(on: connection) {
                if case .end(let id) = event { server.respond(id, 200, [("alt-svc", "h3=\":443\""), ("x-a", "1")], body: "a") }
            }
        }
        let response = try client(stage).fetch("https://one.test:\(stage.origin.port)/")
        #expect(response.value("alt-svc") == (removes ? nil : "h3=\":443\"") && response.value("x-a") == "1")
    }

    // MARK: Recordings

    @Test("A recorded call replays with its trailers to clients of both versions", arguments: [true, false])
    func replaysTrailers(toHTTP2: Bool) throws {
        let origin = ScriptedOrigin { Self.grpc(HTTP2Origin(), $0) }
        let folder = try TestFolder()
        let path = "\(folder.path)/test.larder"
        let port = origin.port
        let file = try Recorder.file(path)
        let recording = try proxy("mode: record\nrecord: {file: x}") { $0.recording = file }
        let url = "http://127.0.0.1:\(port)/a.B/Talk"
        let client = try connect(recording, to: port)
        #expect(try client.fetch(url, method: "POST", grpcFields, content: Array("abc".utf8)).text == "cba")
        recording.stop()
        try Recorder.finish(file)
        origin.stop()

        let layers = try Recorder.layers([path])
        let proxy = try proxy("mode: replay\nreplay: {layers: [x]}") { $0.layers = layers }
        defer { proxy.stop() }
        if toHTTP2 {
            let client = try connect(proxy, to: port)
            let response = try client.fetch(url, method: "POST", grpcFields, content: Array("abc".utf8))
            #expect(response.status == 200 && response.text == "cba")
            #expect(response.trailers?.texts.map(\.value) == ["0", "well"], "\(response)")
        } else {
            let client = try RawClient(port: proxy.port)
            let fields = "Content-Type: application/grpc\r\nTE: trailers\r\ngrpc-timeout: 10S\r\nContent-Length: 3\r\n"
            client.send("POST \(url) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(fields)\r\nabc")
            let response = try client.readResponse(to: "POST")
            #expect(response.status == 200 && response.text == "cba" && response.trailers.map(\.value) == ["0", "well"])
        }
    }
}

extension Fields {
    fileprivate var texts: [(name: String, value: String)] { lines.map { (text(of: $0.name), text(of: $0.value)) } }
}
