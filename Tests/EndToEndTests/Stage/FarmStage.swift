import EventLoop
import Foundation
import RESPWire
import ProxyServer
import ResponseStore
import SharedTier
import TestSupport

/// Several proxies with one origin and one engine.
final class FarmStage {
    let nodes: [TestProxy]
    let origin: ScriptedOrigin
    let warnings = Warnings()

    final class Warnings: Sendable {
        private let texts = Guarded<[String]>([])
        var all: [String] { texts.withLock { $0 } }
        func add(_ text: String) { texts.withLock { $0.append(text) } }
    }

    /// - Parameters:
    ///   - ports: the engine's nodes.
    ///   - isJoined: whether to wait until all nodes have joined the farm.
    init(
        _ count: Int, ports: [UInt16], isJoined: Bool = true, yaml: String = "", url: String? = nil,
        answer: @escaping @Sendable (OriginRequest, borrowing OriginConnection) -> Bool,
        change: (inout TierConfiguration) -> Void = { _ in }, server: (inout ServerSettings) -> Void = { _ in }
    ) throws {
        origin = ScriptedOrigin.answering(answer)
        let text = url ?? "redis://" + ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
        let warnings = warnings
        nodes = try (0..<count).map { number in
            var configuration = TierConfiguration(
                engine: EngineConfiguration(url: try EngineURL(text)), node: "node-\(number)")
            // A busy machine must not change what is found.
            configuration.engine.timeout = Int(Deadline.milliseconds) / 2
            configuration.wait = Int(Deadline.milliseconds) / 2
            change(&configuration)
            return try TestProxy(yaml, engine: configuration, warn: { warnings.add($0) }, change: server)
        }
        if isJoined { try eventually { nodes.allSatisfy { $0.tier?.status.isCurrent == true } } }
    }

    deinit {
        for node in nodes { node.stop() }
        origin.stop()
    }

    func fetch(_ path: String, from node: Int, method: String = "GET", fields: String = "") throws -> ReceivedResponse {
        let client = try RawClient(port: nodes[node].port)
        client.send(
            "\(method) http://127.0.0.1:\(origin.port)\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\(fields)\r\n")
        return try client.readResponse(to: method)
    }

    var requestCount: Int { origin.requestHeads.count }

    func status(_ node: Int = 0) -> TierStatus {
        guard let tier = nodes[node].tier else { preconditionFailure("each node has an engine") }
        return tier.status
    }

    /// Waits until a node has stored this many responses in the engine.
    func waitForUploads(_ count: UInt64, of node: Int = 0) throws {
        try eventually { status(node).counts.uploads[.stored, default: 0] >= count }
    }

    func purge(_ filter: StoreFilter, from node: Int = 0, milliseconds: Int = Int(Deadline.milliseconds)) throws
        -> FarmPurgeResult
    {
        let result = Guarded<FarmPurgeResult?>(nil)
        let asker = try LoopThread(name: "asker")
        let reply = try asker.reply { (value: FarmPurgeResult) in result.withLock { $0 = value } }
        nodes[node].tier?.purge(.matching(filter), isSoft: false, milliseconds: milliseconds, reply: reply)
        try eventually { result.withLock { $0 != nil } }
        asker.handle.stop()
        asker.join()
        return result.withLock { $0 } ?? .failed("no reply")
    }
}

extension LoopThread {
    /// A reply that this thread handles.
    func reply<Value: Sendable>(_ handler: @escaping @Sendable (Value) -> Void) throws -> Reply<Value> {
        let made = Guarded<Reply<Value>?>(nil)
        handle.post { loop in
            let reply = loop.reply(handler)
            made.withLock { $0 = reply }
        }
        try eventually { made.withLock { $0 != nil } }
        return made.withLock { $0 }!  // the condition above
    }
}
