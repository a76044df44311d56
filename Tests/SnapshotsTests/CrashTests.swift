import Foundation
import TestSupport
import Testing

@Suite("A recording process that is killed", .serialized)
struct SnapshotCrashTests {
    static let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "SnapshotTorture")

    /// `make test-long` sets it to 50.
    static let count = ProcessInfo.processInfo.environment["LARDER_KILLS"].flatMap(Int.init) ?? 3

    @Test("All data committed before kill -9 can be resumed, and every body is intact", arguments: 0..<Self.count)
    func survivesKill(round: Int) throws {
        let fixture = SnapshotFixture()
        // The folder is deleted with it.
        defer { withExtendedLifetime(fixture) {} }
        let writer = Process()
        writer.executableURL = Self.program
        writer.arguments = ["write", fixture.path]
        // To a file, so that no reader is needed.
        let log = fixture.folder + "/log"
        #expect(FileManager.default.createFile(atPath: log, contents: nil))
        writer.standardOutput = FileHandle(forWritingAtPath: log)
        try writer.run()
        // The writer prints the number of the last committed recording twice a second; the kill comes some time after the last one printed.
        var seen: [Int] = []
        try eventually {
            seen = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").compactMap { Int($0) }
            return seen.count > round % 3 && (seen.last ?? 0) > 100
        }
        kill(writer.processIdentifier, SIGKILL)
        writer.waitUntilExit()

        let reader = Process()
        reader.executableURL = Self.program
        reader.arguments = ["resume", fixture.path, "\(seen.last ?? -1)"]
        let pipe = Pipe()
        reader.standardOutput = pipe
        try reader.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        reader.waitUntilExit()
        #expect(reader.terminationStatus == 0, "\(output)")
    }
}
