import Foundation
import ProxyPolicy
import Testing

@testable import ProxyCore

/// Compares the proxy's exchange and the library's caching sequence with a simple implementation of the RFCs (`CacheModel`).
///
/// Each seed is a history of 50 exchanges. `LARDER_MODEL_SEED=N` runs only that one; `LARDER_MODEL_SEEDS=N` runs that many instead of 250
/// and 60. A history with a difference is reported in its shortest form.
@Suite("Comparison with a model of RFC 9111")
struct CacheModelTests {
    private static let exchanges = 50

    /// - Parameter count: the number of seeds if the environment names none.
    private static func seeds(_ count: UInt64) -> [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        if let one = environment["LARDER_MODEL_SEED"].flatMap({ UInt64($0) }) { return [one] }
        return Array(0..<(environment["LARDER_MODEL_SEEDS"].flatMap { UInt64($0) } ?? count))
    }

    @Test("Every exchange has a result that RFC 9111, 5861 and 8246 allow", arguments: seeds(250))
    func followsTheText(seed: UInt64) throws {
        let context = try ExchangeContext(rules: Setting.rules([]))
        var history = ModelHistory(seed: seed)
        Self.compare(history.steps(Self.exchanges), seed) { DrivenProxy(context: context) }
    }

    @Test("Every call of the library's cache has a result that the same RFCs allow", arguments: seeds(60))
    func followsTheTextInTheLibrary(seed: UInt64) throws {
        let context = try ExchangeContext(rules: Setting.rules([]))
        var history = ModelHistory(seed: seed)
        Self.compare(DrivenSequence.steps(history.steps(Self.exchanges)), seed) { DrivenSequence(context: context) }
    }

    private static func compare(_ steps: [ModelStep], _ seed: UInt64, _ cache: @escaping () -> any DrivenCache) {
        let comparison = ModelComparison(cache: cache)
        guard let difference = comparison.difference(in: steps) else { return }
        let shortest = comparison.shortened(Array(steps[...difference.index]))
        let shown = comparison.difference(in: shortest) ?? difference
        Issue.record("seed \(seed)\n\(comparison.text(shortest))\n\(shown.text)")
    }
}
