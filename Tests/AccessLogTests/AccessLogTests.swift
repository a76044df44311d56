import EventLoop
import Foundation
import HTTPMessage
import TestSupport
import Testing

@testable import AccessLog

@Suite("The access log")
struct AccessLogTests {
    private func temporaryFile() -> String {
        FileManager.default.temporaryDirectory.appending(path: "larder-access-\(UUID().uuidString).log").path
    }

    private func note(_ url: String, in buffer: AccessLogBuffer) {
        let (method, url) = (Array("GET".utf8), Array(url.utf8))
        buffer.append(AccessRecord(), method: method.span, url: url.span)
    }

    private func lines(_ path: String) throws -> [Substring] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    }

    @Test("Every request appended by every loop is a line, in the order of its loop", arguments: [1, 4])
    func writesAll(loops: Int) async throws {
        let path = temporaryFile()
        defer { try? FileManager.default.removeItem(atPath: path) }  // the test is over
        let log = try AccessLog(AccessLog.Configuration(path: path, format: .squid))
        await withTaskGroup { group in
            for loop in 0..<loops {
                let buffer = log.makeBuffer()
                group.addTask {
                    for number in 0..<1000 { note("http://\(loop).test/\(number)", in: buffer) }
                }
            }
        }
        log.close()
        let urls = try lines(path).map { $0.split(separator: " ")[6] }
        #expect(urls.count == loops * 1000)
        #expect(log.droppedCount == 0)
        for loop in 0..<loops {
            let own = urls.filter { $0.hasPrefix("http://\(loop).test/") }
            #expect(own == (0..<1000).map { "http://\(loop).test/\($0)" })
        }
    }

    @Test("The query is omitted, in the referrer too, unless the settings include it", arguments: [false, true])
    func leavesOutQueries(includesQuery: Bool) throws {
        let path = temporaryFile()
        defer { try? FileManager.default.removeItem(atPath: path) }  // the test is over
        let log = try AccessLog(AccessLog.Configuration(path: path, format: .combined, includesQuery: includesQuery))
        let url = Array("http://a.test/x?token=1".utf8)
        log.makeBuffer().append(AccessRecord(), method: url.span, url: url.span, referrer: url.span)
        log.close()
        let line = try #require(lines(path).first)
        #expect(line.contains("http://a.test/x?token=1\" ") == includesQuery)
        #expect(line.contains("GET") == false)
    }

    @Test("A full buffer drops and counts lines, and never waits")
    func dropsAndCounts() throws {
        let wakeup = try AccessLogWakeup()
        let buffer = AccessLogBuffer(wakeup: wakeup, format: .squid, isOff: false, includesQuery: true)
        let url = String(repeating: "x", count: 8192)
        for _ in 0..<1000 { note(url, in: buffer) }
        #expect(wakeup.droppedCount > 0)
        var lines = AccessLines()
        buffer.take(&lines)
        #expect(lines.bytes.count <= AccessLines.byteLimit + AccessLog.Format.lineLimit)
        #expect(Int(wakeup.droppedCount) + lines.count(from: 0) == 1000)
        let dropped = wakeup.droppedCount
        note("again", in: buffer)
        #expect(wakeup.droppedCount == dropped)
    }

    @Test("Appending a request does not reallocate the buffer's storage")
    func keepsItsStorage() throws {
        let wakeup = try AccessLogWakeup()
        let buffer = AccessLogBuffer(wakeup: wakeup, format: .ndjson, isOff: false, includesQuery: true)
        var spare = AccessLines()
        spare.reserve()
        func address(_ lines: AccessLines) -> Int { lines.bytes.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) } }
        let first = address(spare)
        for _ in 0..<4 {
            let dropped = wakeup.droppedCount
            while wakeup.droppedCount == dropped { note("http://a.test/", in: buffer) }
            buffer.take(&spare)
            spare.removeAll()
        }
        #expect(address(spare) == first)
    }

    @Test("After the file was moved, reopening creates a new file with the old name")
    func reopens() throws {
        let path = temporaryFile()
        defer {
            // Cleanup: a failure does not matter.
            try? FileManager.default.removeItem(atPath: path)
            try? FileManager.default.removeItem(atPath: path + ".1")
        }
        let log = try AccessLog(AccessLog.Configuration(path: path, format: .squid))
        let buffer = log.makeBuffer()
        note("http://a.test/before", in: buffer)
        try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
        let folder = try FileGrowth(of: URL(filePath: path).deletingLastPathComponent().path)
        log.reopen()
        while !FileManager.default.fileExists(atPath: path) { try #require(folder.wait()) }
        note("http://a.test/after", in: buffer)
        log.close()
        #expect(try lines(path + ".1").map { $0.contains("before") } == [true])
        #expect(try lines(path).map { $0.contains("after") } == [true])
    }

    @Test("The file is accessible to its owner only; if it cannot be opened, starting fails")
    func opensTheFile() throws {
        let path = temporaryFile()
        defer { try? FileManager.default.removeItem(atPath: path) }  // the test is over
        try AccessLog(AccessLog.Configuration(path: path)).close()
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode.map { $0 & 0o077 } == 0)
        #expect(throws: (any Error).self) { try AccessLog(AccessLog.Configuration(path: "/nonexistent/access.log")) }
    }

    @Test(
        "A full disk causes dropped lines, which are counted and reported once",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func survivesAFullDisk() throws {
        let said = Guarded<[String]>([])
        let log = try AccessLog(AccessLog.Configuration(path: "/dev/full")) { message in said.withLock { $0.append(message) } }
        let buffer = log.makeBuffer()
        for _ in 0..<10 { note("http://a.test/", in: buffer) }
        log.close()
        #expect(log.droppedCount == 10)
        // The writer may take the lines in several batches: the message tells the count of the first one.
        let messages = said.withLock { $0 }
        #expect(messages.count == 1)
        #expect(
            messages.allSatisfy {
                $0.hasPrefix("the access log cannot be written fast enough: ") && $0.hasSuffix(" requests were not logged")
            })
    }

    @Test("A pipe that is not read does not block closing; if it has no reader, starting fails")
    func endsBesideAStalledReader() throws {
        let path = temporaryFile()
        defer { try? FileManager.default.removeItem(atPath: path) }  // the test is over
        // As in the serving process.
        signal(SIGPIPE, SIG_IGN)
        #expect(mkfifo(path, 0o600) == 0)
        #expect(throws: (any Error).self) { try AccessLog(AccessLog.Configuration(path: path)) }
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let log = try AccessLog(AccessLog.Configuration(path: path))
        let buffer = log.makeBuffer()
        let url = "http://a.test/" + String(repeating: "x", count: 200)
        for _ in 0..<1000 { note(url, in: buffer) }
        #expect(!log.close())
    }

    @Test("A disabled log does nothing")
    func isOff() throws {
        let log = try AccessLog.off()
        note("http://a.test/", in: log.makeBuffer())
        log.close()
        #expect(log.droppedCount == 0)
    }
}
