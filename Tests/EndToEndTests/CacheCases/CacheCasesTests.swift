import Foundation
import Testing

@Suite("Cases of RFC 9111, through the proxy")
struct CacheCasesTests {
    @Test("Freshness, age and dates (§4.2, §5.1, §5.3)")
    func freshness() throws { try play(.freshness) }

    @Test("Storing responses (§3, §5.2.2)")
    func storing() throws { try play(.storing) }

    @Test("Selecting a stored response (§4.1, §5.2.1)")
    func selecting() throws { try play(.selecting) }

    @Test("Conditions, 304 and ranges (§3.2, §4.3)")
    func validating() throws { try play(.validating) }

    @Test("Updates by a 304 and a HEAD (§3.2, §4.3.4, §4.3.5)")
    func updating() throws { try play(.updating) }

    @Test("Serving stale responses (§4.2, RFC 5861)")
    func stale() throws { try play(.stale) }

    @Test("Invalidation and failures (§4.2.4, §4.4)")
    func invalidating() throws { try play(.invalidating) }

    @Test("Cache-Status, and fields and directives that pass unchanged (§5.2, RFC 8246, RFC 9211)")
    func telling() throws { try play(.telling) }

    @Test("Targeted fields (RFC 9213)")
    func targeted() throws { try play(.targeted) }

    @Test("Cache settings of rules (docs/policy.md)")
    func ruled() throws { try play(.ruled) }

    @Test("docs/testing.md has the number of cases")
    func count() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/testing.md")
        let count = CaseTable.allCases.reduce(0) { $0 + $1.cases.count }
        #expect(count >= 300)
        #expect(try String(contentsOf: file, encoding: .utf8).contains("\(count) cases"), "there are \(count)")
    }

    /// Plays the table in each configuration. Every case must hold, and the results must be the same in all configurations.
    private func play(_ table: CaseTable) throws {
        let configurations = CaseConfiguration.all
        let first = try CacheStage(table, configurations[0]).play()
        for configuration in configurations.dropFirst() {
            let outcomes = try CacheStage(table, configuration).play()
            for (outcome, expected) in zip(outcomes, first) {
                #expect(outcome == expected, "\(configuration), and \(configurations[0])")
            }
        }
    }
}
