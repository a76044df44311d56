import ProxyPolicy
import Testing

@Suite("Counts of rules' limits")
struct LimitCountersTests {
    private static let second: UInt64 = 1_000_000

    /// The limit of a rule, as in settings.
    private func limit(_ text: String) throws -> RuleLimit {
        try #require(try ruleSet("[{name: n, limit: {\(text)}}]").rules[0].limit)
    }

    private func demand(_ limit: RuleLimit, rule: String = "n", subject: String = "") -> LimitDemand {
        LimitDemand(rule: rule, limit: limit, subject: Array(subject.utf8))
    }

    @Test("A quota of requests permits exactly that many in its window, and as many again in the next")
    func countsRequests() throws {
        let demands = [demand(try limit("requests: 3, within: 10s"))]
        var counters = LimitCounters()
        for start in [5 * Self.second, 15 * Self.second] {
            for _ in 0..<3 { #expect(counters.admit(demands, bytesOut: 0, at: start) == nil) }
            let refusal = counters.admit(demands, bytesOut: 0, at: start + 9 * Self.second + 1)
            #expect(refusal?.word == .requests && refusal?.rule == "n" && refusal?.retryAfter == 1)
            #expect(refusal?.limit == "requests: 3, within: 10s")
        }
    }

    @Test("A used-up quota of bytes_in permits requests, and no fetch until its window ends")
    func refusesFetches() throws {
        let demands = [demand(try limit("bytes_in: 10, within: 10s"))]
        var counters = LimitCounters()
        #expect(counters.admit(demands, bytesOut: 0, at: 0) == nil && counters.refusalOfFetch(demands, at: 0) == nil)
        #expect(counters.take(9, .bytesIn, demands, at: 0) == nil && counters.refusalOfFetch(demands, at: 0) == nil)
        #expect(counters.take(1, .bytesIn, demands, at: 0) == nil)
        #expect(counters.admit(demands, bytesOut: 0, at: Self.second) == nil)
        let refusal = counters.refusalOfFetch(demands, at: Self.second)
        #expect(refusal?.word == .bytesIn && refusal?.rule == "n" && refusal?.retryAfter == 9)
        #expect(counters.refusalOfFetch(demands, at: 10 * Self.second) == nil)
    }

    @Test("A quota within the run has no end, so no time to retry")
    func countsUntilTheEnd() throws {
        let demands = [demand(try limit("requests: 1, within: run"))]
        var counters = LimitCounters()
        #expect(counters.admit(demands, bytesOut: 0, at: 0) == nil)
        let refusal = counters.admit(demands, bytesOut: 0, at: 1_000_000 * Self.second)
        #expect(refusal != nil && refusal?.retryAfter == nil)
    }

    @Test(
        "A rate permits its number of requests at once, then one request for each new token",
        arguments: ["2/s", "120/m", "7200/h"])
    func limitsRate(rate: String) throws {
        let limit = try limit("rate: \(rate)")
        let demands = [demand(limit)]
        let burst = try #require(limit.rate?.count)
        var counters = LimitCounters()
        for _ in 0..<burst { #expect(counters.admit(demands, bytesOut: 0, at: 0) == nil) }
        #expect(counters.admit(demands, bytesOut: 0, at: 0)?.retryAfter == 1)
        // All three refill two tokens in a second.
        for step in 1...UInt64(5) {
            let time = step * Self.second / 2
            #expect(counters.admit(demands, bytesOut: 0, at: time - 1)?.word == .rate)
            #expect(counters.admit(demands, bytesOut: 0, at: time) == nil)
        }
        let later = 100_000 * Self.second
        for _ in 0..<burst { #expect(counters.admit(demands, bytesOut: 0, at: later) == nil) }
        #expect(counters.admit(demands, bytesOut: 0, at: later)?.word == .rate)
    }

    @Test("Bytes are counted up to the quota, and a piece that does not fit is not counted")
    func countsBytes() throws {
        let demands = [demand(try limit("bytes_out: 100, bytes_in: 10, within: 1h"))]
        var counters = LimitCounters()
        #expect(counters.admit(demands, bytesOut: 60, at: 0) == nil)
        #expect(counters.admit(demands, bytesOut: 41, at: 0)?.word == .bytesOut)
        #expect(counters.take(40, .bytesOut, demands, at: 0) == nil)
        #expect(counters.take(1, .bytesOut, demands, at: 0)?.word == .bytesOut)
        #expect(counters.admit(demands, bytesOut: 101, at: 0)?.retryAfter == nil)
        #expect(counters.take(11, .bytesIn, demands, at: 0)?.word == .bytesIn)
        #expect(counters.take(10, .bytesIn, demands, at: 0) == nil)
        #expect(counters.refusalOfFetch(demands, at: 0)?.word == .bytesIn)
        #expect(counters.take(10, .bytesIn, demands, at: 3600 * Self.second) == nil)
    }

    @Test("The limits of all rules apply, and a request that one refuses counts for none")
    func combinesRules() throws {
        let wide = demand(try limit("requests: 3, within: 1h"), rule: "wide")
        let narrow = demand(try limit("requests: 1, within: 1h"), rule: "narrow")
        var counters = LimitCounters()
        #expect(counters.admit([wide, narrow], bytesOut: 0, at: 0) == nil)
        for _ in 0..<5 { #expect(counters.admit([wide, narrow], bytesOut: 0, at: 0)?.rule == "narrow") }
        for _ in 0..<2 { #expect(counters.admit([wide], bytesOut: 0, at: 0) == nil) }
        #expect(counters.admit([wide], bytesOut: 0, at: 0)?.rule == "wide")
    }

    @Test("Each subject has its own count; a new one is refused if the maximum number of counts is in use")
    func boundsSubjects() throws {
        let limit = try limit("requests: 1, within: 10s, per: client")
        var counters = LimitCounters()
        for number in 0..<PolicyLimits.limitSubjects {
            #expect(counters.admit([demand(limit, subject: "\(number)")], bytesOut: 0, at: UInt64(number)) == nil)
        }
        let other = [demand(limit, subject: "other")]
        let refusal = counters.admit(other, bytesOut: 0, at: 5 * Self.second)
        #expect(refusal?.word == .requests && refusal?.retryAfter == 5)
        #expect(counters.admit([demand(limit, subject: "0")], bytesOut: 0, at: 5 * Self.second)?.word == .requests)
        // The first count is over, and makes room for one.
        #expect(counters.admit(other, bytesOut: 0, at: 10 * Self.second) == nil)
        #expect(counters.admit([demand(limit, subject: "another")], bytesOut: 0, at: 10 * Self.second) != nil)
    }

    @Test("A reload keeps the counts of rules with the same name and limit; other counts stay until the next reload")
    func survivesReloads() throws {
        let rules = "[{name: a, limit: {requests: 1, within: run}}, {name: b, limit: {requests: 1, within: run}}]"
        let changed =
            "[{name: a, match: {host: x}, limit: {within: run, requests: 1}}, {name: b, limit: {requests: 2, within: run}}]"
        var counters = LimitCounters()
        let before = try ruleSet(rules).rules.map { demand(try #require($0.limit), rule: $0.name) }
        #expect(counters.admit(before, bytesOut: 0, at: 0) == nil)
        counters.keepOnly(rulesOf: try ruleSet(changed))
        let after = try ruleSet(changed).rules.map { demand(try #require($0.limit), rule: $0.name) }
        #expect(counters.admit([after[0]], bytesOut: 0, at: 0)?.rule == "a")
        for _ in 0..<2 { #expect(counters.admit([after[1]], bytesOut: 0, at: 0) == nil) }
        counters.keepOnly(rulesOf: try ruleSet("[]"))
        #expect(counters.admit([before[0]], bytesOut: 0, at: 0)?.rule == "a")
        for _ in 0..<2 { counters.keepOnly(rulesOf: try ruleSet("[]")) }
        #expect(counters.admit(before, bytesOut: 0, at: 0) == nil)
    }

    @Test(
        "Each mistake in a limit is reported with its place",
        arguments: [
            (
                "limit: {}",
                "rules[0].limit: nothing is limited: give request_body, response_body, rate, requests, bytes_out or bytes_in"
            ),
            (
                "limit: {requests: 5}",
                "rules[0].limit.requests: requests is a quota for a period: add `within`, such as `within: 1h` or `within: run`"
            ),
            (
                "limit: {rate: 5, within: 1h}",
                "rules[0].limit.rate: expected a number of requests from 1 to 1000000 and a unit, such as 10/s, 600/m or 5000/h"
            ),
            ("limit: {rate: 5/s, within: 1h}", "rules[0].limit.within: `within` needs `requests`, `bytes_out` or `bytes_in`"),
            (
                "limit: {request_body: 1MiB, per: client}",
                "rules[0].limit.per: `per` needs `rate`, `requests`, `bytes_out` or `bytes_in`"
            ),
            ("limit: {request: 5}", "rules[0].limit: unknown key `request`; did you mean `requests`?"),
            ("deny: {}, limit: {rate: 1/s}", "rules[0].limit: a rule with `deny` cannot have other actions"),
            ("allow: {}, enforce: report", "rules[0].enforce: `enforce` needs `deny` in the same rule"),
        ])
    func reportsMistakes(words: String, message: String) throws {
        let found = try problems("[{name: n, \(words)}]")
        #expect(found.contains { $0.hasSuffix(message) }, "\(found)")
    }
}
