import HTTPMessage
import HTTPWire
import LarderSettings
import PolicyTools
import ProxyPolicy

/// A policy learned from requests, read back from its text and evaluated as Larder does.
struct LearnedStage {
    let policy: LearnedPolicy
    let text: String
    private let rules: PolicyRuleSet

    /// - Parameter requests: `GET https://host/path`; `CONNECT host:port` is a tunnel.
    init(_ requests: [String], atMost limit: Int? = nil, publicSuffixes: Set<String> = []) throws {
        var traffic = ObservedTraffic()
        for request in requests {
            let words = request.split(separator: " ", maxSplits: 1).map(String.init)
            if words[0] == "CONNECT" {
                traffic.add(ObservedTunnel(authority: words[1], isClearText: false))
            } else {
                traffic.add(ObservedRequest(method: words[0], url: words[1]), status: 200)
            }
        }
        try self.init(traffic, atMost: limit, publicSuffixes: publicSuffixes)
    }

    init(_ traffic: ObservedTraffic, atMost limit: Int? = nil, publicSuffixes: Set<String> = []) throws {
        policy = LearnedPolicy(traffic, atMost: limit) { !publicSuffixes.contains($0) }
        text = policy.text(writesHosts: true)
        let root = try YAMLReader.read(text)
        guard case .mapping(let entries) = root.value, let list = entries.first(where: { $0.key == "rules" }) else {
            throw SettingsProblems()
        }
        rules = try PolicyRuleSet(parsing: list.value).under(EgressTerms(.deny))
    }

    /// Rules in YAML, under `egress.default: deny`.
    static func policy(_ rules: String) throws -> PolicyRuleSet {
        try PolicyRuleSet(parsing: try YAMLReader.read(rules)).under(EgressTerms(.deny))
    }

    /// - Parameter line: `GET https://host/path`, or `CONNECT host:port`.
    func verdict(on line: String) throws -> Verdict {
        let bytes = Array("\(line) HTTP/1.1\r\nHost: ignored.example\r\n\r\n".utf8)
        var head = RequestHead()
        var parser = RequestParser()
        guard try parser.parse(bytes.span.bytes, into: &head) != nil else { throw SettingsProblems() }
        var matched = MatchedRules()
        return rules.match(head, into: &matched)
    }

    func allows(_ line: String) throws -> Bool { try verdict(on: line).isAllowed }

    var ruleCount: Int { rules.rules.count }

    /// The lines of the text below `path:`, without their comments.
    var paths: [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("        - ") }.map {
            let value = $0.dropFirst(10)
            return String(value.firstRange(of: "  #").map { value[..<$0.lowerBound] } ?? value)
        }
    }
}
