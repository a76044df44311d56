import ProxyAdmin
import TextCoding

/// The summary of a run, for people.
struct RunSummary {
    let tally: RequestTally
    /// Further messages: about the store, about ignored variables.
    let remarks: [String]

    private static let hostsTold = 10

    var text: String {
        ([countsLine] + hostLines + refusalLines + reportedLines + tally.failureLines + remarks).map {
            "larder: \(printable($0, limit: 4096))\n"
        }
        .joined()
    }

    private var countsLine: String {
        let saved = EntryText.size(tally.savedBytes)
        return "\(Self.count(tally.requests, "request")), \(Self.count(tally.hits, "hit")), \(saved) saved of "
            + "\(EntryText.size(tally.sentBytes)), \(tally.deniedCount) denied"
            + (tally.reportedCount > 0 ? ", \(tally.reportedCount) would be denied" : "")
            + (tally.missedCount > 0 ? ", \(tally.missedCount) missed" : "")
            + tally.failureCounts
            + (tally.tunnelCount > 0 ? ", \(Self.count(tally.tunnelCount, "tunnel"))" : "")
            + (tally.uninspectedCount > 0 ? ", \(tally.uninspectedCount) not intercepted" : "")
    }

    private var hostLines: [String] {
        let ordered = tally.hosts.sorted {
            ($1.value.requests, $1.value.tunnels, $0.key) < ($0.value.requests, $0.value.tunnels, $1.key)
        }
        let told = ordered.prefix(Self.hostsTold)
        let others = ordered.dropFirst(Self.hostsTold).reduce(into: tally.otherHosts) { sum, host in
            sum.requests += host.value.requests
            sum.hits += host.value.hits
            sum.tunnels += host.value.tunnels
        }
        return told.map { "  \($0.key) \(Self.counts(of: $0.value))" }
            + (others == RequestTally.Host() ? [] : ["  other hosts \(Self.counts(of: others))"])
    }

    private static func counts(of host: RequestTally.Host) -> String {
        let tunnels = host.tunnels > 0 ? [count(host.tunnels, "tunnel")] : []
        let requests = host.requests > 0 ? [count(host.requests, "request"), count(host.hits, "hit")] : []
        return (requests + tunnels).joined(separator: ", ")
    }

    private var refusalLines: [String] {
        let others = tally.deniedCount + tally.missedCount - tally.refusals.count
        return tally.refusals.map { "  denied (\($0.reason)): \($0.request)" }
            + (others > 0 ? ["  and \(others) more denied or missed requests"] : [])
            + tally.uninspected.map { "  not intercepted (\($0.reason)), so no rules applied to its requests: \($0.request)" }
    }

    /// Requests that report mode forwarded.
    private var reportedLines: [String] {
        let others = tally.reportedCount - tally.reported.count
        return tally.reported.map { "  would be denied (\($0.reason)): \($0.request)" }
            + (others > 0 ? ["  and \(others) more would be denied"] : [])
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
