import HTTPMessage
import ProxyPolicy

/// Replaces sibling hosts that differ only in a number, such as `cdn1.example.com` and `cdn2.example.com`, by a pattern.
struct LearnedHosts {
    private var patterns: [String: String] = [:]

    /// - Parameters:
    ///   - hosts: all observed hosts.
    ///   - hasOwner: whether all hosts below a name belong to one owner, which is not so for a public suffix such as `co.uk`.
    init(_ hosts: Set<String>, hasOwner: (String) -> Bool) {
        var siblings: [String: [String]] = [:]
        for host in hosts {
            guard let dot = host.firstIndex(of: "."), case .name = try? HostPattern(host) else { continue }
            let label = host[..<dot]
            let stem = String(label.filter { !("0"..."9").contains($0) })
            guard stem != label else { continue }
            siblings["\(stem)\(host[dot...])", default: []].append(host)
        }
        for members in siblings.values where members.count >= LearningLimits.siblings {
            let parent = String(members[0].drop { $0 != "." }.dropFirst())
            guard parent.contains("."), hasOwner(parent) else { continue }
            for member in members { patterns[member] = "*.\(parent)" }
        }
    }

    /// The pattern for a host: the host itself, or `*.` and the host's parent.
    func pattern(for host: String) -> String { patterns[host] ?? host }
}
