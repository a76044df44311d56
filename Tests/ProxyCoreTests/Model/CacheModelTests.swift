import Foundation
import ProxyPolicy
import Testing

@testable import ProxyCore

/// The real exchange beside a plain reading of the RFCs (`CacheModel`).
///
/// Each seed is a history of 50 exchanges. `LARDER_MODEL_SEED=N` runs one alone; `LARDER_MODEL_SEEDS=N` runs that many, 400
/// otherwise: 20,000 exchanges. A history that differs is shown as short as it can be made.
@Suite("A plain reading of RFC 9111")
struct CacheModelTests {
    private static let exchanges = 50

    static let seeds: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        if let one = environment["LARDER_MODEL_SEED"].flatMap({ UInt64($0) }) { return [one] }
        let count = environment["LARDER_MODEL_SEEDS"].flatMap { UInt64($0) } ?? 400
        return Array(0..<count)
    }()

    @Test("Every exchange ends as RFC 9111, 5861 and 8246 let it", arguments: seeds)
    func followsTheText(seed: UInt64) throws {
        let context = try ExchangeContext(rules: Setting.rules([]))
        var history = ModelHistory(seed: seed)
        let comparison = ModelComparison(context: context)
        let steps = history.steps(Self.exchanges)
        guard let difference = comparison.difference(in: steps) else { return }
        let shortest = comparison.shortened(Array(steps[...difference.index]))
        let shown = comparison.difference(in: shortest) ?? difference
        Issue.record("seed \(seed)\n\(comparison.text(shortest))\n\(shown.text)")
    }
}
