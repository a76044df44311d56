import Testing
import TestSupport

/// Rules about waiting for another request's fetch, and about the number of variants.
@Suite("Collapsing and variants by rule")
struct CollapsingRuleTests {
    private static let fresh = "Cache-Control: max-age=600\r\n"

    /// The first client starts a fetch that the origin holds until the gate opens. The closure sends the same request meanwhile.
    private func withHeldFetch(_ collapse: String, loops: Int, _ body: (Stage, RawClient, Gate) throws -> Void) throws {
        let gate = Gate()
        let asked = Gate()
        let counter = Counter()
        let stage = try Stage("rules: [{name: n, cache: {collapse: \(collapse)}}]", loops: loops) { _, connection in
            let number = counter.next()
            asked.open()
            if number == 1 { gate.wait() }
            return connection.respond(fields: Self.fresh, body: "\(number)")
        }
        let first = try stage.client()
        first.send(stage.head("GET", "/slow"))
        asked.wait()
        try body(stage, first, gate)
        #expect(try first.readResponse().text == "1")
    }

    @Test("collapse: false forwards each request at once", arguments: [1, 4])
    func never(loops: Int) throws {
        try withHeldFetch("false", loops: loops) { stage, _, gate in
            let response = try stage.fetch("/slow")
            gate.open()
            #expect(response.text == "2")
        }
    }

    @Test("collapse: {wait: …} forwards a request once its wait is over", arguments: [1, 4])
    func bounded(loops: Int) throws {
        try withHeldFetch("{wait: 50ms}", loops: loops) { stage, _, gate in
            let response = try stage.fetch("/slow")
            #expect(response.text == "2" && response.cacheStatus.contains("collapsed=?0"))
            gate.open()
        }
    }

    @Test("collapse: {wait: …} shares a response that arrives within the wait", arguments: ["true", "{wait: 10m}"])
    func withinBound(collapse: String) throws {
        try withHeldFetch(collapse, loops: 1) { stage, _, gate in
            let second = try stage.client()
            second.send(stage.head("GET", "/slow"))
            #expect(!second.hasInput(withinMilliseconds: 50))
            gate.open()
            let response = try second.readResponse()
            #expect(response.text == "1")
        }
    }

    @Test("variants: only the newest variants are kept, up to the given number", arguments: StoreTier.allCases)
    func variants(tier: StoreTier) throws {
        let stage = try Stage(
            "rules: [{name: few, match: {path: /few}, cache: {variants: 2}}, {name: many, match: {path: /many}, cache: {variants: 50}}]",
            storePath: tier.storePath, store: tier.adjust
        ) { request, connection in
            connection.respond(fields: Self.fresh + "Vary: X-Own\r\n", body: request["X-Own"] ?? "")
        }
        func hits(_ path: String, _ numbers: Range<Int>) throws -> [Int] {
            try numbers.filter { try stage.fetch(path, fields: "X-Own: \($0)\r\n").cacheStatus.hasPrefix("Larder; hit") }
        }
        #expect(try hits("/few", 0..<3) == [])
        #expect(try hits("/few", 1..<3) == [1, 2])
        #expect(try hits("/few", 0..<1) == [])
        #expect(try hits("/many", 0..<50) == [])
        #expect(try hits("/many", 0..<50) == Array(0..<50))
    }
}
