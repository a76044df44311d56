import Testing

@testable import EventLoop

@Suite("Timer queue")
struct TimerQueueTests {
    static func moment(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0).advanced(milliseconds: milliseconds)
    }

    @Test("A deadline moved later is checked once at its old time, and then reported at its new time")
    func movedLater() {
        var queue = TimerQueue()
        let timer = queue.make(ClosureHandler())
        queue.set(timer, at: Self.moment(10))
        queue.set(timer, at: Self.moment(30))
        #expect(queue.nextMoment == Self.moment(10))
        #expect(queue.takeDue(at: Self.moment(10)) == nil)
        #expect(queue.nextMoment == Self.moment(30))
        #expect(queue.takeDue(at: Self.moment(30))?.id == timer)
        #expect(queue.nextMoment == .never)
    }

    @Test("A deadline moved earlier is due at the earlier time")
    func movedEarlier() {
        var queue = TimerQueue()
        let timer = queue.make(ClosureHandler())
        let other = queue.make(ClosureHandler())
        queue.set(other, at: Self.moment(20))
        queue.set(timer, at: Self.moment(30))
        queue.set(timer, at: Self.moment(10))
        #expect(queue.takeDue(at: Self.moment(10))?.id == timer)
        #expect(queue.takeDue(at: Self.moment(10)) == nil)
        #expect(queue.takeDue(at: Self.moment(20))?.id == other)
    }

    @Test("Setting, moving, canceling and removing timers in any order reports the same as a sorted list", arguments: 0..<20)
    func agreesWithModel(seed: Int) {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        var queue = TimerQueue()
        let handler = ClosureHandler()
        var timers: [TimerID] = []
        var model: [Int] = []  // deadline in ms, -1 for none
        var now = 0
        for _ in 0..<2000 {
            switch next(6) {
            case 0:
                timers.append(queue.make(handler))
                model.append(-1)
            case 1, 2:
                guard !timers.isEmpty else { continue }
                let index = next(timers.count)
                let deadline = now + 1 + next(200)
                queue.set(timers[index], at: Self.moment(deadline))
                model[index] = deadline
            case 3:
                guard !timers.isEmpty else { continue }
                let index = next(timers.count)
                queue.set(timers[index], at: .never)
                model[index] = -1
            case 4:
                guard !timers.isEmpty else { continue }
                let index = next(timers.count)
                _ = queue.remove(timers[index])
                timers.swapAt(index, timers.count - 1)
                model.swapAt(index, model.count - 1)
                timers.removeLast()
                model.removeLast()
            default:
                now += next(40)
                var due: [TimerID] = []
                while let one = queue.takeDue(at: Self.moment(now)) { due.append(one.id) }
                let expected = timers.indices.filter { model[$0] >= 0 && model[$0] <= now }
                #expect(due.count == expected.count)
                for index in expected {
                    #expect(due.contains(timers[index]))
                    model[index] = -1
                }
            }
        }
    }
}
