import HTTPMessage
import ProxyPolicy

/// A class of hosts: hosts that the patterns of two policies do not distinguish.
struct HostClass {
    /// One host of the class, as an example.
    let host: String
    /// The patterns that match the hosts of the class, besides `*`.
    let patterns: [HostPattern]
    let label: String
}

/// Divides all hosts into classes by the patterns of two policies. The classes are: each host with its own pattern, the hosts below a
/// name that match no pattern with a longer name, addresses, and all other hosts.
enum HostClasses {
    static func all(of patterns: Set<HostPattern>) -> [HostClass] {
        var classes: [HostClass] = []
        for pattern in patterns {
            switch pattern {
            case .any: break
            case .address(let address):
                let text = address.family == .ipv6 ? "[\(address)]" : "\(address)"
                classes.append(HostClass(host: text, patterns: [pattern], label: text))
            case .name(let name):
                let text = String(decoding: name, as: UTF8.self)
                classes.append(HostClass(host: text, patterns: [pattern] + suffixes(of: name, in: patterns), label: text))
            case .below(let name):
                let text = String(decoding: name, as: UTF8.self)
                guard let host = freshHost(below: text, patterns) else { continue }
                classes.append(
                    HostClass(host: host, patterns: [pattern] + suffixes(of: name, in: patterns), label: "*.\(text)"))
            }
        }
        classes.sort { $0.label < $1.label }
        classes.append(HostClass(host: otherHost(patterns), patterns: [], label: "any other host"))
        return classes
    }

    /// The patterns `*.SUFFIX` that match all hosts at or below the name.
    private static func suffixes(of name: [UInt8], in patterns: Set<HostPattern>) -> [HostPattern] {
        var found: [HostPattern] = []
        for index in name.indices where name[index] == UInt8(ascii: ".") {
            let suffix = HostPattern.below(Array(name[(index + 1)...]))
            if patterns.contains(suffix) { found.append(suffix) }
        }
        return found
    }

    /// An example of a host below the name that has no pattern of its own. The host is only one label deeper than the name, so it
    /// matches no `*.` pattern with a longer name.
    /// - Returns: `nil` if the name is too long for such a host.
    private static func freshHost(below name: String, _ patterns: Set<HostPattern>) -> String? {
        for number in 0...patterns.count {
            let host = (number == 0 ? "www" : "x\(number)") + ".\(name)"
            guard host.utf8.count <= Authority.hostLengthLimit else { return nil }
            if !patterns.contains(.name(Array(host.utf8))) { return host }
        }
        return nil
    }

    private static func otherHost(_ patterns: Set<HostPattern>) -> String {
        var number = 0
        while true {
            let domain = number == 0 ? "example" : "example\(number)"
            let host = "other.\(domain)"
            let isNamed =
                patterns.contains(.name(Array(host.utf8))) || patterns.contains(.below(Array(domain.utf8)))
            if !isNamed { return host }
            number += 1
        }
    }
}
