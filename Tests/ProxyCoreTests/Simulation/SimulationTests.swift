import Foundation
import ProxyPolicy
import Testing

@testable import ProxyCore

/// Many concurrent exchanges with random failures, splits, reorderings and cancellations.
///
/// Each seed is a world of 200 exchanges. `LARDER_SIMULATION_SEED=N` runs only that one; `LARDER_SIMULATION_SEEDS=N` runs that many instead
/// of 250: 50,000 exchanges.
@Suite("Simulation of exchanges")
struct SimulationTests {
    private static let exchanges = 200

    static let seeds: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        if let one = environment["LARDER_SIMULATION_SEED"].flatMap({ UInt64($0) }) { return [one] }
        let count = environment["LARDER_SIMULATION_SEEDS"].flatMap { UInt64($0) } ?? 250
        return Array(0..<count)
    }()

    private static let context: ExchangeContext? = {
        let rules: [[String: Setting]] = [
            ["match": ["host": "denied.example"], "deny": ["reason": "no"]],
            ["match": ["path": "/2"], "response": ["set": ["X-Rule": "1"]], "request": ["set": ["X-Rule": "1"]]],
            ["match": ["path": "/3"], "validate": ["wellformed": "json", "on_failure": "block"]],
            ["match": ["path": "/4"], "validate": ["wellformed": "json", "status": "200-399", "on_failure": "stale"]],
            ["match": ["path": "/5"], "cache": ["policy": "stored_else_load"]],
        ]
        return try? ExchangeContext(rules: Setting.rules(rules))
    }()

    @Test("Each exchange ends once, complete or aborted, with the response for its own request", arguments: seeds)
    func holdsInAnyOrder(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed, context: try #require(Self.context), isTracing: Self.seeds.count == 1)
        world.run(exchanges: Self.exchanges)
        for problem in world.problems { Issue.record("\(problem)") }
    }
}
