import HTTPCaching
import Testing

@testable import ProxyAdmin

@Suite("Texts of explanations")
struct ReasonsTests {
    @Test("Every reason of a decision has its sentence")
    func coversEveryReason() {
        #expect(ForwardReason.allCases.filter { ReasonText.forwarding[$0] == nil } == [])
        #expect(StorageRefusal.allCases.filter { ReasonText.refusals[$0] == nil } == [])
        // For a failure, the fault beside it determines the sentence.
        #expect(StaleReason.allCases.filter { ReasonText.staleUse[$0] == nil && $0 != .failure } == [])
    }
}
