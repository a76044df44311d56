import EventLoop
import TestSupport
import Testing

@testable import SharedTier

private func time(_ milliseconds: Int) -> MonotonicTime { MonotonicTime(nanoseconds: UInt64(milliseconds) * 1_000_000) }
private func mark(_ generation: Int64, _ epoch: String = "e") -> FarmMark {
    FarmMark(epoch: Array(epoch.utf8), generation: generation)
}

@Suite("A node's standing in its farm")
struct FarmStandingTests {
    private func expect(_ step: FarmStanding.Step, _ expected: FarmStanding.Step) { #expect(step == expected) }

    @Test("A node is current once its lease confirms the last purge, and until the lease ends")
    func becomesCurrent() {
        var standing = FarmStanding(mark(3))
        expect(standing.renewed(farm: mark(5), sentAt: time(0), confirmed: mark(3)), .apply(after: 3, through: 5))
        #expect(!standing.isCurrent)
        standing.applied(mark(5))
        expect(standing.renewed(farm: mark(5), sentAt: time(10), confirmed: mark(5)), .nothing)
        #expect(standing.isCurrent && standing.end == time(4010))
        standing.noteTime(time(4009))
        #expect(standing.isCurrent)
        standing.noteTime(time(4010))
        #expect(!standing.isCurrent)
    }

    @Test("A renewal that confirms an older purge does not make a node current")
    func needsConfirmation() {
        var standing = FarmStanding(mark(3))
        standing.applied(mark(5))
        expect(standing.renewed(farm: mark(5), sentAt: time(0), confirmed: mark(3)), .nothing)
        #expect(!standing.isCurrent)
    }

    @Test("A node starts anew without a mark, in another epoch, behind the log, and before a farm that went back")
    func startsAnew() {
        let farm = mark(400)
        for known in [nil, mark(400, "other"), mark(144), mark(401)] {
            var standing = FarmStanding(known)
            expect(standing.renewed(farm: farm, sentAt: time(0), confirmed: known), .startAnew(farm))
        }
        var standing = FarmStanding(mark(145))
        expect(standing.renewed(farm: farm, sentAt: time(0), confirmed: mark(145)), .apply(after: 145, through: 400))
    }

    /// A farm in virtual time: nodes that lose the engine for a while, an engine that loses its data, and purges. Each node's clock starts
    /// at another time, and the engine has a clock of its own.
    @Test("After a purge is acknowledged, no node that has not applied it is current", arguments: 0..<50 as Range<UInt64>)
    func simulation(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var farm = mark(0)
        let nodeCount = 8
        var nodes = (0..<nodeCount).map { _ in FarmStanding(nil) }
        let offsets = (0..<nodeCount).map { _ in Int.random(in: 0...600_000, using: &random) }
        var partitionEnds = [Int](repeating: 0, count: nodeCount)
        // The engine's leases: the confirmed mark, and the end by the engine's clock.
        var leases: [Int: (FarmMark, Int)] = [:]
        var waiting: [FarmMark] = []
        var acknowledged = mark(0)
        var acknowledgedCount = 0
        for now in stride(from: 0, to: 120_000, by: 50) {
            for index in 0..<nodeCount {
                let own = time(now + offsets[index])
                nodes[index].noteTime(own)
                if now >= partitionEnds[index], Int.random(in: 0..<2000, using: &random) == 0 {
                    partitionEnds[index] = now + Int.random(in: 100...20_000, using: &random)
                }
                guard now >= partitionEnds[index], (now / 50 + index) % 20 == 0 else { continue }
                // The request takes up to two seconds on its way, so the engine's lease begins later than the node's.
                let sentAt = max(0, now - Int.random(in: 0...2000, using: &random))
                let confirmed = nodes[index].mark
                leases[index] = (confirmed ?? mark(-1, "-"), now + FarmStanding.leaseMilliseconds)
                switch nodes[index].renewed(farm: farm, sentAt: time(sentAt + offsets[index]), confirmed: confirmed) {
                case .nothing: break
                case .apply(_, let last): nodes[index].applied(mark(last, String(decoding: farm.epoch, as: UTF8.self)))
                case .startAnew(let mark): nodes[index].applied(mark)
                }
                nodes[index].noteTime(own)
            }
            if Int.random(in: 0..<60, using: &random) == 0 {
                farm.generation += 1
                waiting.append(farm)
            }
            if Int.random(in: 0..<1000, using: &random) == 0 {
                // The engine loses its data, and with it all purges that are not acknowledged.
                farm = mark(0, "e\(now)")
                (leases, waiting, acknowledged) = ([:], [], farm)
            }
            for purge in waiting where purge.epoch == farm.epoch {
                let isConfirmed = leases.values.allSatisfy { lease, end in
                    now >= end || (lease.epoch == purge.epoch && lease.generation >= purge.generation)
                }
                guard isConfirmed else { continue }
                acknowledged.generation = max(acknowledged.generation, purge.generation)
                acknowledgedCount += 1
            }
            waiting.removeAll { $0.generation <= acknowledged.generation }
            for index in 0..<nodeCount where nodes[index].isCurrent && nodes[index].mark?.epoch == acknowledged.epoch {
                let known = nodes[index].mark?.generation ?? -1
                #expect(known >= acknowledged.generation, "node \(index) at \(now) ms")
            }
        }
        #expect(acknowledgedCount > 10)
    }
}

@Suite("Breaker and back-off")
struct BreakerTests {
    private func expect(_ isPermitted: Bool, of breaker: inout Breaker, at milliseconds: Int) {
        let permits = breaker.permits(at: time(milliseconds))
        #expect(permits == isPermitted, "at \(milliseconds) ms")
    }

    @Test("Three failures in a row open the breaker; one trial at a time closes it, or opens it for longer")
    func opens() {
        var breaker = Breaker()
        for _ in 0..<2 { breaker.failed(at: time(0), spread: 0) }
        breaker.succeeded()
        for _ in 0..<2 { breaker.failed(at: time(0), spread: 0) }
        expect(true, of: &breaker, at: 0)
        breaker.failed(at: time(0), spread: 0)
        expect(false, of: &breaker, at: 249)
        expect(true, of: &breaker, at: 250)
        expect(false, of: &breaker, at: 251)
        breaker.failed(at: time(300), spread: 0)
        expect(false, of: &breaker, at: 799)
        expect(true, of: &breaker, at: 800)
        breaker.succeeded()
        #expect(breaker.isClosed)
        expect(true, of: &breaker, at: 801)
    }

    @Test("A trial of which nothing is heard is followed by another one")
    func silentTrial() {
        var breaker = Breaker()
        for _ in 0..<3 { breaker.failed(at: time(0), spread: 0) }
        expect(true, of: &breaker, at: 250)
        expect(false, of: &breaker, at: 1249)
        expect(true, of: &breaker, at: 1250)
    }

    @Test("The pause doubles up to ten seconds, and is shortened by at most a quarter")
    func backsOff() {
        var backoff = Backoff()
        var pauses: [Int] = []
        for _ in 0..<8 { pauses.append(backoff.failed(spread: 0)) }
        #expect(pauses == [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000])
        backoff.succeeded()
        let shortened = backoff.failed(spread: 62)
        #expect(shortened == 188)
        let isInRange = (0..<1000 as Range<UInt64>).allSatisfy { spread in
            var one = Backoff()
            return (188...250).contains(one.failed(spread: spread))
        }
        #expect(isInRange)
    }
}
