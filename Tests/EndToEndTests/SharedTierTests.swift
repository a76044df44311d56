import Foundation
import HTTPMessage
import ResponseStore
import SharedTier
import TestSupport
import ServerTrust
import Testing

private let patterned: @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = { request, connection in
    connection.respond(fields: "Cache-Control: max-age=600\r\nETag: \"1\"\r\n", body: "body of \(request.target)")
}

@Suite("The shared tier", .enabled(if: RedisServer.isInstalled, Comment(rawValue: RedisServer.hint)))
struct SharedTierTests {
    @Test("What one node has fetched, another one gets from the tier, and Cache-Status says so")
    func shares() throws {
        let redis = try RedisServer()
        let farm = try FarmStage(2, ports: [redis.port], answer: patterned)
        #expect(try farm.fetch("/a", from: 0).cacheStatus.contains("fwd=uri-miss"))
        try farm.waitForUploads(1)
        let second = try farm.fetch("/a", from: 1)
        #expect(second.text == "body of /a" && second["ETag"] == "\"1\"")
        #expect(second.cacheStatus.hasPrefix("Larder; hit; ttl=") && second.cacheStatus.hasSuffix("detail=shared_tier"))
        #expect(second["Age"] != nil)
        // From now on the node has its own copy.
        #expect(try !farm.fetch("/a", from: 1).cacheStatus.contains("shared_tier"))
        #expect(farm.requestCount == 1)
        #expect(farm.status(1).counts.lookUps[.hit] == 1)
    }

    @Test("A body of up to max_body is shared in pieces, and a longer one is not", arguments: [16_384, 16_385, 300_000, 1 << 20])
    func sharesPieces(length: Int) throws {
        let redis = try RedisServer()
        let body = PatternedBody(length: length + 1)
        let farm = try FarmStage(2, ports: [redis.port]) { request, connection in
            let count = request.target == "/longer" ? length + 1 : length
            connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: \(count)\r\n\r\n")
            return connection.send(bytes: body.bytes(0..<count))
        } change: {
            $0.maximumBody = UInt64(length)
        }
        for path in ["/fits", "/longer"] { _ = try farm.fetch(path, from: 0) }
        try farm.waitForUploads(1)
        try eventually { farm.status().counts.uploads[.unshared] == 1 }
        for path in ["/fits", "/longer"] {
            let response = try farm.fetch(path, from: 1)
            #expect(response.body == body.bytes(0..<(path == "/fits" ? length : length + 1)))
        }
        #expect(farm.requestCount == 3)
    }

    @Test("Variants of one URL are shared, each for its own requests")
    func sharesVariants() throws {
        let redis = try RedisServer()
        let farm = try FarmStage(2, ports: [redis.port]) { request, connection in
            connection.respond(
                fields: "Cache-Control: max-age=60\r\nVary: Accept-Language\r\n", body: request["Accept-Language"] ?? "")
        }
        for (count, language) in ["de", "en", "fr"].enumerated() {
            _ = try farm.fetch("/", from: 0, fields: "Accept-Language: \(language)\r\n")
            try farm.waitForUploads(UInt64(count + 1))
        }
        for language in ["fr", "de", "en"] {
            #expect(try farm.fetch("/", from: 1, fields: "Accept-Language: \(language)\r\n").text == language)
        }
        #expect(farm.requestCount == 3)
    }

    @Test("Responses of a host that gets a client certificate are not in the engine")
    func keepsIdentifiedHosts() throws {
        let redis = try RedisServer()
        let files = TestAuthority().clientFiles()
        let identity = try ClientIdentity(pem: files.certificate, key: files.key)
        let scope = try #require(HostScope(host: "127.0.0.1", port: nil))
        let farm = try FarmStage(2, ports: [redis.port]) { _, connection in
            connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "own")
        } server: {
            _ = $0.transport.identities.insert(identity, for: scope)
        }
        for node in farm.nodes.indices {
            #expect(try !farm.fetch("/", from: node).cacheStatus.contains("shared_tier"))
            #expect(try farm.fetch("/", from: node).cacheStatus.contains("hit"))
        }
        #expect(farm.requestCount == 2)
    }

    @Test(
        "Private responses, and responses to requests with credentials, are not in the engine",
        arguments: [
            ("Cache-Control: private, max-age=60\r\n", ""), ("Cache-Control: no-store\r\n", ""),
            ("Cache-Control: max-age=60\r\n", "Authorization: Basic eDp5\r\n"),
            ("Cache-Control: max-age=60\r\nSet-Cookie: a=b\r\n", ""),
            ("Cache-Control: public, max-age=60\r\n", "Authorization: Basic eDp5\r\n"),
        ])
    func keepsPrivate(fields: String, requestFields: String) throws {
        let redis = try RedisServer()
        let farm = try FarmStage(2, ports: [redis.port]) { _, connection in
            connection.respond(fields: fields, body: "secret content")
        }
        _ = try farm.fetch("/", from: 0, fields: requestFields)
        // A response that may be shared is stored after it, so the other one would have been stored by now.
        _ = try farm.fetch("/", from: 1, fields: requestFields)
        #expect(farm.requestCount == 2)
        for key in redis.keys { #expect(!redis.ask("HGETALL \(key)").contains("secret content")) }
        #expect(farm.status().counts.uploads[.stored] == nil)
    }

    @Test("Two nodes that need a response at the same time fetch it once")
    func collapses() throws {
        let redis = try RedisServer()
        let gate = Gate()
        let farm = try FarmStage(2, ports: [redis.port]) { _, connection in
            gate.wait()
            return connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "slow")
        }
        let ports = farm.nodes.map(\.port)
        let origin = farm.origin.port
        let first = Thread.start {
            let client = try RawClient(port: ports[0])
            client.send("GET http://127.0.0.1:\(origin)/slow HTTP/1.1\r\nHost: x\r\n\r\n")
            return try client.readResponse()
        }
        try eventually { farm.requestCount == 1 }
        let second = Thread.start {
            let client = try RawClient(port: ports[1])
            client.send("GET http://127.0.0.1:\(origin)/slow HTTP/1.1\r\nHost: x\r\n\r\n")
            return try client.readResponse()
        }
        // The second node looks for the response again and again, until the first one has it.
        try eventually { redis.ask("INFO commandstats").contains("cmdstat_hgetall:calls=") && redis.callCount("hgetall") >= 3 }
        gate.open()
        #expect(try first.value().text == "slow")
        let waited = try second.value()
        #expect(waited.text == "slow" && waited.cacheStatus.contains("shared_tier"))
        #expect(farm.requestCount == 1)
        #expect(farm.status(1).counts.lookUps[.waited] == 1)
    }

    @Test("A response that was validated by one node is fresh for the others")
    func sharesFreshened() throws {
        let redis = try RedisServer()
        let farm = try FarmStage(2, ports: [redis.port]) { request, connection in
            let fields = "Cache-Control: max-age=100\r\nETag: \"1\"\r\n"
            if request["If-None-Match"] == "\"1\"" { return connection.send("HTTP/1.1 304 Not Modified\r\n\(fields)\r\n") }
            return connection.respond(fields: fields, body: "content")
        }
        _ = try farm.fetch("/", from: 0)
        try farm.waitForUploads(1)
        // Only the node's own clock moves, so only this node has a stale response.
        farm.nodes[0].pass(seconds: 200)
        #expect(try farm.fetch("/", from: 0).cacheStatus.contains("fwd=stale"))
        try farm.waitForUploads(2)
        #expect(try farm.fetch("/", from: 1).text == "content")
        #expect(farm.requestCount == 2)
    }

    @Test("After an unsafe request, the tier has no response of its URL")
    func invalidates() throws {
        let redis = try RedisServer()
        let farm = try FarmStage(3, ports: [redis.port], answer: patterned)
        _ = try farm.fetch("/a", from: 0)
        try farm.waitForUploads(1)
        _ = try farm.fetch("/a", from: 1, method: "POST", fields: "Content-Length: 0\r\n")
        try eventually {
            farm.status(1).counts.invalidations > 0 && redis.keys.allSatisfy { !redis.ask("HKEYS \($0)").contains("\r\nv") }
        }
        _ = try farm.fetch("/a", from: 2)
        #expect(farm.requestCount == 3)
    }

    @Test("With write: off a node reads and does not write; with second_request the second request is stored")
    func writePolicies() throws {
        let redis = try RedisServer()
        let reading = try FarmStage(1, ports: [redis.port], answer: patterned) { $0.write = .off }
        _ = try reading.fetch("/a", from: 0)
        #expect(redis.keys.allSatisfy { $0.contains("{farm}") })
        let second = try FarmStage(2, ports: [redis.port], answer: patterned) { $0.write = .secondRequest }
        _ = try second.fetch("/b", from: 0)
        try eventually { second.status(0).counts.uploads[.unshared] == 1 }
        _ = try second.fetch("/b", from: 1)
        try second.waitForUploads(1, of: 1)
        #expect(second.status(0).counts.uploads[.stored] == nil)
    }
}

extension RedisServer {
    /// How often a command was called.
    func callCount(_ command: String) -> Int {
        let line = ask("INFO commandstats").split(separator: "\r\n").first { $0.hasPrefix("cmdstat_\(command):calls=") }
        return line.flatMap { $0.split(separator: "=").dropFirst().first?.split(separator: ",").first }.flatMap { Int($0) } ?? 0
    }
}

/// A closure on a thread of its own.
final class RunningWork<Value: Sendable>: Sendable {
    private let result = DispatchSemaphore(value: 0)
    // Written before the semaphore is signalled, and read after that.
    nonisolated(unsafe) private var outcome: Result<Value, any Error>?

    fileprivate func set(_ outcome: Result<Value, any Error>) {
        self.outcome = outcome
        result.signal()
    }

    func value() throws -> Value {
        result.wait()
        return try outcome!.get()  // set before the signal
    }
}

extension Thread {
    static func start<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) -> RunningWork<Value> {
        let running = RunningWork<Value>()
        let thread = Thread { running.set(Result { try work() }) }
        thread.start()
        return running
    }
}
