import HTTPMessage
import ProxyPolicy
import TestSupport
import Testing

/// Rules and requests whose parts have one reading each, so that a few lines decide whether they match.
private struct PlainRule {
    enum Action: String, CaseIterable { case allow, deny, cache }

    var hosts: [String] = []
    var ports: [Int] = []
    var methods: [String] = []
    var paths: [String] = []
    var queries: [String: String] = [:]
    var fields: [String: String] = [:]
    var users: [String] = []
    var excluded: [PlainRule] = []
    var action = Action.cache

    init(_ generator: inout SeededGenerator, nests: Bool = true) {
        if generator.chance(80) { hosts = (0..<1 + generator.below(2)).map { _ in generator.one(of: Self.hostPatterns) } }
        if generator.chance(15) { ports = [generator.one(of: [80, 8080])] }
        if generator.chance(30) { methods = [generator.one(of: PlainRequest.methods)] }
        if generator.chance(40) { paths = [generator.one(of: ["/a", "/a/*", "/**z", "/b**", "/*/*", "/**"])] }
        if generator.chance(20) { queries = [generator.one(of: ["p", "q"]): generator.one(of: ["1", "*", "2*"])] }
        if generator.chance(15) { fields = [generator.one(of: ["A", "B"]): generator.one(of: ["x", "*", "y*"])] }
        if generator.chance(15) { users = [generator.one(of: ["u", "v*"])] }
        if nests, generator.chance(25) { excluded = [PlainRule(&generator, nests: false)] }
        action = generator.one(of: Action.allCases)
    }

    private static let hostPatterns = ["h1", "h2", "*.h1", "*.x.h1", "*.h2", "10.0.0.1", "*"]

    var match: String {
        var parts: [String] = []
        func list(_ name: String, _ values: [String]) {
            if !values.isEmpty { parts.append("\(name): [\(values.map { "\"\($0)\"" }.joined(separator: ", "))]") }
        }
        func mapping(_ name: String, _ values: [String: String]) {
            if !values.isEmpty { parts.append("\(name): {\(values.map { "\($0): \"\($1)\"" }.joined(separator: ", "))}") }
        }
        list("host", hosts)
        list("port", ports.map { "\($0)" })
        list("method", methods)
        list("path", paths)
        mapping("query", queries)
        mapping("field", fields)
        list("user", users)
        if let first = excluded.first, first.hasWords { parts.append("not: \(first.match)") }
        return "{\(parts.joined(separator: ", "))}"
    }

    var hasWords: Bool { match != "{}" }

    func matches(_ request: PlainRequest) -> Bool {
        guard hosts.isEmpty || hosts.contains(where: { Self.isHost(request.host, $0) }) else { return false }
        guard ports.isEmpty || ports.contains(request.port), methods.isEmpty || methods.contains(request.method) else {
            return false
        }
        guard paths.isEmpty || paths.contains(where: { Self.glob(Array($0), Array(request.path), separator: "/") }) else {
            return false
        }
        for (name, value) in queries where !Self.isAmong(request.query, name, value) { return false }
        for (name, value) in fields where !Self.isAmong(request.fields, name, value) { return false }
        guard users.isEmpty || !request.user.isEmpty && users.contains(where: { Self.glob(Array($0), Array(request.user)) })
        else {
            return false
        }
        return !excluded.contains { $0.hasWords && $0.matches(request) }
    }

    private static func isAmong(_ pairs: [String: String], _ name: String, _ pattern: String) -> Bool {
        pairs[name].map { glob(Array(pattern), Array($0)) } ?? false
    }

    private static func isHost(_ host: String, _ pattern: String) -> Bool {
        pattern == "*" || (pattern.hasPrefix("*.") ? host.hasSuffix(pattern.dropFirst()) : host == pattern)
    }

    /// By trying every length of every star.
    private static func glob(_ pattern: [Character], _ text: [Character], separator: Character? = nil) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first != "*" {
            return text.first == first && glob(Array(pattern.dropFirst()), Array(text.dropFirst()), separator: separator)
        }
        let isDouble = separator == nil || pattern.dropFirst().first == "*"
        let rest = Array(pattern.drop { $0 == "*" })
        for length in 0...text.count {
            if !isDouble, text.prefix(length).contains(where: { $0 == separator }) { return false }
            if glob(rest, Array(text.dropFirst(length)), separator: separator) { return true }
        }
        return false
    }
}

private struct PlainRequest {
    static let methods = ["GET", "POST", "PUT"]

    let host: String
    let port: Int
    let method: String
    let path: String
    let query: [String: String]
    let fields: [String: String]
    let user: String

    init(_ generator: inout SeededGenerator) {
        host = generator.one(of: ["h1", "h2", "a.h1", "b.x.h1", "x.h1", "a.h2", "h3", "10.0.0.1"])
        port = generator.one(of: [80, 80, 8080])
        method = generator.one(of: Self.methods)
        path = generator.one(of: ["/", "/a", "/a/b", "/a/b/z", "/z", "/b", "/bc/d", "/c"])
        query = generator.chance(50) ? [generator.one(of: ["p", "q", "r"]): generator.one(of: ["1", "22"])] : [:]
        fields = generator.chance(50) ? [generator.one(of: ["A", "B", "C"]): generator.one(of: ["x", "yy"])] : [:]
        user = generator.one(of: ["", "u", "vw"])
    }

    func head() throws -> RequestHead {
        let query = query.isEmpty ? "" : "?" + query.map { "\($0)=\($1)" }.joined(separator: "&")
        return try request("\(method) http://\(host):\(port)\(path)\(query)", fields.map { "\($0): \($1)" })
    }

    var facts: RequestFacts { RequestFacts(client: ClientFacts(user: Array(user.utf8))) }
}

@Suite("The index of rules against a plain matcher")
struct PlainMatcherTests {
    @Test("Both give the same verdict and the same rules", arguments: 0..<40 as Range<UInt64>)
    func agree(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let rules = (0..<1 + generator.below(40)).map { _ in PlainRule(&generator) }.filter(\.hasWords)
        let text = rules.enumerated().map { number, rule in
            "{name: r\(number), match: \(rule.match), \(rule.action): {\(rule.action == .cache ? "store: never" : "")}}"
        }
        let open = try ruleSet("[\(text.joined(separator: ",\n"))]")
        var matched = MatchedRules()
        for _ in 0..<100 {
            let asked = PlainRequest(&generator)
            var names: [String] = []
            for (number, rule) in rules.enumerated() where rule.matches(asked) {
                names.append("r\(number)")
                if rule.action == .deny { break }
            }
            let isDenied = rules.contains { $0.action == .deny && $0.matches(asked) }
            let isAllowed = rules.contains { $0.action == .allow && $0.matches(asked) }
            for egress in EgressDefault.allCases {
                let verdict = open.under(EgressTerms(egress)).match(try asked.head(), asked.facts, into: &matched)
                #expect((0..<matched.count).map { matched[$0].name } == names, "\(asked)")
                #expect((verdict == .deny) == isDenied, "\(asked)")
                if !isDenied { #expect(verdict.isAllowed == (egress == .allow || isAllowed), "\(asked)") }
            }
        }
    }
}
