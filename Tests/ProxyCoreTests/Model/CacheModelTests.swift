import Foundation
import ProxyPolicy
import Testing

@testable import ProxyCore

/// Compares the real exchange with a simple implementation of the RFCs (`CacheModel`).
///
/// Each seed is a history of 50 exchanges. `LARDER_MODEL_SEED=N` runs only that one; `LARDER_MODEL_SEEDS=N` runs that many instead of 250:
/// 20,000 exchanges. A history with a difference is reported in its shortest form.
@Suite("Comparison with a model of RFC 9111")
struct CacheModelTests {
    private static let exchanges = 50

    static let seeds: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        if let one = environment["LARDER_MODEL_SEED"].flatMap({ UInt64($0) }) { return [one] }
        let count = environment["LARDER_MODEL_SEEDS"].flatMap { UInt64($0) } ?? 250
        return Array(0..<count)
    }()

    @Test("Every exchange has a result that RFC 9111, 5861 and 8246 allow", arguments: seeds)
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
