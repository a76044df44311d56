import Foundation
import HTTPMessage
import ProxyAdmin
import ProxyCore
import TestSupport
import Testing

@Suite("Predictions of explain")
struct ForetellingTests {
    /// 1,000 requests, or 10,000 if `LARDER_LONG` is set.
    private static let requestCount = ProcessInfo.processInfo.environment["LARDER_LONG"] == nil ? 1_000 : 10_000

    private static let rules = """
        rules:
          - {name: no, match: {path: /denied}, deny: {reason: closed}}
          - {name: longer, match: {path: /plain}, cache: {ttl: 1h}}
          - {name: again, match: {path: /public}, cache: {policy: revalidate}}
          - {name: never, match: {path: /expires}, cache: {store: never}}
        """

    private static let someFields = [
        "Cache-Control: no-cache\r\n", "Cache-Control: no-store\r\n", "Cache-Control: max-age=0\r\n",
        "Cache-Control: max-age=86400\r\n",
        "Cache-Control: max-stale\r\n", "Cache-Control: max-stale=5\r\n", "Cache-Control: min-fresh=100000\r\n",
        "Cache-Control: only-if-cached\r\n", "Pragma: no-cache\r\n", "Authorization: Basic eDp5\r\n", "Accept-Language: de\r\n",
        "Accept-Language: en\r\n", "Cookie: a=1\r\n", "If-None-Match: \"f\"\r\n", "If-Match: \"f\"\r\n", "Range: bytes=0-1\r\n",
        "If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT\r\n", "Expect: 100-continue\r\n", "X-Anything: at all\r\n",
    ]

    private struct Foretold: Equatable {
        let action: String
        let reason: String
    }

    @Test("For random requests explain predicts the action and the reason that the log then has", arguments: [UInt64(1)])
    func foretells(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        // Each stale response is validated in the background, even right after another validation.
        let explained = try ExplainTests.Explained(Self.rules, storePath: nil) { $0.proxyLimits.backgroundRetryDelay = 0 }
        var validations = 0
        let paths = Recipes.paths + ["/denied", "/other"]
        var foretold: [Foretold] = []
        var requests: [String] = []
        for _ in 0..<Self.requestCount {
            let method = chance.one(of: ["GET", "GET", "GET", "GET", "GET", "GET", "HEAD", "POST", "DELETE", "OPTIONS"])
            var fields = ""
            for _ in 0..<chance.below(3) { fields += chance.one(of: Self.someFields) }
            if method == "OPTIONS", chance.chance(50) { fields += "Max-Forwards: 0\r\n" }
            var path = chance.one(of: paths) + (chance.chance(20) ? "?\(chance.below(3))" : "")
            if method == "GET", chance.chance(10) {
                path = "/parts?\(chance.below(3))"
                let first = chance.below(9_000)
                fields += "Range: bytes=\(first)-\(first + chance.below(1_000))\r\n"
            }
            let explanation = try explained.explain(path, method: method, fields: fields)
            foretold.append(
                Foretold(action: explanation["action"] as? String ?? "", reason: explanation["reason"] as? String ?? ""))
            requests.append("\(method) \(path) \(fields)")
            let response = try explained.stage.fetch(path, method: method, fields: fields)
            // The store must be idle before the next prediction.
            explained.stage.proxy.waitUntilStored()
            // Requests that forbid forwarding or storing start no background validation.
            let asksNothing = fields.contains("only-if-cached") || fields.contains("no-store")
            if response.cacheStatus.contains("detail=stale_while_revalidate"), !asksNothing {
                validations += 1
                _ = try explained.stage.proxy.loggedLines(foretold.count + validations)
            }
        }
        let lines = try explained.stage.proxy.logLines().map { line in
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
        }.filter { $0["status"] as? Int != 0 }
        try #require(lines.count == foretold.count)
        var seen: Set<String> = []
        for (index, line) in lines.enumerated() {
            let done = Foretold(
                action: Self.actions[line["cache"] as? String ?? ""] ?? "",
                reason: (line["error"] ?? line["reuse"]) as? String ?? "")
            #expect(foretold[index] == done, "request \(index): \(requests[index])")
            seen.insert("\(done.action) \(done.reason)")
        }
        // The random requests cover many cases.
        #expect(seen.count > 12, "\(seen.sorted())")
        #expect(seen.contains("forward partial") && seen.contains("serve_stale stale_while_revalidate"))
    }

    private static let actions = [
        "hit": "serve_stored", "collapsed": "serve_stored", "stale_hit": "serve_stale", "revalidated": "validate",
        "refreshed": "validate", "miss": "forward", "bypass": "forward", "denied": "refuse", "failed": "refuse",
        "local": "answer",
        "tunnel": "tunnel",
    ]
}
