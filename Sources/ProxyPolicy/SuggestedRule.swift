import HTTPMessage

/// The narrowest rule that would allow a denied request. Larder suggests it to the client.
package enum SuggestedRule {
    /// The maximum length of a path in bytes. For a longer path no rule is suggested, because the rule would be unreadable.
    private static let pathLimit = 256

    /// One rule of the settings, as JSON, which is also YAML. Empty if no rule can allow exactly this request.
    package static func text(allowing request: RequestHead) -> String {
        if request.method != .connect, !isAllowedByItsPath(request) { return "" }
        var output: [UInt8] = []
        output.append("{\"match\":{\"host\":\"")
        output.append(escapingForJSON: text(request.span(of: request.target.host)))
        output.append("\"")
        let isTunnel = request.method == .connect
        if isTunnel || request.target.port != request.target.scheme.defaultPort {
            output.append(",\"port\":")
            output.append(decimal: UInt64(request.target.port))
        }
        let path = request.span(of: request.target.path)
        if !isTunnel {
            output.append(",\"method\":\"")
            output.append(escapingForJSON: text(request.span(of: request.methodName)))
            output.append("\"")
            output.append(",\"path\":\"")
            output.append(escapingForJSON: path.isEmpty ? "/" : text(path))
            output.append("\"")
        }
        output.append("},\"allow\":{}}")
        return String(decoding: output, as: UTF8.self)
    }

    /// Whether the request's path, used as a pattern, allows the request and nothing else. A star in the path would also allow other
    /// requests. A path with several readings would not be allowed by its own pattern.
    static func isAllowedByItsPath(_ request: RequestHead) -> Bool {
        let path = request.target.path.isEmpty ? "/" : text(request.span(of: request.target.path))
        guard request.method != .other, path.utf8.count <= pathLimit, !path.utf8.contains(UInt8(ascii: "*")),
            let pattern = try? PathPattern(path)
        else { return false }
        var condition = RuleCondition()
        condition.paths = [pattern]
        let rules = PolicyRuleSet(rules: [PolicyRule(name: "suggested", condition: condition, allows: true)])
        var matched = MatchedRules()
        return rules.under(EgressTerms(.deny)).match(request, into: &matched).isAllowed
    }

    private static func text(_ span: Span<UInt8>) -> String {
        span.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}
