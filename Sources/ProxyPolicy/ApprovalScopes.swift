import HTTPMessage

/// What an answer of an approver can apply to, besides the one request: all equal requests, or all requests to the host. Each is the `match`
/// of a rule. Both are only for the same user, if the client has proved a name.
package struct ApprovalScopes: Sendable {
    package enum Scope: String, CaseIterable, Sendable { case request, host }

    /// `nil` if no rule can match exactly this request.
    private let request: AnsweredMatch?
    private let host: AnsweredMatch?

    package subscript(scope: Scope) -> AnsweredMatch? { scope == .request ? request : host }

    package init(_ asked: RequestHead, user: [UInt8]) {
        host = AnsweredMatch(asked, user: user, isForHost: true)
        request = asked.method == .connect ? host : AnsweredMatch(asked, user: user, isForHost: false)
    }
}

/// The requests to which an answer of an approver applies, as the `match` of a rule.
package struct AnsweredMatch: Sendable {
    private let condition: RuleCondition
    /// The `match`, as JSON, which is also YAML.
    package let text: String

    fileprivate init?(_ request: RequestHead, user: [UInt8], isForHost: Bool) {
        let target = request.target
        let written = Self.text(request.span(of: target.host))
        let host = target.hostKind == .ipv6 && !written.hasPrefix("[") ? "[\(written)]" : written
        guard let pattern = try? HostPattern(host) else { return nil }
        var condition = RuleCondition()
        condition.hosts = [pattern]
        condition.ports = [target.port...target.port]
        var members: [(String, String)] = [("host", Self.quoted(host))]
        let isTunnel = request.method == .connect
        if !isTunnel {
            condition.schemes = [target.scheme]
            members.append(("scheme", target.scheme == .https ? "\"https\"" : "\"http\""))
        }
        members.append(("port", "\(target.port)"))
        if !isForHost {
            let path = target.path.isEmpty ? "/" : Self.text(request.span(of: target.path))
            let method = Self.text(request.span(of: request.methodName))
            guard SuggestedRule.isAllowedByItsPath(request), let pathPattern = try? PathPattern(path),
                let methodName = RuleCondition.MethodName(method)
            else { return nil }
            condition.paths = [pathPattern]
            condition.methods = [methodName]
            members += [("method", Self.quoted(method)), ("path", Self.quoted(path))]
        }
        if !user.isEmpty {
            // A star in the name would be a glob.
            guard !user.contains(UInt8(ascii: "*")), let name = String(validating: user, as: UTF8.self),
                let pattern = ValuePattern(name)
            else { return nil }
            condition.client.users = [pattern]
            members.append(("user", Self.quoted(name)))
        }
        self.condition = condition
        text = "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }

    /// A rule that allows or denies these requests.
    package func rule(named name: String, allows: Bool) -> PolicyRule {
        PolicyRule(name: name, condition: condition, reason: allows ? nil : "denied by an approver", allows: allows)
    }

    private static func text(_ span: Span<UInt8>) -> String {
        span.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    private static func quoted(_ text: String) -> String {
        var output: [UInt8] = [UInt8(ascii: "\"")]
        output.append(escapingForJSON: text)
        output.append(UInt8(ascii: "\""))
        return String(decoding: output, as: UTF8.self)
    }
}
