import Foundation
import Glibc
import Testing
import TestSupport

@Suite("Large bodies")
struct LargeBodyTests {
    /// 64 MiB, or 2 GiB where `LARDER_LONG` is set.
    private static let isLong = ProcessInfo.processInfo.environment["LARDER_LONG"] != nil
    private static let length = isLong ? 2 << 30 : 64 << 20
    private static let disk = "store: {disk: {high: 6GiB, low: 5GiB}}"

    private func stage(_ directive: String, cutAt end: Int? = nil, body: PatternedBody) throws -> Stage {
        try Stage(Self.disk, storePath: nil) { request, connection in
            connection.send(
                "HTTP/1.1 200 OK\r\nCache-Control: \(directive)\r\nETag: \"v\"\r\nContent-Length: \(body.length)\r\n\r\n")
            let isCut = request["X-Cut"] != nil
            return connection.send(body, upTo: isCut ? end : nil) == body.length
        }
    }

    @Test(
        "The body arrives complete, stored and not stored, for a fast client and one at 25 MB/s",
        arguments: ["max-age=600", "no-store"], [nil, 25_000_000])
    func passesWhole(directive: String, bytesPerSecond: Int?) throws {
        let body = PatternedBody(length: Self.length)
        let stage = try stage(directive, body: body)
        let isKept = directive != "no-store"
        for turn in 0..<(isKept ? 2 : 1) {
            let client = try stage.client()
            client.send(stage.head("GET", "/large"))
            #expect(try client.readHead()["Content-Length"] == "\(Self.length)")
            #expect(try client.read(body, count: Self.length, bytesPerSecond: turn == 0 ? bytesPerSecond : nil) == Self.length)
        }
        #expect(stage.requestCount() == 1)
        if !isKept {
            _ = try? stage.fetch("/large", method: "HEAD")  // its response does not matter here
            #expect(stage.requestCount() == 2)
        }
    }

    @Test("A client that leaves in the middle leaves no short stored response", arguments: ["max-age=600", "no-store"])
    func clientIsCut(directive: String) throws {
        let body = PatternedBody(length: Self.length)
        let stage = try stage(directive, body: body)
        let leaving = try stage.client()
        leaving.send(stage.head("GET", "/large"))
        _ = try leaving.readHead()
        _ = try leaving.read(body, count: Self.length / 2)
        leaving.reset()
        let client = try stage.client()
        client.send(stage.head("GET", "/large"))
        #expect(try client.readHead().status == 200)
        #expect(try client.read(body, count: Self.length) == Self.length)
    }

    @Test(
        "A body that the origin cuts never looks complete, and is never served as complete later",
        arguments: ["max-age=600", "no-store"])
    func originIsCut(directive: String) throws {
        let body = PatternedBody(length: Self.length)
        let stage = try stage(directive, cutAt: Self.length / 2, body: body)
        let first = try stage.client()
        first.send(stage.head("GET", "/large", fields: "X-Cut: 1\r\n"))
        _ = try first.readHead()
        let received = try? first.read(body, count: Self.length)  // a reset is expected
        #expect(received ?? 0 <= Self.length / 2)
        let client = try stage.client()
        client.send(stage.head("GET", "/large"))
        #expect(try client.readHead().status == 200)
        #expect(try client.read(body, count: Self.length) == Self.length)
        // The origin answers the request for the rest with the complete body, which ends the first message.
        #expect(stage.requestCount() == 3)
    }

    @Test(
        "If a client does not read, Larder reads no more from the origin than its window",
        arguments: ["max-age=600", "no-store"])
    func holdsBack(directive: String) throws {
        let body = PatternedBody(length: Self.length)
        let taken = TakenCount()
        let stage = try Stage(Self.disk, storePath: nil) { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nCache-Control: \(directive)\r\nContent-Length: \(body.length)\r\n\r\n")
            connection.limitSending(milliseconds: 1_000)
            taken.set(connection.send(body))
            return false
        }
        let client = try stage.client(receiveBuffer: 64 * 1024)
        client.send(stage.head("GET", "/large"))
        #expect(try client.readHead().status == 200)
        // The kernel's buffers on both sides add to the window of 4 MiB.
        #expect(taken.wait() < 24 << 20)
    }

    @Test("Memory stays bounded while 2 GiB pass", .enabled(if: isLong))
    func boundsMemory() throws {
        let body = PatternedBody(length: Self.length)
        let stage = try stage("max-age=600", body: body)
        let before = Memory.resident
        let client = try stage.client()
        client.send(stage.head("GET", "/large"))
        _ = try client.readHead()
        #expect(try client.read(body, count: Self.length, bytesPerSecond: 200_000_000) == Self.length)
        // The window, the writer's queue and the store's memory tier use memory.
        #expect(Memory.peak - before < 256 << 20)
    }
}

/// How many bytes an origin could send before the proxy read no more.
final class TakenCount: Sendable {
    private let condition = NSCondition()
    // Guarded by `condition`.
    nonisolated(unsafe) private var count: Int?

    func set(_ value: Int) {
        condition.withLock {
            count = value
            condition.signal()
        }
    }

    func wait() -> Int {
        condition.withLock {
            while count == nil { condition.wait() }
            return count ?? 0
        }
    }
}

/// This process's resident memory, in bytes.
enum Memory {
    static var resident: Int { value("VmRSS:") }
    static var peak: Int { value("VmHWM:") }

    private static func value(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""  // Linux has this file
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
        return (Int(line.split { !$0.isNumber }.first ?? "") ?? 0) * 1024
    }
}
