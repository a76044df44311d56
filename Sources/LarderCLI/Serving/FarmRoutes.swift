import EventLoop
import HTTPMessage
import ProxyAdmin
import ResponseStore
import SharedTier
import TextCoding

/// `/v1/farm` and `/v1/cache/purge_farm`: the shared tier and the nodes of the farm.
enum FarmRoutes {
    /// How long a purge waits for the nodes' confirmations: longer than a lease.
    private static let purgeMilliseconds = 10_000

    static func all(_ tier: SharedTier?) -> [AdminRoute] {
        [
            AdminRoute(.get, "/v1/farm", .read) { request, exchange in
                guard let tier else { return refuse(exchange) }
                let wantsText = request.wantsText
                tier.nodes(
                    exchange.loop.reply { (nodes: [FarmNode]?) in
                        let report = FarmReport(status: tier.status, nodes: nodes)
                        if wantsText { exchange.answer(text: report.text) } else { exchange.answer(json: report.json) }
                    })
            },
            AdminRoute(
                .post, "/v1/cache/purge_farm", .change,
                parameters: StoreFilter.Word.allCases.map { AdminParameter($0.rawValue, isRepeatable: $0 == .tag) } + [
                    AdminParameter("soft", .words(["yes", "no"])), AdminParameter("all", .words(["yes", "no"])),
                ]
            ) { request, exchange in purge(tier, request, exchange) },
        ]
    }

    private static func refuse(_ exchange: AdminExchange) {
        exchange.refuse(
            Status(409), code: "no_farm", detail: "This Larder has no shared tier: the setting store.shared.url is off.")
    }

    private static func purge(_ tier: SharedTier?, _ request: AdminRequest, _ exchange: AdminExchange) {
        guard let tier else { return refuse(exchange) }
        var filter = StoreFilter()
        for (name, value) in request.parameters {
            guard let word = StoreFilter.Word(rawValue: name) else { continue }
            if !filter.set(word, to: value) {
                return exchange.refuse(
                    Status(400), code: "bad_filter", detail: "The filter \(name) has the invalid value `\(printable(value))`.")
            }
        }
        guard !filter.isEmpty || request["all"] == "yes" else {
            return exchange.refuse(
                Status(400), code: "purges_everything",
                detail: "Without a filter, this request would purge the stores of the whole farm: add all=yes.")
        }
        tier.purge(
            .matching(filter), isSoft: request["soft"] == "yes", milliseconds: purgeMilliseconds,
            reply: exchange.loop.reply { (result: FarmPurgeResult) in exchange.answer(json: json(of: result)) })
    }

    private static func json(of result: FarmPurgeResult) -> JSONText {
        switch result {
        case .done(let nodes): .object([("done", .bool(true)), ("nodes", .number(nodes))])
        case .unconfirmed(let names):
            .object([("done", .bool(false)), ("unconfirmed", .array(names.map { .string(printable($0, limit: 256)) }))])
        case .failed(let reason): .object([("done", .bool(false)), ("reason", .string(printable(reason, limit: 1024)))])
        }
    }
}

/// The shared tier and the farm as text and as JSON.
struct FarmReport {
    let status: TierStatus
    /// `nil` if the engine cannot be reached.
    let nodes: [FarmNode]?

    var json: JSONText {
        .object([
            ("url", .string(status.url)), ("cluster", .bool(status.isCluster)), ("farm", .string(status.farm)),
            ("node", .string(status.node)), ("current", .bool(status.isCurrent)),
            ("generation", status.generation.map { .number(Int($0)) } ?? .null),
            ("engines", .array(status.engines.map(Self.json))),
            ("nodes", nodes.map { .array($0.map(Self.json)) } ?? .null),
            ("look_ups", .object(LookUpOutcome.allCases.map { ($0.rawValue, .count(status.counts.lookUps[$0] ?? 0)) })),
            ("uploads", .object(UploadOutcome.allCases.map { ($0.rawValue, .count(status.counts.uploads[$0] ?? 0)) })),
            ("refused_entries", .object(refusals.map { ($0.key, .count($0.value)) })),
            ("queued", .number(status.queuedCount)), ("queued_bytes", .number(status.queuedBytes)),
        ])
    }

    /// The part that `larder status` shows.
    var summary: JSONText {
        .object([
            ("url", .string(status.url)), ("current", .bool(status.isCurrent)),
            ("engines", .array(status.engines.map(Self.json))),
            ("hits", .count((status.counts.lookUps[.hit] ?? 0) + (status.counts.lookUps[.waited] ?? 0))),
            ("stored", .count(status.counts.uploads[.stored] ?? 0)),
        ])
    }

    private var refusals: [(key: String, value: UInt64)] { status.counts.refusals.sorted { $0.key < $1.key } }

    private static func json(_ engine: EngineNodeStatus) -> JSONText {
        .object([
            ("address", .string(engine.address)), ("open", .bool(engine.isOpen)), ("answering", .bool(engine.isAnswering)),
            ("version", engine.version.map { .string(printable($0, limit: 128)) } ?? .null),
            ("failure", engine.failure.map { .string(printable($0, limit: 1024)) } ?? .null),
        ])
    }

    private static func json(_ node: FarmNode) -> JSONText {
        .object([
            ("name", .string(node.name)), ("live", .bool(node.isLive)), ("generation", .number(Int(node.mark.generation))),
            ("lease_ms", .number(Int(node.remaining))),
        ])
    }

    var text: String {
        var lines = [
            "shared tier  \(status.url)\(status.isCluster ? ", a cluster" : "")",
            "this node    \(status.node), \(status.isCurrent ? "current" : "apart: stored responses are validated before use")",
        ]
        for engine in status.engines {
            let state = engine.isOpen ? (engine.isAnswering ? "open" : "open, too slow") : "not connected"
            let reason = engine.failure.map { ": " + $0 } ?? engine.version.map { ", " + $0 } ?? ""
            lines.append("engine       \(engine.address), \(state)\(reason)")
        }
        for node in nodes ?? [] {
            lines.append(
                "node         \(node.name), purge \(node.mark.generation), "
                    + (node.isLive ? "lease \(node.remaining) ms" : "lease ended"))
        }
        if nodes == nil { lines.append("nodes        unknown: the engine cannot be reached") }
        lines.append("look-ups     " + Self.counts(LookUpOutcome.allCases.map { ($0.rawValue, status.counts.lookUps[$0] ?? 0) }))
        lines.append("uploads      " + Self.counts(UploadOutcome.allCases.map { ($0.rawValue, status.counts.uploads[$0] ?? 0) }))
        if !refusals.isEmpty { lines.append("refused      " + Self.counts(refusals.map { ($0.key, $0.value) })) }
        return lines.map { printable($0, limit: 4096) + "\n" }.joined()
    }

    private static func counts(_ counts: [(String, UInt64)]) -> String {
        let some = counts.filter { $0.1 > 0 }
        return some.isEmpty ? "none" : some.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
    }
}
