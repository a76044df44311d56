import Foundation

/// The configuration with which a table of cases is played.
struct CaseConfiguration: CustomStringConvertible, Sendable {
    let loops: Int
    let tier: StoreTier

    /// One loop with each tier, and four loops too if `LARDER_LONG` is set.
    static let all: [Self] = {
        let isLong = ProcessInfo.processInfo.environment["LARDER_LONG"] != nil
        return (isLong ? [1, 4] : [1]).flatMap { loops in StoreTier.allCases.map { Self(loops: loops, tier: $0) } }
    }()

    var description: String { "\(loops) loops, \(tier)" }
}
