import Testing

@testable import Reachability

@Suite("Host health from reported attempts")
struct HostHealthTests {
    private static let start = ContinuousClock.now

    private static func moment(_ seconds: Double) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }

    @Test("After three failures in a row a host is unreachable for a pause that doubles; one success makes it reachable")
    func countsFailures() {
        var health = HostHealth()
        #expect(health.verdict(on: "a.test", at: Self.moment(0)) == .unknown)
        for second in 0..<2 { health.reportFailure(of: "a.test", at: Self.moment(Double(second))) }
        #expect(health.verdict(on: "a.test", at: Self.moment(1)) == .unknown)
        health.reportFailure(of: "A.TEST", at: Self.moment(2))
        #expect(health.verdict(on: "a.test", at: Self.moment(2)) == .unreachable(failures: 3, retryAt: Self.moment(3)))
        #expect(health.verdict(on: "a.test", at: Self.moment(3)) == .unknown)
        health.reportFailure(of: "a.test", at: Self.moment(3))
        #expect(health.verdict(on: "a.test", at: Self.moment(4.9)) == .unreachable(failures: 4, retryAt: Self.moment(5)))
        for _ in 0..<100 { health.reportFailure(of: "a.test", at: Self.moment(10)) }
        #expect(health.verdict(on: "a.test", at: Self.moment(69)) == .unreachable(failures: 104, retryAt: Self.moment(70)))
        health.reportSuccess(of: "a.test", at: Self.moment(70))
        #expect(health.verdict(on: "a.test", at: Self.moment(70)) == .reachable)
        #expect(health.verdict(on: "b.test", at: Self.moment(70)) == .unknown)
    }

    @Test("Old reports expire, and failures before them no longer count")
    func forgets() {
        var health = HostHealth()
        health.reportSuccess(of: "a.test", at: Self.moment(0))
        #expect(health.verdict(on: "a.test", at: Self.moment(600)) == .reachable)
        #expect(health.verdict(on: "a.test", at: Self.moment(601)) == .unknown)
        for _ in 0..<2 { health.reportFailure(of: "b.test", at: Self.moment(0)) }
        health.reportFailure(of: "b.test", at: Self.moment(700))
        #expect(health.verdict(on: "b.test", at: Self.moment(700)) == .unknown)
    }

    @Test("After a change of network, failures are forgotten and successes stay")
    func changesNetwork() {
        var health = HostHealth()
        for _ in 0..<3 { health.reportFailure(of: "a.test", at: Self.moment(0)) }
        health.reportSuccess(of: "b.test", at: Self.moment(0))
        health.forgetFailures()
        #expect(health.verdict(on: "a.test", at: Self.moment(0)) == .unknown)
        #expect(health.verdict(on: "b.test", at: Self.moment(0)) == .reachable)
    }

    @Test("The number of hosts and the length of their names are limited; the oldest report is dropped first")
    func isBounded() {
        var limits = HostHealth.Limits()
        limits.hostCount = 3
        var health = HostHealth(limits: limits)
        for (second, host) in ["a", "b", "c"].enumerated() { health.reportSuccess(of: host, at: Self.moment(Double(second))) }
        health.reportSuccess(of: "a", at: Self.moment(4))
        #expect(health.count == 3 && health.verdict(on: "b", at: Self.moment(5)) == .reachable)
        health.reportSuccess(of: "d", at: Self.moment(5))
        #expect(health.count == 3 && health.verdict(on: "b", at: Self.moment(5)) == .unknown)
        #expect(health.verdict(on: "a", at: Self.moment(5)) == .reachable)
        let long = String(repeating: "x", count: 255)
        health.reportSuccess(of: long, at: Self.moment(6))
        health.reportSuccess(of: long + "x", at: Self.moment(6))
        #expect(health.verdict(on: long, at: Self.moment(6)) == .reachable)
        #expect(health.verdict(on: long + "x", at: Self.moment(6)) == .unknown && health.count == 3)
    }
}
