import EventLoop
import Foundation
import HTTPMessage
import ServerTrust
import TestSupport
import Testing
import TextCoding

@testable import AuditLog

@Suite("The audit log")
struct AuditLogTests {
    /// A log in a folder of its own, and what a user can do with it.
    private final class Stage {
        let folder: TemporaryFolder
        var path: String { "\(folder.path)/audit.ndjson" }
        var keys: String { "\(folder.path)/state/audit" }

        init() throws { folder = try TemporaryFolder() }

        func configuration(fileSize: Int64 = 64 << 20, count: Int = 30) -> AuditLog.Configuration {
            var configuration = AuditLog.Configuration(path: path, folder: keys)
            configuration.fileSize = fileSize
            configuration.fileCount = count
            // A test seals when it wants a seal.
            configuration.sealMilliseconds = 3_600_000
            return configuration
        }

        func verify(seal: AuditSeal? = nil) throws -> AuditScan {
            try AuditVerification.verify(path, keys: [try AuditVerification.key(inFolder: keys)], seal: seal)
        }

        func lines() throws -> [String] {
            try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
        }

        func write(_ lines: [String]) throws {
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
        }

        func sealFile() throws -> String {
            let names = try FileManager.default.contentsOfDirectory(atPath: keys)
            return "\(keys)/\(try #require(names.first { $0.hasSuffix(".seal") }))"
        }
    }

    private func note(_ count: Int, in log: AuditLog) {
        for number in 0..<count {
            log.note(.denied, [("url", .string("http://a.test/\(number)")), ("code", .string("denied_by_rule"))])
        }
    }

    /// Seals, and waits until the seal is written.
    private func seal(_ log: AuditLog) throws -> AuditSeal {
        let sealed = Gate()
        log.seal { sealed.open() }
        sealed.wait()
        return try #require(log.newestSeal)
    }

    @Test("A log of several starts is complete up to its last seal, and only its owner can read it and its key")
    func chains() throws {
        let stage = try Stage()
        for start in 0..<3 {
            let log = try AuditLog(stage.configuration())
            note(10, in: log)
            log.close()
            let scan = try stage.verify(seal: log.newestSeal)
            #expect(scan.problems == [] && scan.doubtful == [] && scan.unsealedCount == 0 && scan.foundWanted)
            // opened, and for each start: started, the events, stopped, and the seal.
            #expect(scan.lineCount == 1 + 13 * (start + 1) && scan.newestSeal?.number == scan.last)
        }
        for (path, mode) in [(stage.path, 0o600), ("\(stage.keys)/key.pem", 0o600), ("\(stage.keys)/public.pem", 0o644)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == mode, "\(path)")
        }
    }

    @Test(
        "Each of 400 damages is found: a changed, removed, repeated, exchanged or inserted line, and a changed byte",
        arguments: [24_11])
    func damages(seed: UInt64) throws {
        let stage = try Stage()
        let log = try AuditLog(stage.configuration())
        for _ in 0..<4 {
            note(20, in: log)
            _ = try seal(log)
        }
        log.close()
        let good = try stage.lines()
        var random = SeededGenerator(seed: seed)
        for round in 0..<400 {
            var lines = good
            let place = random.below(lines.count)
            switch round % 5 {
            case 0:
                var bytes = Array(lines[place].utf8)
                let at = random.below(bytes.count)
                bytes[at] = bytes[at] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
                lines[place] = String(decoding: bytes, as: UTF8.self)
            case 1: lines.remove(at: random.below(lines.count - 1))
            case 2: lines.insert(lines[place], at: place)
            case 3: lines.swapAt(random.below(40), 40 + random.below(lines.count - 40))
            default: lines.insert(good[random.below(good.count)], at: 1 + random.below(lines.count - 1))
            }
            try stage.write(lines)
            #expect(try stage.verify().problemCount > 0, "seed \(seed), round \(round)")
        }
    }

    @Test("A log that was cut after a seal is only found with a later seal; a seal of another log never fits")
    func cuts() throws {
        let stage = try Stage()
        let log = try AuditLog(stage.configuration())
        note(5, in: log)
        let first = try seal(log)
        note(5, in: log)
        let second = try seal(log)
        log.close()
        let lines = try stage.lines()
        try stage.write(Array(lines.prefix(Int(first.number))))
        #expect(try stage.verify().problems == [])
        #expect(try stage.verify(seal: first).foundWanted)
        let scan = try stage.verify(seal: second)
        #expect(
            scan.problems.map(\.reason) == [
                "lines are missing at the end: the log ends at line \(first.number), before the seal in line \(second.number)"
            ])
        let other = try #require(AuditSeal("\(first.number):" + String(repeating: "0", count: 64)))
        #expect(try stage.verify(seal: other).problemCount == 1)
    }

    @Test("After a crash, the lines without a seal are unverified, an incomplete line is removed, and the chain continues")
    func crashes() throws {
        let stage = try Stage()
        var log = try AuditLog(stage.configuration())
        note(3, in: log)
        let kept = try seal(log)
        note(4, in: log)
        log.close()
        // As a crash leaves it: without the lines `stopped` and `seal`, and with half a line.
        let lines = try stage.lines()
        let left = lines.prefix(Int(kept.number) + 4)
        try Data((left.joined(separator: "\n") + "\n{\"seq\":").utf8).write(to: URL(filePath: stage.path))
        try Data("\(kept)\n".utf8).write(to: URL(filePath: try stage.sealFile()))
        #expect(try stage.verify().problems.map(\.reason) == ["the last line is incomplete"])
        log = try AuditLog(stage.configuration())
        log.close()
        let scan = try stage.verify()
        #expect(scan.problems == [] && scan.unsealedCount == 0)
        #expect(scan.doubtful == [kept.number + 1...kept.number + 4])
        let started = try #require(try stage.lines().last { $0.contains("\"event\":\"started\"") })
        #expect(started.contains("\"cut_bytes\":7") && !started.contains("problem"))
    }

    @Test("A start tells the operator that the log ends before its newest seal, and writes this into the log")
    func missingSeal() throws {
        let stage = try Stage()
        var log = try AuditLog(stage.configuration())
        let first = try seal(log)
        note(4, in: log)
        log.close()
        let newest = try #require(log.newestSeal)
        try stage.write(Array(try stage.lines().prefix(Int(first.number))))
        let warnings = Guarded<[String]>([])
        log = try AuditLog(stage.configuration()) { text in warnings.withLock { $0.append(text) } }
        log.close()
        #expect(warnings.withLock { $0 }.count == 1)
        #expect(warnings.withLock { $0 }.first?.contains("before the seal in line \(newest.number)") == true)
        #expect(try stage.lines().contains { $0.contains("\"missing_seal\":\"\(newest)\"") })
    }

    @Test(
        "A start finds lines that were replaced after an older seal, and writes this into the log before the next seal covers them"
    )
    func replacedLines() throws {
        let stage = try Stage()
        var log = try AuditLog(stage.configuration())
        note(3, in: log)
        let older = try seal(log)
        note(2, in: log)
        log.close()
        let newest = try #require(log.newestSeal)
        // An attacker without the key appends correctly chained lines up to the number of the newest seal.
        var forged = Array(try stage.lines().prefix(Int(older.number)))
        var hash = older.hash
        for number in older.number + 1...newest.number {
            let body = AuditLog.body(.denied, at: .wallClock, [("url", .string("http://forged.test/"))])
            let line = AuditLine.line(number, body, after: hash)
            hash = SHA256Digest(of: line)
            forged.append(String(decoding: line, as: UTF8.self))
        }
        try stage.write(forged)
        let warnings = Guarded<[String]>([])
        log = try AuditLog(stage.configuration()) { text in warnings.withLock { $0.append(text) } }
        log.close()
        #expect(warnings.withLock { $0 }.count == 1)
        #expect(try stage.lines().contains { $0.contains("\"missing_seal\":\"\(newest)\"") && $0.contains("\"problem\":") })
        #expect(try stage.verify(seal: newest).problemCount == 1)
    }

    @Test("A seal from before the log's first line is found only if the first line names it")
    func olderSeals() throws {
        let stage = try Stage()
        let log = try AuditLog(stage.configuration(fileSize: 2048, count: 2))
        var seals: [AuditSeal] = []
        for _ in 0..<8 {
            note(10, in: log)
            seals.append(try seal(log))
        }
        log.close()
        let first = try stage.verify().first
        #expect(first > 1)
        for seal in seals {
            let scan = try stage.verify(seal: seal)
            #expect(
                scan.foundWanted == (seal.number >= first - 1) && (scan.problemCount == 0) == scan.foundWanted, "\(seal.number)")
        }
    }

    @Test("A part of the first line, which a crash leaves, is removed; a readable file becomes private")
    func tornFirstLine() throws {
        let stage = try Stage()
        try Data("{\"seq\":1,\"time\":\"20".utf8).write(to: URL(filePath: stage.path))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: stage.path)
        let log = try AuditLog(stage.configuration())
        log.close()
        #expect(try stage.verify().problems == [] && stage.lines().count == 4)
        let attributes = try FileManager.default.attributesOfItem(atPath: stage.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("Verifying while files rotate finds no problem")
    func verifiesWhileRotating() throws {
        let stage = try Stage()
        let log = try AuditLog(stage.configuration(fileSize: 4096, count: 1000))
        let isDone = Guarded(false)
        let ended = Gate()
        Thread.detachNewThread { [self] in
            for _ in 0..<200 { note(20, in: log) }
            log.seal {
                isDone.withLock { $0 = true }
                ended.open()
            }
        }
        repeat { #expect(try stage.verify().problems == []) } while !isDone.withLock { $0 }
        ended.wait()
        log.close()
        #expect(try stage.verify().problems == [])
    }

    @Test("An event whose members are too long for a line is written without them, and the log stays complete")
    func boundsLines() throws {
        let stage = try Stage()
        let log = try AuditLog(stage.configuration())
        let long = String(repeating: "\u{1}", count: 20_000)
        log.note(.settings, [("problems", .array([.string(long)]))])
        log.close()
        #expect(try stage.verify().problems == [])
        let line = try #require(try stage.lines().first { $0.contains("\"event\":\"settings\"") })
        #expect(line.contains("\"cut\":120") && !line.contains("problems"))
    }

    @Test("A start does not ignore a newest seal that other users could have written")
    func sealOfOthers() throws {
        let stage = try Stage()
        let log = try AuditLog(stage.configuration())
        log.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: try stage.sealFile())
        #expect(throws: AuditLogUnusable.self) { try AuditLog(stage.configuration()) }
    }

    @Test("Files rotate by size, the oldest are deleted, and the chain continues over all of them")
    func rotates() throws {
        let stage = try Stage()
        let log = try AuditLog(stage.configuration(fileSize: 2048, count: 4))
        for _ in 0..<12 {
            note(10, in: log)
            _ = try seal(log)
        }
        log.close()
        #expect(AuditFiles.rotated(of: stage.path).count == 3)
        let scan = try stage.verify(seal: log.newestSeal)
        #expect(scan.problems == [] && scan.fileCount == 4 && scan.first > 1 && scan.foundWanted)
        // A file that is missing in the middle is found.
        try FileManager.default.removeItem(atPath: AuditFiles.rotated(of: stage.path)[1])
        #expect(try stage.verify().problems.first?.reason.hasSuffix("are missing") == true)
    }

    @Test("A log that was moved away continues in a new file, and both together are complete")
    func movedAway() throws {
        let stage = try Stage()
        let log = try AuditLog(stage.configuration())
        note(3, in: log)
        _ = try seal(log)
        let moved = AuditFiles.rotatedPath(of: stage.path, last: 5)
        try FileManager.default.moveItem(atPath: stage.path, toPath: moved)
        log.reopen()
        // Events that are noted before the file is opened again go to the old file.
        _ = try seal(log)
        note(3, in: log)
        log.close()
        let scan = try stage.verify()
        #expect(scan.problems == [] && scan.fileCount == 2 && scan.first == 1)
        let lines = try stage.lines()
        #expect(lines.first?.contains("\"event\":\"opened\"") == true, "\(lines)")
    }

    @Test("A file that another Larder writes, that is no audit log, or whose key others can read, is refused and stays as it is")
    func refuses() throws {
        let stage = try Stage()
        let log = try AuditLog(stage.configuration())
        func reason() -> String {
            do throws(AuditLogUnusable) {
                _ = try AuditLog(stage.configuration())
                return ""
            } catch {
                return error.reason
            }
        }
        #expect(reason().contains("another process writes to \(stage.path)"))
        log.close()
        try Data("a diary\n".utf8).write(to: URL(filePath: stage.path))
        #expect(reason() == "\(stage.path) is not an audit log; name another file")
        #expect(try String(contentsOfFile: stage.path, encoding: .utf8) == "a diary\n")
        try FileManager.default.removeItem(atPath: stage.path)
        try FileManager.default.createDirectory(atPath: stage.path, withIntermediateDirectories: false)
        #expect(!reason().isEmpty)
        try FileManager.default.removeItem(atPath: stage.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(stage.keys)/key.pem")
        #expect(reason().contains("restrict it with `chmod 600`"))
    }

    @Test("A seal by another key is reported as unknown")
    func unknownKey() throws {
        let stage = try Stage()
        let log = try AuditLog(stage.configuration())
        log.close()
        let other = try Stage()
        let foreign = try AuditLog(other.configuration())
        foreign.close()
        let key = try AuditVerification.key(inFolder: other.keys)
        let scan = try AuditVerification.verify(stage.path, keys: [key], seal: nil)
        #expect(scan.problems.map(\.reason) == ["the seal is signed with an unknown key"] && scan.newestSeal == nil)
    }

    @Test("Events beyond the queue's limit are counted, and their number is taken with the next events")
    func boundsTheQueue() {
        let queue = AuditQueue()
        let body = [UInt8](repeating: 0x20, count: 1 << 20)
        for _ in 0..<20 { _ = queue.append(.init(time: .wallClock, body: body)) }
        let (events, lost) = queue.take()
        #expect(events.count == 16 && lost == 4)
        #expect(queue.append(.init(time: .wallClock, body: body)))
        #expect(queue.take().lostCount == 0)
    }
}
