import EventLoop
import Testing

@testable import ProxyServer

@Suite("Warnings that could occur many times a second")
struct RareWarningTests {
    @Test("Repeated warnings are logged once a minute")
    func onceAMinute() {
        var warning = RareWarning()
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        let said = stride(from: 0, to: 130_000, by: 100).filter { warning.isDue(at: start.advanced(milliseconds: $0)) }
        #expect(said == [0, 60_000, 120_000])
    }
}
