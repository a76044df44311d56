import RESPWire

extension FuzzTarget {
    /// Bytes are replies of an engine. They are read the same in one piece and in several, within limits. Each reply is also read as a
    /// cluster's topology, and each error as a redirection.
    package static let resp = FuzzTarget("RESP") { octets in
        let whole = readReplies(octets, cuts: [octets.count])
        if whole != readReplies(octets, cuts: Cuts.some(of: octets)) { return "read in pieces, the replies are others" }
        for reply in whole.values {
            if let topology = ClusterTopology(reply, asked: "asked") {
                if topology.nodes.count > ClusterTopology.nodeLimit { return "a topology has too many nodes" }
                for slot in 0..<HashSlot.count {
                    if let node = topology.master(of: slot), node.port == 0 { return "a node has no port" }
                }
            }
            if case .error(let error) = reply, let redirection = error.redirection, redirection.slot >= HashSlot.count {
                return "a redirection is for no slot"
            }
        }
        return nil
    }

    private struct Replies: Equatable {
        var values: [RESPValue] = []
        var hasFailed = false
    }

    private static func readReplies(_ octets: [UInt8], cuts: [Int]) -> Replies {
        var limits = RESPLimits()
        (limits.line, limits.string, limits.elements, limits.reply) = (64, 512, 256, 2048)
        var reader = RESPReader(limits: limits)
        var replies = Replies()
        var start = 0
        for cut in cuts {
            octets[start..<cut].withUnsafeBytes { reader.append($0) }
            start = cut
            do throws(RESPFault) {
                while let value = try reader.next() { replies.values.append(value) }
            } catch {
                replies.hasFailed = true
                return replies
            }
        }
        return replies
    }
}
