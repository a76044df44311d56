import TestSupport
import Testing

@Suite("mode: offline, in intercepted tunnels")
struct OfflineInterceptionTests {
    private static func goOffline(_ stage: InterceptingStage) throws {
        let ours = stage.ours
        let trust = try SecureStage.trust(stage.authority)
        try stage.proxy.reload(InterceptingStage.yaml + "\nmode: offline") {
            $0.transport.trust = trust
            $0.transport.connect = InterceptingStage.policy { _ in }
            $0.authority = ours
        }
    }

    @Test("In a tunnel a stored response is served and a miss is a 504, and Larder connects to nothing", arguments: [1, 4])
    func servesStored(loops: Int) throws {
        let stage = try InterceptingStage(loops: loops)
        _ = try stage.fetch("/a")
        try Self.goOffline(stage)
        stage.proxy.pass(seconds: 86_400)
        let connections = stage.origin.connectionCount
        // With a certificate for a host without earlier requests, too.
        for host in ["one.test", "two.test"] {
            let client = try stage.secure(host)
            client.send(stage.head("/a", host: host, fields: "Cache-Control: no-cache\r\n"))
            let response = try client.readResponse()
            if host == "one.test" {
                #expect(response.text == "answer to GET /a" && response.cacheStatus.hasSuffix("detail=offline"))
            } else {
                #expect(response.status == 504 && response.code == "offline_miss" && response.detail == "uri_miss")
            }
            client.send(stage.head("/a", method: "POST", host: host, fields: "Content-Length: 0\r\n"))
            #expect(try client.readResponse(to: "POST").detail == "method")
        }
        #expect(stage.origin.connectionCount == connections)
        stage.origin.stop()
        #expect(try stage.fetch("/a").text == "answer to GET /a")
    }

    @Test("A host that would get a tunnel gets 504 for its CONNECT")
    func refusesTunnels() throws {
        let stage = try InterceptingStage()
        try Self.goOffline(stage)
        let client = try RawClient(port: stage.proxy.port, owner: stage)
        client.send("CONNECT tunnel.test:\(stage.origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
        let response = try client.readResponse(to: "CONNECT")
        #expect(response.status == 504 && response.code == "offline_miss" && response.detail == "tunnel")
        #expect(stage.origin.connectionCount == 0)
    }

    @Test("A client that offers only HTTP/2 and would get a tunnel is disconnected")
    func endsOtherProtocols() throws {
        let stage = try InterceptingStage()
        try Self.goOffline(stage)
        let client = try stage.connect()
        var terms = stage.terms()
        terms.protocols = ["h2"]
        #expect(client.startTLS(terms) != .done)
        #expect(stage.origin.connectionCount == 0)
        #expect(try stage.logged("error").contains("offline_miss"))
    }

    @Test("Larder's own pages do not exist in a tunnel: their paths belong to the origin (T07)")
    func keepsOwnPagesOutside() throws {
        let stage = try InterceptingStage()
        for path in ["/proxy.pac", "/ca.pem"] { #expect(try stage.fetch(path).text == "answer to GET \(path)") }
        let client = try RawClient(port: stage.proxy.port, owner: stage)
        client.send("CONNECT 127.0.0.1:\(stage.proxy.port) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse(to: "CONNECT").status == 508)
    }
}
