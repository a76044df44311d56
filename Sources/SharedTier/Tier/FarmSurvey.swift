import RESPWire

/// The leases of all nodes at one moment, by the engine's clock.
struct FarmSurvey: Equatable, Sendable {
    let farm: FarmMark
    /// Whether the record of the purge that was asked about exists.
    let hasRecord: Bool
    let nodes: [FarmNode]

    /// - Parameter reply: the reply to `EngineScripts.standing`.
    init?(_ reply: RESPValue) {
        guard let parts = reply.elements, parts.count == 5, let epoch = parts[0].octets, let generation = parts[1].number,
            let hasRecord = parts[2].number, let now = parts[3].number, let fields = parts[4].elements
        else { return nil }
        farm = FarmMark(epoch: epoch, generation: generation)
        self.hasRecord = hasRecord == 1
        var nodes: [FarmNode] = []
        for index in stride(from: 0, to: fields.count - 1, by: 2) {
            guard let identity = fields[index].string, let value = fields[index + 1].octets else { continue }
            let words = value.split(separator: 0x20, maxSplits: 3, omittingEmptySubsequences: false)
            guard words.count == 4, let generation = Int64(String(decoding: words[1], as: UTF8.self)),
                let expiry = Int64(String(decoding: words[2], as: UTF8.self))
            else { continue }
            let name = String(decoding: words[3].prefix(Self.nameLimit).filter { $0 > 0x20 && $0 < 0x7F }, as: UTF8.self)
            let (remaining, isImpossible) = expiry.subtractingReportingOverflow(now)
            nodes.append(
                FarmNode(
                    identity: identity, name: name, mark: FarmMark(epoch: Array(words[0]), generation: generation),
                    isLive: !isImpossible && remaining > 0, remaining: isImpossible ? 0 : remaining / 1000))
        }
        self.nodes = nodes.sorted { ($0.name, $0.identity) < ($1.name, $1.identity) }
    }

    private static let nameLimit = 128

    /// The nodes that may still serve responses from before this purge. `nil` if the engine no longer knows of the purge: it has lost its
    /// data, so nothing can be said about the nodes.
    func unconfirmed(_ purge: FarmMark) -> [FarmNode]? {
        guard farm.epoch == purge.epoch, hasRecord, farm.generation >= purge.generation else { return nil }
        return nodes.filter { node in
            node.isLive && !(node.mark.epoch == purge.epoch && node.mark.generation >= purge.generation)
        }
    }
}
