import ClientPasswords
import Foundation
import HTTPMessage
import ProxyServer
import TestSupport
import Testing

@Suite("Client authentication (RFC 9110 §11.7, RFC 7617)")
struct PasswordTests {
    private static let good = "Proxy-Authorization: Basic \(Base64.encode(Array("alice:open sesame".utf8)))\r\n"
    private static let wrong = "Proxy-Authorization: Basic \(Base64.encode(Array("alice:open sesam".utf8)))\r\n"

    /// Hashes of the same password and salt, by their cost.
    private static let hashes = [
        "04": "/LVz6MZlItEy42I2juLihZ66HnQx/cy", "08": "vbcBqwD0vqGp5cw/xK4wy0Mtx9M8.Zy", "10": "4SuEsu2LsUrAYUpWQHLMMc4GV5pZTxK",
        "12": "q2uHH4t8IjTa8PV9VUUF1vssBH6WaR2",
    ]

    /// A proxy that requires credentials of every client.
    private func stage(
        _ yaml: String = "", loops: Int = 1, storePath: String? = ":memory:", cost: String = "04",
        answer: @escaping @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = { request, connection in
            guard connection.readBody(of: request) != nil else { return false }
            return connection.respond(fields: "Cache-Control: max-age=600\r\n", body: "secret")
        }
    ) throws -> Stage {
        let hash = try #require(Self.hashes[cost])
        let passwords = try PasswordFile(parsing: Array("alice:$2y$\(cost)$abcdefghijklmnopqrstuu\(hash)".utf8))
        return try Stage(
            yaml, loops: loops, storePath: storePath,
            change: {
                $0.admission.passwords = passwords
                $0.admission.asked = .all
            }, answer: answer)
    }

    @Test(
        "A client without valid credentials gets 407 and no stored response; one with valid credentials is served",
        arguments: [1, 4])
    func asks(loops: Int) throws {
        let stage = try stage(loops: loops)
        #expect(try stage.fetch("/", fields: Self.good).text == "secret")
        for (fields, detail) in [("", "missing"), (Self.wrong, "refused"), ("Proxy-Authorization: Basic x\r\n", "malformed")] {
            let response = try stage.fetch("/", fields: fields)
            #expect(response.status == 407)
            #expect(response["Proxy-Authenticate"] == #"Basic realm="Larder", charset="UTF-8""#)
            #expect(response.code == "proxy_authentication_required" && response.detail == detail)
            #expect(!response.text.contains("secret"))
        }
        let hit = try stage.fetch("/", fields: Self.good)
        #expect(hit.text == "secret" && hit.cacheStatus.contains("; hit"))
        #expect(stage.origin.requestHeads.count == 1)
    }

    @Test("T42 credentials are not passed to an origin, a log, the store, a cache key or an echo")
    func goesNoFurther() throws {
        let stage = try stage("log: {access: {query: true}}", storePath: nil) { _, connection in
            connection.respond(fields: "Cache-Control: max-age=600\r\nVary: Proxy-Authorization, Accept\r\n", body: "x")
        }
        for _ in 0..<2 { #expect(try stage.fetch("/v", fields: Self.good).status == 200) }
        let echo = try stage.fetch("/t", method: "TRACE", fields: Self.good + "Max-Forwards: 0\r\n")
        #expect(echo.status == 200 && !echo.text.lowercased().contains("authorization"))
        #expect(!stage.origin.requestHeads.contains { $0.lowercased().contains("proxy-authorization") })
        stage.proxy.waitUntilStored()
        stage.proxy.stop()
        let encoded = Data(Base64.encode(Array("alice:open sesame".utf8)).utf8)
        var looked = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: stage.proxy.folder.path) {
            let content = try Data(contentsOf: URL(filePath: "\(stage.proxy.folder.path)/\(name)"))
            looked += content.count
            for secret in [encoded, Data("open sesame".utf8)] { #expect(content.range(of: secret) == nil, "\(name)") }
        }
        #expect(looked > 10_000)
    }

    @Test("The log has the name of an authenticated client, and no unverified name")
    func isLogged() throws {
        let stage = try stage()
        _ = try stage.fetch("/a", fields: Self.good)
        _ = try stage.fetch("/b", fields: Self.wrong)
        _ = try stage.fetch("/c")
        let lines = try stage.proxy.loggedLines(3)
        #expect(lines.map { $0["user"] as? String } == ["alice", nil, nil])
        #expect(lines.map { $0["status"] as? Int } == [200, 407, 407])
        #expect(lines[1]["error"] as? String == "proxy_authentication_required" && lines[1]["detail"] as? String == "refused")
    }

    @Test("Every request of a connection needs credentials, whatever came before; pipelined requests are answered in order")
    func asksEachRequest() throws {
        let stage = try stage(cost: "08")
        let client = try stage.client()
        client.send(
            stage.head("GET", "/1", fields: Self.good) + stage.head("GET", "/2") + stage.head("GET", "/3", fields: Self.good)
                + stage.head("GET", "/4", fields: Self.wrong) + stage.head("GET", "/5", fields: Self.good))
        var statuses: [Int] = []
        for _ in 0..<5 { statuses.append(try client.readResponse().status) }
        #expect(statuses == [200, 407, 200, 407, 200])
    }

    @Test("T13 the body of a refused request is not read as a request", arguments: [false, true], ["", wrong])
    func drainsBody(isChunked: Bool, fields: String) throws {
        let stage = try stage(cost: "08")
        let smuggled = stage.head("GET", "/smuggled", fields: Self.good)
        let client = try stage.client()
        let length = isChunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: \(smuggled.utf8.count)\r\n"
        let content = isChunked ? String(smuggled.utf8.count, radix: 16) + "\r\n\(smuggled)\r\n0\r\n\r\n" : smuggled
        client.send(stage.head("POST", "/p", fields: fields + length) + content + stage.head("GET", "/next", fields: Self.good))
        #expect(try client.readResponse().status == 407)
        #expect(try client.readResponse().status == 200)
        #expect(stage.requestCount("/smuggled") == 0 && stage.requestCount("/next") == 1)
    }

    @Test("T13 above the discard limit the connection ends; a client that waits for 100 gets its 407 at once")
    func endsConnection() throws {
        let stage = try stage()
        var client = try stage.client()
        client.send(stage.head("POST", "/p", fields: "Content-Length: 9000000\r\n") + "start")
        var response = try client.readResponse()
        #expect(response.status == 407 && response["Connection"] == "close")
        client = try stage.client()
        client.send(stage.head("POST", "/p", fields: "Content-Length: 10\r\nExpect: 100-continue\r\n"))
        response = try client.readResponse()
        #expect(response.status == 407 && response["Connection"] == "close" && response.informational.isEmpty)
    }

    @Test("A body that arrives during the password check reaches the origin complete")
    func keepsBody() throws {
        let stage = try stage(cost: "10") { request, connection in
            guard let body = connection.readBody(of: request) else { return false }
            return connection.respond(body: "got \(body.count)")
        }
        let client = try stage.client()
        client.send(stage.head("POST", "/p", fields: Self.good + "Content-Length: 300000\r\n"))
        client.send(bytes: [UInt8](repeating: 0x61, count: 300_000))
        #expect(try client.readResponse().text == "got 300000")
    }

    @Test("CONNECT needs credentials before any connection is made, and the tunnel carries none")
    func asksBeforeTunnel() throws {
        let stage = try stage("tunnel: {ports: any}")
        let authority = "127.0.0.1:\(stage.origin.port)"
        let connect = "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n"
        var client = try stage.client()
        client.send(connect + "\r\nGET /early HTTP/1.1\r\nHost: a\r\n\r\n")
        let refused = try client.readResponse()
        #expect(refused.status == 407 && refused["Connection"] == "close")
        #expect(try client.readToEnd().isEmpty)
        #expect(stage.origin.requestHeads.isEmpty)
        client = try stage.client()
        client.send(connect + Self.good + "\r\n")
        #expect(try client.readHead().status == 200)
        client.send("GET /inside HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse().text == "secret")
        #expect(!stage.origin.requestHeads.contains { $0.contains("Basic") })
    }

    @Test("10,000 wrong guesses: few are checked, an authenticated client is served meanwhile, and the others get 429")
    func boundsGuessing() throws {
        let stage = try stage()
        #expect(try stage.fetch("/", fields: Self.good).status == 200)
        let (port, head) = (stage.proxy.port, stage.head("GET", "/"))
        let began = ContinuousClock.now
        let tried = try concurrently(4) { worker in
            var statuses: [Int: Int] = [:]
            for number in 0..<2500 {
                let guess = Base64.encode(Array("alice:\(worker) \(number)".utf8))
                let client = try RawClient(port: port)
                client.send(head.dropLast() + "Proxy-Authorization: Basic \(guess)\r\n\r\n")
                let response = try client.readResponse()
                statuses[response.status, default: 0] += 1
                if response.status == 429, response["Retry-After"] != "3" || response["Connection"] != "close" { statuses[0] = 1 }
            }
            return statuses
        }
        let all = tried.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        // One more for every three seconds that this takes, and those that the other three clients had begun.
        let most = 24 + Int((ContinuousClock.now - began) / .seconds(3))
        #expect(Set(all.keys) == [407, 429] && (20...most).contains(all[407]!), "\(all)")
        #expect(try stage.fetch("/", fields: Self.good).status == 200)
        #expect(stage.origin.requestHeads.count == 1)
    }

    @Test("A reload that changes the passwords applies to the next request, on open connections too")
    func reloads() throws {
        let stage = try stage()
        let client = try stage.client()
        client.send(stage.head("GET", "/", fields: Self.good))
        #expect(try client.readResponse().status == 200)
        let others = try PasswordFile(parsing: Array("bob:$2b$04$abcdefghijklmnopqrstuunh10qKcoDsaz2Tw/Z/b0G1b9MWIXb/C".utf8))
        try stage.proxy.reload("") {
            $0.admission.passwords = others
            $0.admission.asked = .all
        }
        stage.proxy.settle()
        client.send(stage.head("GET", "/", fields: Self.good))
        #expect(try client.readResponse().status == 407)
        client.send(
            stage.head("GET", "/", fields: "Proxy-Authorization: Basic \(Base64.encode(Array("bob:pa:ss:word".utf8)))\r\n"))
        #expect(try client.readResponse().status == 200)
        try stage.proxy.reload("")
        stage.proxy.settle()
        client.send(stage.head("GET", "/"))
        #expect(try client.readResponse().status == 200)
    }

    @Test("A client that leaves during its password check costs nothing more, and the proxy stops normally")
    func clientLeaves() throws {
        let stage = try stage(cost: "12")
        let client = try stage.client()
        client.send(stage.head("GET", "/", fields: Self.good))
        stage.proxy.settle()
        client.reset()
        stage.proxy.settle()
        #expect(try stage.proxy.loggedLines(1).first?["status"] as? Int == 0)
        #expect(stage.origin.requestHeads.isEmpty)
    }
}
