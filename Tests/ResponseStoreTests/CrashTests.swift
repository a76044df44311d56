import EventLoop
import Foundation
import Testing

@Suite("A process that is killed while it stores", .serialized)
struct CrashTests {
    /// What it says, each number with the time at which it was seen.
    final class Listener: Sendable {
        private let lines = Guarded<[(seen: Date, number: Int)]>([])
        private let rest = Guarded(Data())

        func take(_ data: Data) {
            let now = Date.now
            rest.withLock { rest in
                rest.append(data)
                while let end = rest.firstIndex(of: 0x0A) {
                    let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
                    rest = Data(rest[rest.index(after: end)...])
                    if let number = Int(line) { lines.withLock { $0.append((now, number)) } }
                }
            }
        }

        func last(before date: Date) -> Int { lines.withLock { $0.last { $0.seen <= date }?.number ?? -1 } }
    }

    // Tests/Long/store-crash.sh does the same 50 times.
    @Test("What is older than a second is there after kill -9, and no body is wrong", arguments: 0..<2)
    func survivesKill(round: Int) throws {
        let fixture = StoreFixture()
        // Its folder goes with it.
        defer { withExtendedLifetime(fixture) {} }
        let writer = Process()
        writer.executableURL = Torture.program
        writer.arguments = ["write", fixture.path]
        let pipe = Pipe()
        writer.standardOutput = pipe
        let listener = Listener()
        pipe.fileHandleForReading.readabilityHandler = { listener.take($0.availableData) }
        try writer.run()
        // A moment like any other, so there is nothing to wait for. The thread itself sleeps: a task would be woken only when other tests
        // let go of theirs, and the program would write for minutes.
        Thread.sleep(forTimeInterval: 1.4 + Double(round) * 0.317)
        // Before the kill: what is older then is older than a second when it comes.
        let last = listener.last(before: .now - 1)
        kill(writer.processIdentifier, SIGKILL)
        writer.waitUntilExit()
        pipe.fileHandleForReading.readabilityHandler = nil

        let (status, output) = try Torture.run("verify", fixture.path, "\(last)")
        #expect(status == 0, "\(output)")
    }

    @Test("What was purged is gone after kill -9 that comes with the acknowledgement, and in the file that it leaves")
    func keepsPurges() throws {
        let fixture = StoreFixture()
        // Its folder goes with it.
        defer { withExtendedLifetime(fixture) {} }
        let purger = Process()
        purger.executableURL = Torture.program
        purger.arguments = ["purge", fixture.path]
        let pipe = Pipe()
        purger.standardOutput = pipe
        try purger.run()
        var said = Data()
        while said.count(where: { $0 == 0x0A }) < 2 {
            let data = pipe.fileHandleForReading.availableData
            if data.isEmpty { break }
            said.append(data)
        }
        kill(purger.processIdentifier, SIGKILL)
        purger.waitUntilExit()
        let (status, output) = try Torture.run("purged", fixture.path, "1")
        #expect(status == 0, "\(output)")
    }
}
