import HTTPCaching
import Testing

@testable import ProxyAdmin

@Suite("The words of explanations")
struct ReasonsTests {
    @Test("Every reason of the decisions has its sentence")
    func coversEveryReason() {
        #expect(ForwardReason.allCases.filter { ReasonText.forwarding[$0] == nil } == [])
        #expect(StorageRefusal.allCases.filter { ReasonText.refusals[$0] == nil } == [])
        // That of a failure is told by the fault that stands beside it.
        #expect(StaleReason.allCases.filter { ReasonText.staleUse[$0] == nil && $0 != .failure } == [])
    }
}
