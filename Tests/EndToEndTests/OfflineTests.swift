import HTTPMessage
import ProxyAdmin
import TestSupport
import Testing

@Suite("mode: offline")
struct OfflineTests {
    private static let live = "{resolve: {one.test: 127.0.0.1}, tunnel: {ports: any}}"
    private static let offline = "{mode: offline, resolve: {one.test: 127.0.0.1}, tunnel: {ports: any}}"

    /// - Parameter age: the Age of the origin's responses, in seconds.
    private static func stage(_ loops: Int = 1, yaml: String = live, storePath: String? = nil, age: Int = 0) throws -> Stage {
        try Stage(yaml, loops: loops, storePath: storePath) { request, connection in
            let control =
                switch request.target {
                case "/must": "max-age=60, must-revalidate"
                case "/swr": "max-age=60, stale-while-revalidate=86400"
                default: "max-age=60"
                }
            return connection.respond(
                fields: "Cache-Control: \(control)\r\nAge: \(age)\r\nETag: \"a\"\r\n", body: "kept \(request.target)")
        }
    }

    @Test(
        "After a reload to offline, stored responses of any age are served without the origin, and nothing connects",
        arguments: [1, 4])
    func goesOffline(loops: Int) throws {
        let stage = try Self.stage(loops)
        for path in ["/a", "/must", "/swr"] { _ = try stage.fetch(path) }
        let connections = stage.origin.connectionCount
        try stage.proxy.reload(Self.offline)
        stage.proxy.pass(seconds: 86_400)
        for path in ["/a", "/swr"] {
            let response = try stage.fetch(path, fields: "Cache-Control: no-cache\r\n")
            #expect(response.status == 200 && response.text == "kept \(path)")
            #expect(response.cacheStatus.hasPrefix("Larder; hit; ttl=-863") && response.cacheStatus.hasSuffix("; detail=offline"))
            #expect(response["Age"]?.hasPrefix("8640") == true)
        }
        let forbidden = try stage.fetch("/must")
        #expect(forbidden.status == 504 && forbidden.code == "offline_miss" && forbidden.detail == "must_revalidate")
        let missing = try stage.fetch("/other", host: "one.test")
        #expect(missing.status == 504 && missing.code == "offline_miss" && missing.detail == "uri_miss")
        let told = try #require(missing["Proxy-Status"])
        #expect(told.contains("; error=destination_unavailable; details=\"offline_miss: uri_miss\""))
        let written = try stage.fetch("/a", method: "POST", body: "x")
        #expect(written.code == "offline_miss" && written.detail == "method")
        let tunnel = try stage.client()
        tunnel.send("CONNECT one.test:\(stage.origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
        let refused = try tunnel.readResponse(to: "CONNECT")
        #expect(refused.status == 504 && refused.code == "offline_miss" && refused.detail == "tunnel")
        // The refused write invalidated nothing.
        #expect(try stage.fetch("/a").text == "kept /a")
        #expect(stage.origin.connectionCount == connections && stage.requestCount() == 3)
        stage.origin.stop()
        #expect(try stage.fetch("/a").text == "kept /a")
        let log = try stage.proxy.logLines()
        #expect(log.contains { $0.contains(#""cache":"stale_hit""#) && $0.contains(#""reuse":"offline""#) })
        #expect(log.contains { $0.contains(#""error":"offline_miss""#) && $0.contains(#""detail":"must_revalidate""#) })
    }

    @Test("Back online, the next request is validated with the origin (T20)")
    func goesLive() throws {
        let stage = try Self.stage()
        _ = try stage.fetch("/a")
        try stage.proxy.reload(Self.offline)
        #expect(try stage.fetch("/b").code == "offline_miss")
        try stage.proxy.reload(Self.live)
        #expect(try stage.fetch("/b").text == "kept /b")
        stage.proxy.pass(seconds: 61)
        #expect(try stage.fetch("/a").cacheStatus.contains("fwd=stale"))
    }

    @Test("After a restart Larder finds the responses of the earlier process")
    func startsOffline() throws {
        let folder = try TestFolder()
        let path = "\(folder.path)/store.sqlite"
        let first = try Self.stage(storePath: path)
        let url = first.url("/a")
        _ = try first.fetch("/a")
        first.proxy.stop()
        first.origin.stop()
        let second = try TestProxy(Self.offline, storePath: path)
        defer { second.stop() }
        second.pass(seconds: 3600)
        let client = try RawClient(port: second.port)
        client.send("GET \(url) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse().text == "kept /a")
    }

    @Test(
        "explain predicts the offline response",
        arguments: [
            ("GET", "/a", "Cache-Control: max-age=0\r\n", "serve_stale", "offline", "Larder is offline"),
            ("GET", "/must", "", "refuse", "offline_miss", "must-revalidate"),
            ("GET", "/never", "Cache-Control: only-if-cached\r\n", "refuse", "offline_miss", "nothing is stored under the key"),
            ("CONNECT", "", "", "refuse", "offline_miss", ""),
            ("DELETE", "/a", "", "refuse", "offline_miss", "only GET and HEAD"),
        ])
    func foretells(method: String, path: String, fields: String, action: String, reason: String, says: String) throws {
        let stage = try Self.stage(age: 3600)
        for path in ["/a", "/must"] { _ = try stage.fetch(path) }
        try stage.proxy.reload(Self.offline)
        let socket = "\(stage.proxy.folder.path)/admin.sock"
        let routes = ExplainRoutes.routes(server: stage.proxy.server, store: stage.proxy.store, tellsQuery: true)
        let admin = try AdminServer(AdminSocket(path: socket), routes: routes)
        defer { admin.stop() }
        let client = try RawClient(socketPath: socket)
        let head =
            method == "CONNECT"
            ? "CONNECT 127.0.0.1:\(stage.origin.port) HTTP/1.1\r\nHost: a\r\n\r\n" : stage.head(method, path, fields: fields)
        client.send("POST /v1/explain HTTP/1.1\r\nHost: larder\r\nContent-Length: \(head.utf8.count)\r\n\r\n\(head)")
        let explanation = try client.readResponse().json
        #expect(explanation["action"] as? String == action && explanation["reason"] as? String == reason)
        let steps = explanation["steps"] as? [[String: Any]] ?? []
        let decision = steps.first { $0["step"] as? String == "decision" }
        #expect((decision?["says"] as? String ?? "").contains(says) || says.isEmpty, "\(explanation)")
        #expect(Schema.faults(of: explanation, in: "explain.schema.json") == [])
        let asking = try stage.client()
        asking.send(head)
        #expect(try asking.readResponse(to: method).status == explanation["status"] as? Int)
    }

    /// With a lookup the error would be a name that is not found, or a timeout.
    @Test("No name is looked up: http, https and CONNECT for it are misses")
    func looksUpNoName() throws {
        let stage = try Self.stage(yaml: Self.offline)
        let client = try stage.client()
        for line in ["GET http://nowhere.invalid/", "GET https://nowhere.invalid/", "CONNECT nowhere.invalid:443"] {
            client.send("\(line) HTTP/1.1\r\nHost: nowhere.invalid\r\n\r\n")
            #expect(try client.readResponse().code == "offline_miss")
        }
    }

    @Test(
        "A request that waits for a connection when the egress gate closes does not get one, whatever settings it began under",
        arguments: [0, 1, 3])
    func closesGateOnWaiting(reloads: Int) throws {
        let asked = Gate()
        let release = Gate()
        let stage = try Stage("{upstream: {connections_per_origin: 1}}") { request, connection in
            if request.target == "/slow" {
                asked.open()
                release.wait()
            }
            return connection.respond(fields: "Connection: close\r\n", body: "x")
        }
        let slow = try stage.client()
        slow.send(stage.head("GET", "/slow"))
        asked.wait()
        let waiting = try stage.client()
        waiting.send(stage.head("POST", "/waits"))
        // The request waits for a connection once a later request has a response.
        #expect(try stage.fetch("/x", method: "OPTIONS", fields: "Max-Forwards: 0\r\n").status == 200)
        for _ in 0..<reloads { try stage.proxy.reload("{upstream: {connections_per_origin: 1}}") }
        stage.proxy.settle()
        try stage.proxy.reload("{mode: offline, upstream: {connections_per_origin: 1}}")
        #expect(try stage.fetch("/miss").code == "offline_miss")
        release.open()
        // A request in flight is completed.
        #expect(try slow.readResponse().text == "x")
        let response = try waiting.readResponse(to: "POST")
        #expect(response.code == "offline_miss" && response.detail == "egress_closed")
        #expect(stage.origin.connectionCount == 1)
    }
}
