import ParentSelection
import TextCoding

/// The parents of all ways, in the status.
struct ParentStatus {
    let groups: [(way: String, state: ParentGroupState)]

    var json: JSONText {
        .array(
            groups.map { way, state in
                .object([("way", .string(way)), ("members", .array(state.members.map(Self.json)))])
            })
    }

    private static func json(_ member: ParentGroupState.Member) -> JSONText {
        .object([
            ("url", .string(member.name)), ("up", .bool(member.isUp)), ("in_flight", .number(member.inFlight)),
            ("requests", .count(member.requests)), ("spilled", .count(member.spilledRequests)),
            ("failures", .count(member.failures)), ("times_down", .count(member.downCount)),
        ])
    }

    /// One line for each way, and one for each of its members.
    var lines: [(String, String)] {
        groups.flatMap { way, state in
            [("way \(way)", "\(state.upCount) of \(state.members.count) parents up")]
                + state.members.map { member in
                    (
                        "parent",
                        "\(member.name) \(member.isUp ? "up" : "down"), \(member.requests) requests, \(member.spilledRequests) spilled, "
                            + "\(member.failures) failures"
                    )
                }
        }
    }
}
