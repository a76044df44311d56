import Glibc
import Reachability
import TestSupport
import Testing

@Suite("mode: auto")
struct AutoModeTests {
    private static let yaml = """
        {mode: auto, cache: {max_stale_offline: 1h}, rules: [
          {name: unsafe, match: {path: /unsafe}, cache: {policy: stored_else_load, unsafe: true}}]}
        """

    private static let answer: @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = { request, connection in
        if request["If-None-Match"] == "\"a\"" { return connection.respond("304 Not Modified", fields: "ETag: \"a\"\r\n") }
        let control = ["/must", "/unsafe"].contains(request.target) ? "max-age=60, must-revalidate" : "max-age=60"
        return connection.respond(fields: "Cache-Control: \(control)\r\nETag: \"a\"\r\n", body: "kept \(request.target)")
    }

    @Test(
        "Link down: stored responses are served, others are a miss, and nothing is forwarded; link up: the next request validates (S6)",
        .enabled(if: NetworkNamespace.canBeMade, Comment(rawValue: NetworkNamespace.neededToMake ?? "")), .timeLimit(.minutes(1)),
        arguments: [1, 4])
    func followsNetwork(loops: Int) throws {
        let stage = try NetworkStage(Self.yaml, loops: loops, answer: Self.answer)
        for path in ["/a", "/must", "/unsafe"] { #expect(try stage.fetch(path).text == "kept \(path)") }
        stage.proxy.pass(seconds: 120)
        #expect(stage.proxy.server.networkStatus == "online: v0, wired")

        try stage.here.ip("link set v0 down")
        try stage.settle(.offline)
        #expect(stage.proxy.server.networkStatus == "offline: no link")
        let asked = stage.origin.requestHeads.count
        let hit = try stage.fetch("/a")
        #expect(hit.status == 200 && hit.text == "kept /a")
        #expect(hit.cacheStatus.hasPrefix("Larder; hit; ttl=-6") && hit.cacheStatus.hasSuffix("; detail=offline"))
        for host in ["10.9.0.2", "nowhere.invalid"] {
            let miss = try stage.fetch("/other", host: host)
            #expect(miss.status == 504 && miss.code == "offline_miss" && miss.detail == "uri_miss")
        }
        let forbidden = try stage.fetch("/must")
        #expect(forbidden.code == "offline_miss" && forbidden.detail == "must_revalidate")
        let unsafe = try stage.fetch("/unsafe")
        #expect(unsafe.status == 200 && unsafe.cacheStatus.contains("rule unsafe overrode must-revalidate"))
        stage.proxy.pass(seconds: 3600)
        let old = try stage.fetch("/a")
        #expect(old.status == 504 && old.code == "offline_miss" && old.detail == "max_stale_offline")
        #expect(stage.origin.requestHeads.count == asked)

        // The route has gone with the link: after link up there is no route yet.
        try stage.here.ip("link set v0 up")
        #expect(try stage.fetch("/other").code == "offline_miss")
        try stage.here.ip("route add default via 10.9.0.2")
        try stage.settle(.live)
        let validated = try stage.fetch("/a")
        #expect(validated.status == 200 && validated.text == "kept /a")
        #expect(validated.cacheStatus.contains("fwd=stale; fwd-status=304"))
        #expect(stage.origin.requestHeads.count == asked + 1)
        #expect(stage.origin.requestHeads.last?.contains("If-None-Match: \"a\"") == true)
        #expect(try stage.fetch("/other").text == "kept /other")
    }

    @Test("A forced network status decides the mode, and after a reload to another mode Larder no longer follows the network")
    func isForced() throws {
        let names = "resolve: {one.test: 127.0.0.1}"
        let auto = "{mode: auto, cache: {max_stale_offline: 1h}, \(names)}"
        let stage = try Stage(auto, answer: Self.answer)
        let server = stage.proxy.server
        func fetch(_ path: String) throws -> ReceivedResponse { try stage.fetch(path, host: "one.test") }
        func settle(_ status: String) throws {
            try eventually { server.networkStatus == status }
            // The thread that reports the status changes the mode, and then the loops do.
            try eventually { (server.mode == .offline) == status.hasPrefix("offline") }
            stage.proxy.settle()
        }
        server.forceNetwork(.online(NetworkPath(interfaceName: "w0", kind: .wireless, isMetered: true)))
        try settle("online: w0, wireless, metered")
        #expect(try fetch("/a").text == "kept /a")
        server.forceNetwork(.offline(.forced))
        try settle("offline: forced")
        #expect(try fetch("/a").text == "kept /a")
        #expect(try fetch("/b").code == "offline_miss")
        // The new settings apply to the known network status.
        try stage.proxy.reload("{mode: auto, \(names)}")
        #expect(try fetch("/b").code == "offline_miss")
        try stage.proxy.reload("{mode: live, \(names)}")
        #expect(server.networkStatus == nil)
        #expect(try fetch("/b").text == "kept /b")
        try stage.proxy.reload("{mode: offline, \(names)}")
        #expect(server.networkStatus == nil)
        stage.proxy.pass(seconds: 30 * 86_400)
        #expect(try fetch("/b").cacheStatus.hasSuffix("; detail=offline"))
        try stage.proxy.reload(auto)
        server.forceNetwork(.offline(.forced))
        try settle("offline: forced")
        #expect(try fetch("/b").detail == "max_stale_offline")
    }

    @Test(
        "Without a network, hosts on this machine are reachable by address and name; hosts behind an upstream proxy are not")
    func sparesThisMachine() throws {
        let stage = try Stage("{mode: auto, tunnel: {ports: any}, resolve: {one.test: 127.0.0.1}}", answer: Self.answer)
        stage.proxy.server.forceNetwork(.offline(.forced))
        try eventually { stage.proxy.server.mode == .offline }
        stage.proxy.settle()
        for host in ["127.0.0.1", "localhost", "one.localhost"] {
            #expect(try stage.fetch("/\(host)", host: host).text == "kept /\(host)")
        }
        // Remote and local hosts alternate on one connection.
        let client = try stage.client()
        for (host, isHere) in [("one.test", false), ("127.0.0.1", true), ("one.test", false), ("localhost", true)] {
            client.send(stage.head("POST", "/x", host: host))
            #expect(try client.readResponse(to: "POST").status == (isHere ? 200 : 504))
            let tunnel = try stage.client()
            tunnel.send("CONNECT \(host):\(stage.origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try tunnel.readResponse(to: "CONNECT").status == (isHere ? 200 : 504))
        }
        stage.proxy.pass(seconds: 120)
        #expect(try stage.fetch("/127.0.0.1").cacheStatus.contains("fwd=stale; fwd-status=304"))
        try stage.proxy.reload("{mode: auto, upstream: {proxy: 'http://127.0.0.1:\(stage.origin.port)'}}")
        #expect(try stage.fetch("/other").code == "offline_miss")
        try stage.proxy.reload("{mode: offline}")
        #expect(try stage.fetch("/other").code == "offline_miss")
        let log = try stage.proxy.logLines()
        #expect(!log.contains { $0.contains(#""reuse":"offline""#) })
    }
}
