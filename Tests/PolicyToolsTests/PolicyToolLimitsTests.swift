import PolicyTools
import Testing

@Suite struct PolicyToolLimitsTests {
    @Test func `a settings file may have thousands of tests`() {
        #expect(PolicyToolLimits.tests >= 1_000)
    }
}
