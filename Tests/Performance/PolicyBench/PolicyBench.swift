import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyPolicy

/// What rules cost a request: nanoseconds to parse a head and to match it, without rules and with a thousand of each kind.
///
///     swift run -c release PolicyBench [runs]
///     swift run -c release PolicyBench allow RULES REQUESTS
///     swift run -c release PolicyBench loading
///
/// With the allocation counter preloaded, two runs with different numbers of runs must count the same. The second form matches requests under
/// so many rules that allow, five for each host: valgrind counts its instructions. The third form compares reading rules with reading YAML.
enum PolicyBench {
    static func run(arguments: [String]) {
        switch arguments.first {
        case "loading": return LoadingBench.run()
        case "allow":
            guard arguments.count == 3, let rules = Int(arguments[1]), let requests = Int(arguments[2]) else { break }
            return allow(rules, requests)
        default: break
        }
        let requests = 1000
        let runs = arguments.first.flatMap { Int($0) } ?? 1000
        let cases: [(String, [PolicyRule])] = [
            ("no rules", []),
            ("1,000 exact hosts, none matches", hosts { "host\($0).example.net" }),
            ("1,000 suffixes, none matches", hosts { "*.host\($0).example.net" }),
            ("1,000 of each, none matches", hosts { "host\($0).example.net" } + hosts { "*.other\($0).example.net" }),
            ("1,000 exact hosts, the last matches", hosts { $0 == 999 ? "www.example.com" : "host\($0).example.net" }),
            ("10 paths for any host, none matches", paths(10)),
        ]
        print("| Rules | parse, ns | parse and match, ns | match, ns |")
        print("| --- | --- | --- | --- |")
        for (name, rules) in cases {
            let ruleSet = PolicyRuleSet(rules: rules)
            let parsing = best(of: runs) { measure(requests, nil) }
            let both = best(of: runs) { measure(requests, ruleSet) }
            print("| \(name) | \(text(parsing)) | \(text(both)) | \(text(both - parsing)) |")
        }
    }

    /// Matches requests that one of five rules for their host allows.
    private static func allow(_ count: Int, _ requests: Int) {
        let rules = (0..<count).map { number in
            var condition = RuleCondition()
            let host = number / 5 == 0 ? "www.example.com" : "host\(number / 5).example.net"
            guard let pattern = try? HostPattern(host),
                let path = try? PathPattern("/assets/\(number % 5 == 3 ? "**" : "x\(number)/**")")
            else { preconditionFailure("the rule is right") }
            condition.hosts = [pattern]
            condition.paths = [path]
            return PolicyRule(name: "rule \(number)", condition: condition, allows: true)
        }
        print(text(measure(requests, PolicyRuleSet(rules: rules).under(EgressTerms(.deny)))))
    }

    /// In tenths of a nanosecond for each request.
    private static func measure(_ requests: Int, _ ruleSet: PolicyRuleSet?) -> Int64 {
        let bytes = Array(
            "GET http://www.example.com/assets/app.js?v=3 HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: curl/8.5\r\nAccept: */*\r\n\r\n"
                .utf8)
        var head = RequestHead()
        var parser = RequestParser()
        var matched = MatchedRules()
        var allowed = 0
        let clock = ContinuousClock()
        let start = clock.now
        for _ in 0..<requests {
            guard (try? parser.parse(bytes.span.bytes, into: &head)) != nil else { preconditionFailure("the head is right") }
            guard let ruleSet else { continue }
            if ruleSet.match(head, into: &matched).isAllowed { allowed += 1 }
        }
        let spent = clock.now - start
        precondition(ruleSet == nil || allowed == requests, "no rule here denies")
        let nanoseconds = spent.components.seconds * 1_000_000_000 + spent.components.attoseconds / 1_000_000_000
        return nanoseconds * 10 / Int64(requests)
    }

    /// The least of many short runs is the one that others disturbed least.
    private static func best(of runs: Int, _ run: () -> Int64) -> Int64 { (0..<runs).map { _ in run() }.min() ?? 0 }

    private static func text(_ tenths: Int64) -> String { "\(tenths / 10).\(abs(tenths % 10))" }

    private static func hosts(_ name: (Int) -> String) -> [PolicyRule] {
        (0..<1000).map { number in
            var condition = RuleCondition()
            guard let host = try? HostPattern(name(number)) else { preconditionFailure("the host is right") }
            condition.hosts = [host]
            return PolicyRule(name: "rule \(number)", condition: condition)
        }
    }

    private static func paths(_ count: Int) -> [PolicyRule] {
        (0..<count).map { number in
            var condition = RuleCondition()
            guard let path = try? PathPattern("/assets/**/*.css\(number)") else { preconditionFailure("the path is right") }
            condition.paths = [path]
            return PolicyRule(name: "rule \(number)", condition: condition)
        }
    }
}
