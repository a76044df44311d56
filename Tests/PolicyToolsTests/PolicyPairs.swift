import HTTPMessage
import ProxyPolicy

@testable import PolicyTools

/// Seeded pairs of policies whose rules overlap often, and URLs that they tell apart.
struct PolicyPairs {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// SplitMix64.
    private mutating func next(below limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ mixed >> 31) % UInt64(limit))
    }

    private mutating func one<Element>(of elements: [Element]) -> Element { elements[next(below: elements.count)] }

    private mutating func some<Element>(of elements: [Element], oneIn chance: Int) -> [Element] {
        guard next(below: chance) == 0 else { return [] }
        return (0...next(below: 2)).map { _ in one(of: elements) }
    }

    private static let patterns = ["a.test", "b.test", "*.a.test", "*.test", "x.a.test", "*", "10.0.0.1", "*.x.a.test"]
    private static let hosts = [
        "a.test", "b.test", "x.a.test", "y.a.test", "z.x.a.test", "c.test", "test", "10.0.0.1", "10.0.0.2", "other.example",
    ]
    private static let parts = ["a", "b", "ab", "*", "**", "a*", "*b", ".c", "a.c", "*.c", "**a"]
    private static let pathParts = [
        "a", "b", "ab", "aab", "c", "a.c", "x.c", "ba", "", ".c", "..", "a;b", "%61", "a%2fb", "%2e%2e", "b%20",
    ]

    private static let queryNames = ["a", "b", "a_b", "a.b", "1"]
    private static let queryValues = ["x", "X", "y", "x*", "*y", "*", "x*y", "", "x y", "xé"]
    /// The parts of requests' queries: with other spellings of names, repeated names, `;`, and values that are encoded once or twice.
    private static let parameters = [
        "a=x", "a=y", "a=", "a", "A=x", "a=X", "a[]=y", "a[b=x", "a_b=x", "a.b=xy", "A_B=xy", "b=x", "b=y", "B=z", "1=x", "1[]=y",
        "%61=x", "%2561=y", "a=%78", "a=%2578", "a=x%20y", "a=x+y", "+a=x", "a=z;b=x", "c=x;a=y", "a=xzzy", "b=x&b=z", "c=1",
        "a=x%C3%A9", "1=", "a%5Bb=y", "a%00=x",
    ]

    private mutating func queries() -> [QueryCondition] {
        guard next(below: 4) == 0 else { return [] }
        return (0...next(below: 2)).compactMap { _ in
            let values = (0...next(below: 2)).compactMap { _ in ValuePattern(one(of: Self.queryValues)) }
            return QueryCondition(name: one(of: Self.queryNames), values: values)
        }
    }

    private mutating func query() -> String {
        switch next(below: 6) {
        case 0, 1: ""
        case 2: "?"
        default: "?" + (0...next(below: 3)).map { _ in one(of: Self.parameters) }.joined(separator: "&")
        }
    }

    private mutating func path() -> String {
        var text = ""
        for _ in 0...next(below: 3) { text += "/" + one(of: Self.parts) }
        if next(below: 4) == 0 { text += "/" }
        if next(below: 30) == 0 { text += "%20" }
        return text
    }

    private mutating func rule(_ name: String) throws -> PolicyRule {
        var condition = RuleCondition()
        condition.hosts = try some(of: Self.patterns, oneIn: 1).map { try HostPattern($0) }
        if next(below: 4) == 0 { condition.hosts = [] }
        condition.ports = some(of: [80...80, 443...443, 8000...8999, 1...1024], oneIn: 5)
        condition.schemes = some(of: [.http, .https], oneIn: 5)
        condition.methods = some(of: ["GET", "POST", "BREW", "HEAD"], oneIn: 4).compactMap { RuleCondition.MethodName($0) }
        if next(below: 5) > 0 { condition.paths = try (0...next(below: 1)).map { _ in try PathPattern(path()) } }
        condition.queries = queries()
        let kind = next(below: 10)
        return PolicyRule(name: name, condition: condition, reason: kind < 3 ? "no" : nil, allows: kind >= 3 && kind < 9)
    }

    mutating func pair() throws -> (old: PolicyRuleSet, new: PolicyRuleSet) {
        var rules = try (0...next(below: 5)).map { try rule("r\($0)") }
        let old = rules
        for number in 0...next(below: 2) {
            switch next(below: 3) {
            case 0: rules.append(try rule("n\(number)"))
            case 1: rules[next(below: rules.count)] = try rule("c\(number)")
            default: if rules.count > 1 { rules.remove(at: next(below: rules.count)) }
            }
        }
        let terms: [EgressDefault] =
            next(below: 8) == 0 ? [.deny, .allow] : next(below: 4) == 0 ? [.allow, .allow] : [.deny, .deny]
        return (PolicyRuleSet(rules: old).under(EgressTerms(terms[0])), PolicyRuleSet(rules: rules).under(EgressTerms(terms[1])))
    }

    mutating func request() throws -> PolicyRequest {
        let host = one(of: Self.hosts)
        if next(below: 12) == 0 { return try PolicyRequest("CONNECT", "\(host):\(one(of: [443, 80, 8080, 9999]))") }
        let scheme = one(of: ["http", "https"])
        let port = one(of: ["", "", ":80", ":443", ":8080", ":9999", ":25"])
        var path = next(below: 20) == 0 ? "" : "/"
        if !path.isEmpty {
            for number in 0...next(below: 3) { path += (number == 0 ? "" : "/") + one(of: Self.pathParts) }
        }
        let method = one(of: ["GET", "GET", "POST", "BREW", "PUT", "HEAD"])
        return try PolicyRequest(method, "\(scheme)://\(host)\(port)\(path)\(query())")
    }

    // MARK: Brute force

    /// Puts URLs to both policies, and looks for each difference among those that the comparison found.
    /// - Returns: the first difference that is missing.
    mutating func firstMissingChange(urls: Int) throws -> String? {
        let (old, new) = try pair()
        let found = PolicyComparison.differences(from: old, to: new)
        if found.isCut || !found.notCompared.isEmpty { return "not compared: \(found.notCompared)" }
        if let doubtful = found.changes.first(where: { $0.doubt == .otherWords }) { return "doubtful: \(doubtful.text)" }
        var numbers = RuleNumbers()
        let hosts = [old, new].flatMap { ComparedRules($0, numbers: &numbers).hosts }
        let labels = Set(HostClasses.all(of: Set(hosts)).map(\.label))
        for _ in 0..<urls {
            let request = try request()
            let before = PolicyDecision(request, under: old)
            let after = PolicyDecision(request, under: new)
            if before.isAllowed == after.isAllowed { continue }
            let kind = after.isAllowed ? PolicyChange.Kind.opens : .closes
            let label = Self.label(of: Self.host(of: request), among: labels)
            let isTunnel = request.method == "CONNECT"
            let near = found.changes.filter { $0.kind == kind && ($0.method == "CONNECT") == isTunnel }
            let isFound =
                isTunnel || Self.hasOneReading(request)
                ? near.contains {
                    $0.hosts == label && $0.before == PolicyChange.Standing(before)
                        && $0.after == PolicyChange.Standing(after)
                } : near.contains { $0.hosts == label }
            if isFound { continue }
            return "\(kind) \(request.method) \(request.target) (\(label)): \(before.text) -> \(after.text)\n"
                + found.lines.joined(separator: "\n")
        }
        return nil
    }

    private static func host(of request: PolicyRequest) -> String {
        String(decoding: Array(request.head.fields.text(of: request.head.target.host).utf8), as: UTF8.self)
    }

    private static func hasOneReading(_ request: PolicyRequest) -> Bool {
        let path = request.head.fields.text(of: request.head.target.path)
        return !["%", "\\", ";", "//", "/."].contains { path.contains($0) }
    }

    /// The longest pattern of a class that matches the host.
    private static func label(of host: String, among labels: Set<String>) -> String {
        if labels.contains(host) { return host }
        var rest = Substring(host)
        while host != "10.0.0.2", let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            if labels.contains("*.\(rest)") { return "*.\(rest)" }
        }
        return "any other host"
    }
}
