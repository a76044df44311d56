import EventLoop
import Foundation
import LarderHTTP
import Synchronization
import TestSupport
import Testing

@testable import Downloads

@Suite("Part files")
struct PartFileTests {
    private let folder: TemporaryFolder
    private static let entity = FetchedEntity(tag: "\"one\"", total: 1000)

    init() throws { folder = try TemporaryFolder() }

    private func part(isSequential: Bool) throws -> PartFile {
        try PartFile(in: folder.path, for: .file(key: "key"), isSequential: isSequential)
    }

    @Test("The first bytes are recorded at once, and all later ones count as long as a single writer appends")
    func notesTheFirst() async throws {
        do {
            let part = try part(isSequential: true)
            part.note(Self.entity, name: "a", digests: ["sha-256=:AAAA:"])
            try part.write([UInt8](repeating: 1, count: 10), at: 0)
            try await until { FileManager.default.fileExists(atPath: part.recordPath) }
            // As after a kill: only the first bytes were recorded.
            let first = try #require(FileManager.default.contents(atPath: part.recordPath))
            for offset in stride(from: UInt64(10), to: 600, by: 10) {
                try part.write([UInt8](repeating: 1, count: 10), at: offset)
            }
            #expect(await part.leave() == 600)
            try first.write(to: URL(filePath: part.recordPath))
        }
        // The first part's own thread may hold it, and with it the lock, for a moment longer.
        var opened: PartFile?
        try await until {
            opened = try? part(isSequential: false)
            return opened != nil
        }
        let next = try #require(opened)
        #expect(next.keptLength == 600 && next.entity == Self.entity && next.digests == ["sha-256=:AAAA:"])
        // From here on, bytes may be written beyond its end, with gaps before them.
        let noted = try #require(PartRecord.read(next.recordPath, boot: PartRecord.currentBoot()))
        #expect(noted.grows != true && noted.extents == [[0, 600]])
    }

    @Test(
        "A record with a name outside the folder, or with a line break for a request, is not trusted",
        arguments: ["../a", "a/b", ".a", "a"])
    func believesNoPaths(name: String) throws {
        let path = folder.path + "/record"
        for tag in ["\"one\"", "\"one\"\r\nX: y"] {
            PartRecord(tag: tag, extents: [[0, 1]], boot: "b", isOnDisk: true, name: name).write(path)
            #expect((PartRecord.read(path, boot: "b") != nil) == (name == "a" && tag == "\"one\""))
        }
    }

    @Test("At an orderly end, a part is recorded as flushed only after the flush")
    func claimsNothingBefore() async throws {
        let before = Guarded<Bool?>(nil)
        let record = Guarded("")
        let part = try PartFile(in: folder.path, for: .file(key: "key"), isSequential: true) { _ in
            before.withLock { $0 = PartRecord.read(record.withLock { $0 }, boot: PartRecord.currentBoot())?.isOnDisk }
            return 0
        }
        record.withLock { $0 = part.recordPath }
        part.note(Self.entity, name: "a", digests: [])
        try part.write([UInt8](repeating: 1, count: 10), at: 0)
        #expect(await part.leave() == 10)
        #expect(before.withLock { $0 } == false)
        let left = try #require(PartRecord.read(part.recordPath, boot: "another run"))
        #expect(left.isOnDisk && left.grows != true && left.extents == [[0, 10]])
    }

    @Test("While a part waits for the disk, the thread that reads continues", .timeLimit(.minutes(1)))
    func waitsBeside() async throws {
        let session = try FetchSession.make(SessionProxy(larderAt: "127.0.0.1", port: 1), connections: 1, userAgent: "test")
        let wait = WaitForTheDisk()
        let part = try PartFile(in: folder.path, for: .file(key: "key"), isSequential: true) { _ in wait.run() }
        part.note(Self.entity, name: "a", digests: [])
        try part.write([UInt8](repeating: 1, count: 10), at: 0)
        let leaving = Task(executorPreference: session.taskExecutor) { await part.leave() }
        let reading = Task(executorPreference: session.taskExecutor) {
            while !wait.hasBegun { await Task.yield() }
            wait.mayGoOn.signal()
        }
        #expect(await leaving.value == 10)
        await reading.value
        await session.shutdown(.cancel)
    }

    @Test("A record that does not fit the part is ignored, then and later")
    func doubts() async throws {
        let record = PartRecord(
            tag: "\"one\"", total: 1000, extents: [[0, 500]], boot: PartRecord.currentBoot(), isOnDisk: true, name: "a")
        var path = ""
        do {
            let part = try part(isSequential: true)
            path = part.recordPath
            record.write(path)
        }
        let part = try part(isSequential: true)
        #expect(part.entity == nil && part.missing == [0..<UInt64.max])
        // Otherwise it would fit any file that later reaches this length.
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}

/// A disk that is as slow as a test needs, for at most a minute.
private final class WaitForTheDisk: Sendable {
    let mayGoOn = DispatchSemaphore(value: 0)
    private let isOn = Atomic(false)
    var hasBegun: Bool { isOn.load(ordering: .acquiring) }

    func run() -> Int32 {
        isOn.store(true, ordering: .releasing)
        return mayGoOn.wait(timeout: .now() + .seconds(Deadline.seconds)) == .success ? 0 : -1
    }
}
