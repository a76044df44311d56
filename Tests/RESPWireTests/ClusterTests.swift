import Testing

@testable import RESPWire

@Suite("Redis Cluster: slots, redirections and topology")
struct ClusterTests {
    @Test(
        "A key's slot is that of redis-server",
        // The slots are those that CLUSTER KEYSLOT of redis-server 7.0 returns.
        arguments: [
            ("123456789", 12_739), ("foo", 12_182), ("{user1000}.following", 3_443), ("{user1000}.followers", 3_443),
            ("foo{}{bar}", 8_363), ("foo{{bar}}zap", 4_015), ("foo{bar}{zap}", 5_061), ("", 0),
        ])
    func slots(key: String, slot: UInt16) { #expect(HashSlot.of(Array(key.utf8)) == slot) }

    @Test("MOVED and ASK name the node to send the command to")
    func redirections() {
        let moved = EngineError(Array("MOVED 3999 127.0.0.1:6381".utf8)).redirection
        #expect(moved == Redirection(slot: 3999, node: EngineAddress(host: "127.0.0.1", port: 6381), isForOneCommand: false))
        let ask = EngineError(Array("ASK 16383 ::1:7000".utf8)).redirection
        #expect(ask == Redirection(slot: 16_383, node: EngineAddress(host: "::1", port: 7000), isForOneCommand: true))
        #expect(EngineError(Array("MOVED 1 :7000".utf8)).redirection?.node.host == "")
    }

    @Test(
        "A malformed redirection leads nowhere",
        arguments: ["MOVED", "MOVED x 1:2", "MOVED 16384 h:1", "MOVED 1 h", "MOVED 1 h:0", "MOVED 1 h:99999", "ERR 1 h:1"])
    func malformedRedirections(text: String) { #expect(EngineError(Array(text.utf8)).redirection == nil) }

    @Test("The codes of errors are told apart, and an unknown one keeps its text")
    func codes() {
        #expect(EngineError(Array("OOM command not allowed".utf8)).code == .outOfMemory)
        #expect(EngineError(Array("WRONGPASS invalid".utf8)) == EngineError(Array("WRONGPASS invalid".utf8)))
        let unknown = EngineError(Array("STRANGE thing".utf8))
        #expect(unknown.code == .other)
        #expect(unknown.text == "STRANGE thing")
    }

    private func range(_ first: Int64, _ last: Int64, _ host: String, _ port: Int64) -> RESPValue {
        .list([.integer(first), .integer(last), .list([.bytes(Array(host.utf8)), .integer(port), .bytes([0x69])])])
    }

    @Test("CLUSTER SLOTS tells the master of each slot, and a node without a host is the one that was asked")
    func topology() throws {
        let reply = RESPValue.list([range(0, 5460, "10.0.0.1", 7000), range(5461, 10_922, "", 7001)])
        var topology = try #require(ClusterTopology(reply, asked: "10.0.0.9"))
        #expect(topology.master(of: 5460) == EngineAddress(host: "10.0.0.1", port: 7000))
        #expect(topology.master(of: 5461) == EngineAddress(host: "10.0.0.9", port: 7001))
        #expect(topology.master(of: 16_383) == nil)
        #expect(topology.servedCount == 10_923)
        let other = EngineAddress(host: "10.0.0.3", port: 7002)
        let isAssigned = topology.assign(16_383, to: other)
        #expect(isAssigned)
        #expect(topology.master(of: 16_383) == other)
        #expect(topology.nodes.count == 3)
    }

    @Test("A reply that is not a list of slots is refused")
    func malformedTopology() {
        let wrong: [RESPValue] = [
            .null, .list([.integer(1)]), .list([range(5, 4, "h", 1)]), .list([range(-1, 4, "h", 1)]),
            .list([range(0, 16_384, "h", 1)]), .list([range(0, 1, "h", 0)]), .list([range(0, 1, "h", 65_536)]),
            .list([range(0, 1, String(repeating: "h", count: 256), 1)]),
        ]
        for reply in wrong { #expect(ClusterTopology(reply, asked: "h") == nil) }
    }
}
