import Foundation
import HTTPMessage
import ResponseStore
import SharedTier
import TestSupport
import Testing

@Suite("The shared tier: failures", .enabled(if: RedisServer.isInstalled, Comment(rawValue: RedisServer.hint)))
struct SharedTierFailureTests {
    private static let answer: @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = { request, connection in
        connection.respond(fields: "Cache-Control: max-age=600\r\n", body: body(of: request.target))
    }

    private static func body(of path: String) -> String { String(repeating: "\(path) ", count: 500) }

    /// Requests paths from all nodes, and expects that each request gets the right bytes.
    private func expectService(_ farm: FarmStage, _ prefix: String, count: Int = 20) throws {
        for number in 0..<count {
            for node in farm.nodes.indices {
                let path = "/\(prefix)/\(number)"
                let response = try farm.fetch(path, from: node)
                #expect(response.status == 200 && response.text == Self.body(of: path))
            }
        }
    }

    @Test("While the engine is killed, every request is answered, and after its restart responses are shared again")
    func killed() throws {
        var redis: RedisServer? = try RedisServer()
        let port = try #require(redis?.port)
        let farm = try FarmStage(2, ports: [port], answer: Self.answer)
        try expectService(farm, "before")
        redis?.kill()
        try expectService(farm, "while")
        redis = try RedisServer(port: port)
        // The engine is empty: the nodes begin a new epoch.
        try eventually {
            farm.nodes.indices.allSatisfy { farm.status($0).isCurrent && farm.status($0).engines.first?.isOpen == true }
        }
        let before = farm.requestCount
        let stored = farm.status().counts.uploads[.stored, default: 0]
        _ = try farm.fetch("/after", from: 0)
        try farm.waitForUploads(stored + 1)
        #expect(try farm.fetch("/after", from: 1).cacheStatus.contains("shared_tier"))
        #expect(farm.requestCount == before + 1)
        _ = redis
    }

    @Test("While the engine is paused, requests are answered by the origin, and the breaker ends the waits")
    func paused() throws {
        let redis = try RedisServer()
        let farm = try FarmStage(2, ports: [redis.port], answer: Self.answer) { $0.engine.timeout = 50 }
        redis.pause()
        defer { redis.resume() }
        try expectService(farm, "while")
        let counts = farm.status().counts.lookUps
        // Three look-ups in a row open the breaker; later ones try the engine with growing pauses.
        #expect(counts[.timeout, default: 0] <= 10)
        redis.resume()
        try eventually { farm.status().isCurrent && farm.status(1).isCurrent }
        try expectService(farm, "after")
    }

    @Test("An engine that was emptied has no response, and none of the earlier ones is used")
    func emptied() throws {
        let redis = try RedisServer()
        let farm = try FarmStage(2, ports: [redis.port], answer: Self.answer)
        try expectService(farm, "before")
        redis.ask("FLUSHALL")
        try expectService(farm, "after")
        try eventually { farm.status().isCurrent && farm.status(1).isCurrent }
    }

    @Test("A full engine stores nothing, and no request fails")
    func full() throws {
        let redis = try RedisServer()
        let farm = try FarmStage(2, ports: [redis.port], answer: Self.answer)
        redis.ask("CONFIG SET maxmemory 1mb")
        redis.ask("CONFIG SET maxmemory-policy noeviction")
        try expectService(farm, "full")
        redis.ask("CONFIG SET maxmemory 0")
        try eventually { farm.status().isCurrent && farm.status(1).isCurrent }
        try expectService(farm, "after")
    }

    @Test("Entries with changed bytes are not used")
    func corrupt() throws {
        let redis = try RedisServer()
        let farm = try FarmStage(2, ports: [redis.port], answer: Self.answer)
        for number in 0..<5 { _ = try farm.fetch("/c/\(number)", from: 0) }
        try farm.waitForUploads(5)
        var changedCount = 0
        for key in redis.keys where !key.contains("{farm}") && !key.hasSuffix(":lease") {
            let fields = redis.ask("HKEYS \(key)").split(separator: "\r\n").filter { $0.hasPrefix("v") }
            for field in fields {
                redis.ask("HSET \(key) \(field) damaged")
                changedCount += 1
            }
        }
        #expect(changedCount == 5)
        for number in 0..<5 { #expect(try farm.fetch("/c/\(number)", from: 1).text == Self.body(of: "/c/\(number)")) }
        #expect(farm.requestCount == 10)
        #expect(farm.status(1).counts.refusals["malformed"] == 5)
    }

    @Test("A cluster of three masters stores each response once, and a dead master costs only its own keys")
    func cluster() throws {
        let cluster = try RedisCluster()
        // One address is enough to find the others.
        let farm = try FarmStage(2, ports: [cluster.servers[0].port], answer: Self.answer)
        try eventually {
            farm.nodes.indices.allSatisfy { farm.status($0).engines.count == 3 && farm.status($0).engines.allSatisfy(\.isOpen) }
        }
        for number in 0..<30 { _ = try farm.fetch("/k/\(number)", from: 0) }
        try farm.waitForUploads(30)
        for number in 0..<30 { #expect(try farm.fetch("/k/\(number)", from: 1).cacheStatus.contains("shared_tier")) }
        #expect(farm.requestCount == 30)
        for server in cluster.servers { #expect(server.keys.contains { !$0.contains("{farm}") }) }
        for server in cluster.servers where !server.keys.contains(where: { $0.contains("{farm}") }) {
            server.kill()
            break
        }
        try expectService(farm, "while")
    }

    @Test("A cluster that moves a slot redirects, and the node follows")
    func movedSlot() throws {
        let cluster = try RedisCluster()
        let farm = try FarmStage(2, ports: [cluster.servers[0].port], answer: Self.answer)
        try eventually { farm.nodes.indices.allSatisfy { farm.status($0).engines.filter(\.isOpen).count == 3 } }
        // All empty slots of the first master, except those of keys that exist, go to the second one.
        let first = cluster.servers[0]
        let target = cluster.servers[1].ask("CLUSTER MYID").split(separator: "\r\n").map(String.init)[1]
        for slot in stride(from: 0, to: 5461, by: 29) where first.ask("CLUSTER COUNTKEYSINSLOT \(slot)").contains(":0") {
            for server in [cluster.servers[1], first, cluster.servers[2]] { server.ask("CLUSTER SETSLOT \(slot) NODE \(target)") }
        }
        try expectService(farm, "moved", count: 40)
        #expect(farm.status().counts.lookUps[.failed] == nil)
    }

    @Test("A wrong password is reported, and requests are answered; the right one of an ACL user is accepted")
    func password() throws {
        let redis = try RedisServer(["--user", "default", "off", "--user", "larder", "on", ">correct", "~*", "&*", "+@all"])
        let wrong = try FarmStage(1, ports: [redis.port], isJoined: false, answer: Self.answer) {
            $0.engine.user = "larder"
            $0.engine.password = { Array("wrong".utf8) }
        }
        try eventually { wrong.warnings.all.contains { $0.contains("WRONGPASS") } }
        try expectService(wrong, "wrong")
        let right = try FarmStage(2, ports: [redis.port], answer: Self.answer) {
            $0.engine.user = "larder"
            $0.engine.password = { Array("correct".utf8) }
        }
        _ = try right.fetch("/a", from: 0)
        try right.waitForUploads(1)
        #expect(try right.fetch("/a", from: 1).cacheStatus.contains("shared_tier"))
    }
}
