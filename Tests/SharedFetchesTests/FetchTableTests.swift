import EventLoop
import HTTPMessage
import Synchronization
import Testing

@testable import SharedFetches

@Suite("Fetches in flight")
struct FetchTableTests {
    private let key = Array("http://a.test:80/".utf8)

    private func isNotShareable(_ shared: SharedFetch) -> Bool {
        if case .notShareable = shared { true } else { false }
    }

    @Test("The first request leads, others wait, and all get the result")
    func joins() throws {
        let table = FetchTable()
        let loop = try EventLoop()
        guard case .leads(let entry) = table.join(key, makeReply: { fatalError("the first has nothing to wait for") }) else {
            Issue.record("the first did not lead")
            return
        }
        var told = 0
        var numbers: [Int] = []
        for _ in 0..<3 {
            let join = table.join(key) { loop.reply { (_: SharedFetch) in told += 1 } }
            guard case .waits(_, let number, _) = join else {
                Issue.record("a later one did not wait")
                return
            }
            numbers.append(number)
        }
        #expect(entry.isAwaited)
        table.remove(entry)
        entry.publish(.notShareable)
        while told < 3 { loop.turn(waitingAtMost: 1_000) }
        #expect(entry.isAwaited)
        for number in numbers { entry.leave(number) }
        #expect(!entry.isAwaited)
    }

    @Test("After it is published, later requests get the result at once; after it is removed, the next one leads")
    func publishes() throws {
        let table = FetchTable()
        let loop = try EventLoop()
        let makeReply = { loop.reply { (_: SharedFetch) in } }
        guard case .leads(let entry) = table.join(key, makeReply: makeReply) else {
            Issue.record("the first did not lead")
            return
        }
        entry.publish(.notShareable)
        if case .shared(let shared) = table.join(key, makeReply: makeReply) {
            #expect(isNotShareable(shared))
        } else {
            Issue.record("what was published was not given")
        }
        table.remove(entry)
        guard case .leads(let next) = table.join(key, makeReply: makeReply) else {
            Issue.record("the next one did not lead")
            return
        }
        // Removing the old one again does not remove the new one.
        table.remove(entry)
        if case .leads = table.join(key, makeReply: makeReply) { Issue.record("the new fetch was forgotten") }
        table.remove(next)
    }

    @Test("A postponed key has no background fetch until the time is over; other keys do, and clients still lead fetches")
    func postpones() throws {
        let table = FetchTable()
        let loop = try EventLoop()
        let now = Timestamp(seconds: 1_700_000_000)
        table.postpone(key, until: now.advanced(seconds: 120), at: now)
        #expect(table.lead(key, at: now.advanced(seconds: 119)) == nil)
        #expect(table.lead(key + [1], at: now) != nil)
        let due = try #require(table.lead(key, at: now.advanced(seconds: 120)))
        table.remove(due)
        guard case .leads = table.join(key, makeReply: { loop.reply { (_: SharedFetch) in } }) else {
            Issue.record("the client did not lead")
            return
        }
    }

    @Test("A clock that is set back ends the postponement of a key")
    func outlivesClockSetBack() {
        let table = FetchTable()
        let now = Timestamp(seconds: 1_700_000_000)
        table.postpone(key, until: now.advanced(seconds: 120), at: now)
        #expect(table.lead(key, at: now) == nil)
        #expect(table.lead(key, at: now.advanced(seconds: -86_400)) != nil)
    }
}
