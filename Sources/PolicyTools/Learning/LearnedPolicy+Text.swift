import HTTPMessage
import ProxyPolicy

extension LearnedPolicy {
    /// The policy as a settings file, with the observed requests in comments.
    /// - Parameter writesHosts: whether the file says which hosts to intercept. A list of hosts in the file would replace the user's
    ///   own policies for hosts, with their trust anchors and pins.
    package func text(writesHosts: Bool) -> String {
        var lines = [
            "# Learned by larder policy learn from \(Self.count(requestCount, "request")). Every other request is denied.",
            "# The rules ignore the query of a URL. Read the rules before you use them.",
        ]
        lines += remarks.map { "# Note: \($0)." }
        if privateAddresses.isEmpty {
            lines.append("egress: {default: deny}")
        } else {
            let list = privateAddresses.map(Self.scalar).joined(separator: ", ")
            lines += ["egress:", "  default: deny", "  addresses: {allow: [\(list)]}"]
        }
        if !connectPorts.isSubset(of: [80, 443]) {
            lines.append("tunnel: {ports: [\(connectPorts.sorted().map { "\($0)" }.joined(separator: ", "))]}")
        }
        let ways =
            intercepted.sorted().map { "\(Self.scalar($0)): {connect: intercept}" }
            + tunnelled.sorted().map { "\(Self.scalar($0)): {connect: tunnel}" }
        if !ways.isEmpty {
            if !writesHosts {
                lines.append(
                    "# The lines below are comments, because they would replace the host policies in your settings. "
                        + "larder run intercepts without these lines."
                )
            }
            lines += (["tls:", "  hosts:"] + ways.map { "    \($0)" }).map { writesHosts ? $0 : "# \($0)" }
        }
        if rules.isEmpty { return (lines + ["rules: []"]).joined(separator: "\n") + "\n" }
        lines.append("rules:")
        var names: Set<String> = []
        for rule in rules { lines += Self.lines(of: rule, named: Self.uniqueName(of: rule, in: &names)) }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func lines(of rule: LearnedRule, named name: String) -> [String] {
        var lines = ["  # \(evidence(of: rule))"]
        if rule.isWidened { lines.append("  # Merged because of --max-rules: allows more than the observed requests.") }
        lines += ["  - name: \(scalar(name))", "    match:"]
        lines.append("      scheme: \(list(rule.schemes.map { $0 == .https ? "https" : "http" }.sorted()))")
        lines.append("      host: \(list(rule.hosts.sorted()))")
        lines.append("      port: \(list(rule.ports.sorted().map { "\($0)" }))")
        if !rule.methods.isEmpty { lines.append("      method: \(list(rule.methods.sorted()))") }
        if rule.kind == .requests {
            lines.append("      path:")
            lines += rule.paths.map { "        - \(scalar($0.pattern))\($0.hasStar ? "  # \(evidence(of: $0))" : "")" }
        }
        if rule.kind == .anyTunnel { lines.append("    tunnel: any") }
        lines.append("    allow: {}")
        return lines
    }

    private static func evidence(of rule: LearnedRule) -> String {
        let requests = rule.evidence.requests
        let noun = rule.kind == .requests ? "request" : "tunnel"
        let statuses = rule.evidence.statuses.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        let told = statuses.isEmpty ? "" : " (\(statuses.joined(separator: ", ")))"
        return "\(count(requests, noun))\(told), for example \(shortened(rule.example))"
    }

    private static func evidence(of path: LearnedPath) -> String {
        "\(count(path.requests, "request"))\(path.isCut ? ", cut" : ""): \(shortened(path.example))"
    }

    /// Omits the middle of a long text. The end is kept, because it has the name of the file.
    private static func shortened(_ text: String) -> String {
        let half = LearningLimits.exampleLength / 2
        return text.count <= 2 * half ? text : "\(text.prefix(half))…\(text.suffix(half))"
    }

    private static func uniqueName(of rule: LearnedRule, in names: inout Set<String>) -> String {
        let hosts = rule.hosts.sorted()
        let port = rule.ports.count == 1 && !rule.ports.isSubset(of: [80, 443]) ? ":\(rule.ports.first!)" : ""
        let others = hosts.count > 1 ? " and \(hosts.count - 1) more" : ""
        let methods = rule.methods.sorted()
        let what =
            rule.kind != .requests ? "tunnel" : methods.count <= 3 ? methods.joined(separator: ", ") : "\(methods.count) methods"
        let tail = "\(port)\(others) \(what)".prefix(nameLength / 2)
        let base = hosts[0].prefix(nameLength - tail.count) + tail
        var name = String(base)
        var number = 2
        while !names.insert(name).inserted {
            name = "\(base) \(number)"
            number += 1
        }
        return name
    }

    /// The maximum length of a rule's name to which a number may be added, so that the result is not longer than
    /// `PolicyLimits.nameLength`.
    private static let nameLength = 56

    private static func list(_ values: [String]) -> String {
        values.count == 1 ? scalar(values[0]) : "[\(values.map(scalar).joined(separator: ", "))]"
    }

    /// Writes a YAML scalar. It is plain, without quotes, only if no parser can read it as another type.
    private static func scalar(_ text: String) -> String {
        let isPlain =
            text.utf8.first.map { ASCII.isAlpha($0) || $0 == ASCII.slash || ASCII.isDigit($0) } ?? false
            && text.utf8.allSatisfy { ASCII.isAlpha($0) || ASCII.isDigit($0) || plain.contains($0) }
            && !SettingsScalar(text).isNull
        if isPlain { return text }
        var quoted = "\""
        for character in text {
            if character == "\"" || character == "\\" { quoted.append("\\") }
            quoted.append(character)
        }
        return quoted + "\""
    }

    private static let plain = Array("/-._~@%+*= ".utf8)
}
