import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("Several Larders with one Redis server", .enabled(if: RedisServer.isInstalled, Comment(rawValue: RedisServer.hint)))
struct SharedTierServeTests {
    /// An origin whose content changes with each release.
    private final class Releases: Sendable {
        private let number = Guarded(1)
        func next() { number.withLock { $0 += 1 } }
        var current: Int { number.withLock { $0 } }
    }

    /// Nodes with the keys of one farm, an origin and a Redis server.
    private final class Farm {
        let redis: RedisServer
        let origin: ScriptedOrigin
        let keys: TemporaryFolder
        let releases = Releases()

        init() throws {
            redis = try RedisServer()
            keys = try TemporaryFolder()
            let releases = releases
            origin = ScriptedOrigin.answering { request, connection in
                connection.respond(
                    fields: "Cache-Control: max-age=600\r\n", body: "release \(releases.current) of \(request.target)")
            }
            #expect(try key("new", "--label", "builder-1").code == 0)
        }

        deinit { origin.stop() }

        func key(_ words: String..., folder: String? = nil) throws -> CommandLineTests.Outcome {
            try CommandLineTests.larder(["farm", "key"] + words + ["--folder", folder ?? keys.path])
        }

        func start(_ name: String, keys folder: String? = nil, settings: String = "") throws -> ServeTests.Served {
            try ServeTests.Served(
                """
                egress: {addresses: {private: allow}}
                store:
                  shared:
                    url: redis://127.0.0.1:\(redis.port)
                    keys: \(folder ?? keys.path)
                    node: \(name)
                    timeout: 10s
                    wait: 10s
                \(settings)
                """)
        }

        /// A node that has joined the farm.
        func node(_ name: String, keys folder: String? = nil) throws -> Node {
            let node = Node(served: try start(name, keys: folder), origin: origin.port)
            _ = try node.served.ports()
            try node.waitUntilCurrent()
            return node
        }
    }

    private struct Node {
        let served: ServeTests.Served
        let origin: UInt16

        func get(_ path: String) throws -> ReceivedResponse {
            let client = try RawClient(port: UInt16(try #require(try served.ports().first)))
            client.send("GET http://127.0.0.1:\(origin)\(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            return try client.readResponse()
        }

        func larder(_ words: String...) throws -> CommandLineTests.Outcome {
            try CommandLineTests.larder(words + ["--set", "admin.socket=\(served.folder.path)/admin.sock"])
        }

        private func status() throws -> [String: Any] {
            let text = try larder("farm", "status", "-o", "json").output
            return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        }

        func isCurrent() throws -> Bool { try status()["current"] as? Bool == true }

        func waitUntilCurrent() throws { try eventually { (try? isCurrent()) == true } }

        func count(_ group: String, _ word: String) throws -> Int {
            (try status()[group] as? [String: Any])?[word] as? Int ?? 0
        }

        func waitForUploads(_ count: Int) throws { try eventually { (try? self.count("uploads", "stored")) == count } }
    }

    @Test("What one Larder has fetched, another one gets from the tier, and the engine has no URL and no content")
    func shares() throws {
        let farm = try Farm()
        let (first, second) = (try farm.node("one"), try farm.node("two"))
        #expect(try first.get("/a").cacheStatus.contains("fwd=uri-miss"))
        try first.waitForUploads(1)
        let found = try second.get("/a")
        #expect(found.text == "release 1 of /a" && found.cacheStatus.hasSuffix("detail=shared_tier"))
        #expect(farm.origin.requestHeads.count == 1)

        let everything = farm.redis.ask(
            #"EVAL "local all = '' for _, key in ipairs(redis.call('KEYS', 'larder:*}')) do all = all .. key .. table.concat(redis.call('HGETALL', key), ' ') end return all" 0"#
        )
        #expect(everything.count > 500 && !everything.contains("127.0.0.1") && !everything.contains("release"))

        let status = try second.larder("farm", "status")
        #expect(status.code == 0 && status.output.contains("node         one, purge 0, lease "))
        #expect(status.output.contains("node         two, purge 0, lease ") && status.output.contains("look-ups     1 hit\n"))
        #expect(try second.larder("status", "-o", "json").output.contains(#""hits": 1"#))
        #expect(try second.larder("farm", "status", "-o", "json").output.contains(#""version": "redis 7"#))
    }

    @Test("Changed and swapped entries, and those of a stranger, are not served")
    func refusesForgeries() throws {
        let farm = try Farm()
        let (first, second) = (try farm.node("one"), try farm.node("two"))
        // The stranger has the farm key, and a signing key that the other nodes do not trust.
        let folder = try TemporaryFolder()
        for name in ["farm.key", "trusted.keys"] {
            try FileManager.default.copyItem(atPath: "\(farm.keys.path)/\(name)", toPath: "\(folder.path)/\(name)")
        }
        #expect(try farm.key("new", "--signing-only", "--label", "stranger", folder: folder.path).code == 0)
        let stranger = try farm.node("stranger", keys: folder.path)
        for path in ["/a", "/b", "/c"] { _ = try first.get(path) }
        try first.waitForUploads(3)
        farm.redis.ask(Self.forging)
        _ = try stranger.get("/d")
        try stranger.waitForUploads(1)

        farm.releases.next()
        for path in ["/a", "/b", "/c", "/d"] {
            let response = try second.get(path)
            #expect(response.text == "release 2 of \(path)" && !response.cacheStatus.contains("shared_tier"))
        }
        #expect(try second.count("refused_entries", "unknown_signer") == 1)
        #expect(try second.count("refused_entries", "other_key") == 2)
        #expect(second.served.says("an entry of the shared tier was not used: unknown_signer"))
    }

    /// Exchanges the entries of the first two keys, and changes the last byte of the third one's.
    private static let forging =
        #"EVAL ""#
        + "local found = {} for _, key in ipairs(redis.call('KEYS', 'larder:*}')) do "
        + "for _, field in ipairs(redis.call('HKEYS', key)) do if #field > 1 then table.insert(found, {key, field}) end end end "
        + "local value = function(n) return redis.call('HGET', found[n][1], found[n][2]) end "
        + "local set = function(n, v) redis.call('HSET', found[n][1], found[n][2], v) end "
        + "local one, two, three = value(1), value(2), value(3) set(1, two) set(2, one) "
        + "set(3, three:sub(1, -2) .. string.char((three:byte(-1) + 1) % 256)) return #found" + #"" 0"#

    @Test("While the engine is gone every request is answered, and after its restart responses are shared again")
    func survivesTheEngine() throws {
        let farm = try Farm()
        let (first, second) = (try farm.node("one"), try farm.node("two"))
        farm.redis.kill()
        for path in ["/a", "/b"] {
            #expect(try first.get(path).text == "release 1 of \(path)")
            #expect(try second.get(path).text == "release 1 of \(path)")
        }
        let purge = try first.larder("cache", "purge", "--all", "--farm")
        #expect(purge.code == 1 && purge.talk.contains("larder: the farm was not purged: the shared tier cannot be reached"))
        // A node relies on its lease for some seconds, even if it has lost the engine.
        for node in [first, second] { try eventually { try !node.isCurrent() } }
        let restarted = try RedisServer(port: farm.redis.port)
        for node in [first, second] { try node.waitUntilCurrent() }
        _ = try first.get("/c")
        try first.waitForUploads(1)
        #expect(try second.get("/c").cacheStatus.contains("shared_tier"))
        restarted.kill()
    }

    @Test("After cache purge --farm, no node serves a response from before the purge")
    func purges() throws {
        let farm = try Farm()
        let nodes = (try farm.node("one"), try farm.node("two"))
        for path in ["/a", "/b"] {
            _ = try nodes.0.get(path)
            _ = try nodes.1.get(path)
        }
        try nodes.0.waitForUploads(2)
        farm.releases.next()
        let purge = try nodes.0.larder("cache", "purge", "http://127.0.0.1:\(farm.origin.port)/a", "--farm")
        #expect(purge.code == 0 && purge.output == "purged on 2 nodes\n", "\(purge.talk)")
        #expect(try nodes.1.get("/a").text == "release 2 of /a" && nodes.1.get("/b").text == "release 1 of /b")
        #expect(try nodes.0.get("/a").text == "release 2 of /a")
        #expect(try nodes.0.larder("cache", "purge", "--all", "--farm", "-o", "json").output.contains(#""nodes": 2"#))
    }

    @Test("After a reload, entries of a key that was revoked are not used")
    func reloadsKeys() throws {
        let farm = try Farm()
        let (first, second) = (try farm.node("one"), try farm.node("two"))
        _ = try first.get("/a")
        try first.waitForUploads(1)
        let shown = try farm.key("show", "-o", "json").output
        let keys = try #require(try JSONSerialization.jsonObject(with: Data(shown.utf8)) as? [String: Any])
        let signing = try #require((keys["signing_keys"] as? [[String: Any]])?.first?["id"] as? String)
        #expect(try farm.key("rotate", "signing", "--from", "now").code == 0)
        #expect(try farm.key("revoke", signing).code == 0)
        let reload = try second.larder("reload")
        #expect(reload.code == 0, "\(reload.talk)")
        #expect(try second.get("/a").cacheStatus.contains("fwd=uri-miss"))
        #expect(try second.count("refused_entries", "revoked_signer") == 1)
    }

    @Test("A key file that other users can read, and a URL with a password, are errors at the start")
    func refusesBadSettings() throws {
        let farm = try Farm()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(farm.keys.path)/farm.key")
        let served = try farm.start("one")
        #expect(served.hasEnded() && served.process.terminationStatus == 1)
        #expect(served.said.contains("store.shared.keys: ") && served.said.contains("farm.key"), "\(served.said)")
        let check = try CommandLineTests.larder(["config", "check", "--set", "store.shared.url=redis://u:hush@cache"])
        #expect(check.code != 0 && check.talk.contains("store.shared.url") && !check.talk.contains("hush"), "\(check.talk)")
    }
}

extension ReceivedResponse {
    fileprivate var cacheStatus: String { self["Cache-Status"] ?? "" }
}
