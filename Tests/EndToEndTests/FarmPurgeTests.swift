import EventLoop
import Foundation
import HTTPMessage
import ResponseStore
import SharedTier
import TestSupport
import Testing

@Suite("Purges of the whole farm", .enabled(if: RedisServer.isInstalled, Comment(rawValue: RedisServer.hint)))
struct FarmPurgeTests {
    /// An origin whose content changes with each release.
    private final class Releases: Sendable {
        private let number = Guarded(1)
        var current: Int { number.withLock { $0 } }
        func next() { number.withLock { $0 += 1 } }
    }

    @Test("After the acknowledgement, no node serves a response from before the purge")
    func purges() throws {
        let redis = try RedisServer()
        let releases = Releases()
        let farm = try FarmStage(3, ports: [redis.port]) { _, connection in
            connection.respond(fields: "Cache-Control: max-age=600\r\n", body: "release \(releases.current)")
        }
        for _ in 0..<20 {
            for node in farm.nodes.indices { _ = try farm.fetch("/a", from: node) }
            releases.next()
            #expect(try farm.purge(StoreFilter()) == .done(nodes: 3))
            for node in farm.nodes.indices { #expect(try farm.fetch("/a", from: node).text == "release \(releases.current)") }
        }
    }

    @Test("A purge covers only what its filter selects")
    func filters() throws {
        let redis = try RedisServer()
        let farm = try FarmStage(2, ports: [redis.port]) { request, connection in
            connection.respond(fields: "Cache-Control: max-age=600\r\n", body: request.target)
        }
        for path in ["/a/1", "/b/1"] { _ = try farm.fetch(path, from: 0) }
        try farm.waitForUploads(2)
        var filter = StoreFilter()
        filter.url = URLPattern("http://127.0.0.1:\(farm.origin.port)/a/*")
        #expect(try farm.purge(filter) == .done(nodes: 2))
        #expect(try farm.fetch("/b/1", from: 1).cacheStatus.contains("shared_tier"))
        #expect(try !farm.fetch("/a/1", from: 1).cacheStatus.contains("shared_tier"))
        #expect(farm.requestCount == 3)
    }

    @Test("A node with a live lease that does not confirm is named, and one whose lease has ended is not waited for")
    func namesNodes() throws {
        let redis = try RedisServer()
        let farm = try FarmStage(1, ports: [redis.port]) { _, connection in connection.respond() }
        let epoch = redis.ask("GET larder:test:{farm}:epoch").split(separator: "\r\n").map(String.init)[1]
        let (hour, microseconds) = (3600.0, 1_000_000.0)
        let now = Date().timeIntervalSince1970
        let nodes = "larder:test:{farm}:nodes"
        redis.ask("HSET \(nodes) gone \"\(epoch) 0 \(Int64((now - hour / 2) * microseconds)) gone\"")
        #expect(try farm.purge(StoreFilter()) == .done(nodes: 1))
        redis.ask("HSET \(nodes) silent \"\(epoch) 0 \(Int64((now + hour) * microseconds)) silent\"")
        #expect(try farm.purge(StoreFilter(), milliseconds: 200) == .unconfirmed(["silent"]))
    }

    @Test("A node that loses the tier validates its stored responses, and uses them again when it is back")
    func losesTheTier() throws {
        let redis = try RedisServer()
        let farm = try FarmStage(1, ports: [redis.port]) { request, connection in
            if request["If-None-Match"] != nil { return connection.send("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n") }
            return connection.respond(fields: "Cache-Control: max-age=600\r\nETag: \"1\"\r\n", body: "content")
        }
        _ = try farm.fetch("/a", from: 0)
        #expect(try farm.fetch("/a", from: 0).cacheStatus.hasPrefix("Larder; hit"))
        redis.pause()
        try eventually { !farm.status().isCurrent }
        let validated = try farm.fetch("/a", from: 0)
        #expect(validated.text == "content" && !validated.cacheStatus.hasPrefix("Larder; hit"))
        redis.resume()
        try eventually { farm.status().isCurrent }
        #expect(try farm.fetch("/a", from: 0).cacheStatus.hasPrefix("Larder; hit"))
    }

    @Test("A purge fails with a reason if the engine is not there")
    func failsWithoutEngine() throws {
        let redis = try RedisServer()
        let farm = try FarmStage(1, ports: [redis.port]) { _, connection in connection.respond() }
        redis.kill()
        try eventually { farm.status().engines.allSatisfy { !$0.isOpen } }
        #expect(try farm.purge(StoreFilter()) == .failed("the shared tier cannot be reached"))
    }
}
