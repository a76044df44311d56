import EventLoop
import Foundation
import TestSupport
import Testing

@testable import ResponseStore

@Suite("A process that is killed while it stores", .serialized)
struct CrashTests {
    /// The output of a program: numbers, one per line.
    final class Listener: Sendable {
        private struct Said {
            var last = -1
            /// The last line that is not a number.
            var text = ""
            var rest = Data()
        }

        private let said = Guarded(Said())

        func take(_ data: Data) {
            said.withLock { said in
                said.rest.append(data)
                while let end = said.rest.firstIndex(of: 0x0A) {
                    let line = String(decoding: said.rest[..<end], as: UTF8.self)
                    said.rest = Data(said.rest[(end + 1)...])
                    if let number = Int(line) { said.last = number } else { said.text = line }
                }
            }
        }

        /// The last number; -1 if there is none.
        var last: Int { said.withLock { $0.last } }
        var text: String { said.withLock { $0.text } }
    }

    // Tests/Long/store-crash.sh does the same 50 times.
    @Test("Responses that reached the file are there after kill -9, and no body is wrong", arguments: 0..<2)
    func survivesKill(round: Int) throws {
        let fixture = StoreFixture()
        // Its directory is removed with it.
        defer { withExtendedLifetime(fixture) {} }
        let writer = Process()
        writer.executableURL = Torture.program
        writer.arguments = ["write", fixture.path]
        let pipe = Pipe()
        writer.standardOutput = pipe
        let listener = Listener()
        pipe.fileHandleForReading.readabilityHandler = { listener.take($0.availableData) }
        try writer.run()
        // It continues storing while the file is checked, so the kill hits it at an arbitrary point.
        try eventually { listener.last >= 400 + round * 117 }
        let last = listener.last
        let browser = try StoreBrowser(path: fixture.path)
        var next = 0
        try eventually {
            while next <= last, try !browser.responses(ofKey: Torture.key(next)).isEmpty { next += 1 }
            return next > last
        }
        kill(writer.processIdentifier, SIGKILL)
        writer.waitUntilExit()
        pipe.fileHandleForReading.readabilityHandler = nil

        let (status, output) = try Torture.run("verify", fixture.path, "\(last)")
        #expect(status == 0, "\(output)")
    }

    @Test("Responses purged before a kill -9 that follows the acknowledgment are gone, in the file that is left too")
    func keepsPurges() throws {
        let fixture = StoreFixture()
        // Its directory is removed with it.
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
