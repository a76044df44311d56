import Foundation
import HTTPCaching
import SQLiteDatabase
import TestSupport
import Testing

@testable import ResponseStore

@Suite("The write-ahead log")
struct LogTests {
    private static func logLength(_ fixture: StoreFixture) -> Int { FileSystem.length(of: fixture.path + "-wal") ?? 0 }

    /// A store whose log has small limits.
    private static func open(_ fixture: StoreFixture, _ adjust: (inout StoreConfiguration) -> Void = { _ in }) throws
        -> ResponseStore
    {
        try fixture.open {
            $0.limits.checkpointBytes = 256 << 10
            $0.limits.logHoldBytes = 1 << 20
            $0.limits.logLimitBytes = 2 << 20
            adjust(&$0)
        }
    }

    @Test("Under continuous stores, replacements and evictions, the log exceeds its limit by at most one transaction")
    func isBounded() throws {
        let fixture = StoreFixture()
        let store = try Self.open(fixture) { $0.disk = .init(high: 3 << 20, low: 2 << 20) }
        var greatest = 0
        for number in 0..<6000 {
            store.putSurely(Sample.response("l\(number % 4000)", body: Sample.bytes(1024, seed: UInt64(number))))
            if number % 16 == 0 { greatest = max(greatest, Self.logLength(fixture)) }
        }
        store.drain()
        greatest = max(greatest, Self.logLength(fixture))
        #expect(store.statistics.evicted > 0)
        // The file is as long as the log has ever been, up to 64 MiB.
        #expect(greatest > 1 << 20)
        #expect(greatest < 12 << 20, "\(greatest >> 10) KiB")
    }

    @Test(
        "While another connection reads, the log grows only up to its limit: responses are refused, and accepted again afterwards"
    )
    func waitsForReaders() throws {
        let fixture = StoreFixture()
        // Only the log makes the store refuse a response, however slow the machine is.
        let store = try Self.open(fixture) {
            $0.limits.queuedMilliseconds = 3_600_000
            $0.limits.stalledMilliseconds = 3_600_000
            $0.limits.logAttempts = 1
        }
        store.putSurely(Sample.response("first", body: [1]))
        store.drain()
        var reader: Statement? = try Connection(path: fixture.path, access: .browsing).prepare("SELECT id FROM response")
        #expect(try reader?.step() == true)
        func isAccepted(_ name: String) -> Bool {
            if case .accepted = store.put(Sample.response(name, body: Sample.bytes(1024, seed: 1))) { true } else { false }
        }
        // Refused while nothing waits for the writer: the log itself is above its limit.
        var isAtLimit = false
        var number = 0
        while !isAtLimit, number < 20_000 {
            number += 1
            if isAccepted("r\(number)") { continue }
            store.drain()
            isAtLimit = !isAccepted("r\(number)")
        }
        #expect(isAtLimit)
        let unstored = store.statistics.unstored
        #expect(unstored.keys.allSatisfy { $0 == .logFull || $0 == .writeFailed } && unstored[.logFull] ?? 0 >= 2, "\(unstored)")
        // At its limit, except for what the next response would add.
        #expect(Self.logLength(fixture) > 3 << 19)
        #expect(Self.logLength(fixture) < 12 << 20)
        reader?.reset()
        reader = nil
        try eventually {
            store.drain()
            return isAccepted("last")
        }
        store.drain()
        #expect(store.find(Sample.key("last")).flatMap { store.wholeBody($0) } == Sample.bytes(1024, seed: 1))
    }

    @Test("The log cost of responses rises at once in the estimate, and falls slowly")
    func learnsTheRate() {
        var rate = LogRate()
        let first = rate.bytes(for: 1000)
        rate.note(1 << 20, for: 1000)
        #expect(rate.bytes(for: 1000) == first, "so little work says nothing")
        rate.note(20 << 20, for: 1 << 20)
        #expect(rate.bytes(for: 1000) == 20_000)
        rate.note(1 << 20, for: 1 << 20)
        #expect((17_000..<18_000).contains(rate.bytes(for: 1000)))
    }
}
