import CLarderSQLite
import Foundation
import HTTPCaching
import TestSupport
import Testing

@testable import ResponseStore

@Suite("The store file")
struct StoreFileTests {
    static func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }

    /// Runs SQL on a file that no store has open.
    static func edit(_ path: String, _ sql: String) {
        var connection: OpaquePointer?
        #expect(sqlite3_open(path, &connection) == SQLITE_OK)
        #expect(sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK)
        sqlite3_close(connection)
    }

    @Test("All files are accessible to the owner only, whatever the umask")
    func isPrivate() throws {
        let fixture = StoreFixture()
        let path = fixture.folder + "/new/folder/larder.db"
        let old = umask(0)
        defer { umask(old) }
        let store = try fixture.open { $0.path = path }
        _ = store.put(Sample.response("a", body: [1]))
        store.drain()
        for suffix in ["", "-wal", "-shm", ".lock", ".reserved"] { #expect(try Self.mode(path + suffix) == 0o600, "\(suffix)") }
        #expect(try Self.mode(fixture.folder + "/new") == 0o700)
        #expect(try Self.mode(fixture.folder + "/new/folder") == 0o700)
    }

    @Test("The space that an older version reserved under another name is freed")
    func removesFormerReservedSpace() throws {
        let fixture = StoreFixture()
        let path = fixture.folder + "/larder.db"
        let descriptor = open(path + ".ballast", O_WRONLY | O_CREAT, 0o600)
        #expect(descriptor >= 0)
        close(descriptor)
        _ = try fixture.open { $0.path = path }
        #expect(access(path + ".ballast", F_OK) != 0)
        #expect(access(path + ".reserved", F_OK) == 0)
    }

    @Test("A store in use is rejected, and the error names the process that uses it")
    func locks() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        let error = #expect(throws: StoreError.self) { try fixture.open() }
        #expect(error?.code == .lockedByProcess(getpid()))
        #expect(error?.message.contains("\(getpid())") == true)
        store.shutdown()
        try fixture.open().shutdown()
    }

    @Test("A store with an older schema is emptied with a notice; one with a newer schema is rejected unchanged")
    func judgesVersions() throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        _ = store.put(Sample.response("a", body: [1]))
        store.shutdown()
        Self.edit(fixture.path, "DROP INDEX response_origin; PRAGMA user_version=7")
        let before = try Data(contentsOf: URL(filePath: fixture.path))
        let error = #expect(throws: StoreError.self) { try fixture.open() }
        #expect(error?.code == .newerSchema(7))
        #expect(try Data(contentsOf: URL(filePath: fixture.path)) == before)

        Self.edit(fixture.path, "PRAGMA user_version=0")
        store = try fixture.open()
        #expect(fixture.seenNotices.contains(.emptied(version: 0)))
        #expect(store.find(Sample.key("a")) == nil)
        _ = store.put(Sample.response("b", body: [1]))
        store.drain()
        #expect(store.statistics.entries == 1)
    }

    @Test("Another application's database is rejected unchanged")
    func refusesForeignFiles() throws {
        let fixture = StoreFixture()
        Self.edit(fixture.path, "CREATE TABLE mine(x); INSERT INTO mine VALUES(1)")
        let before = try Data(contentsOf: URL(filePath: fixture.path))
        let error = #expect(throws: StoreError.self) { try fixture.open() }
        #expect(error?.code == .foreignFile)
        #expect(try Data(contentsOf: URL(filePath: fixture.path)) == before)
    }

    @Test(
        "A file that does not begin like a store is rejected with its path, and stays unchanged",
        arguments: ["notes", "short", "other", "header"])
    func refusesUsersFiles(kind: String) throws {
        let fixture = StoreFixture()
        let url = URL(filePath: fixture.path)
        switch kind {
        case "notes": try Data(String(repeating: "Buy milk.\n", count: 2000).utf8).write(to: url)
        case "short": try Data("x".utf8).write(to: url)
        case "other":
            // Another application's database, damaged so that SQLite cannot read it.
            Self.edit(fixture.path, "CREATE TABLE mine(x); INSERT INTO mine VALUES(1)")
            var bytes = try Data(contentsOf: url)
            for index in 100..<108 { bytes[index] ^= 0xA5 }
            try bytes.write(to: url)
        default:
            // A store that has lost its whole first page cannot be recognized as one.
            try fixture.open().shutdown()
            var bytes = try Data(contentsOf: url)
            for index in 0..<8192 { bytes[index] = 0 }
            try bytes.write(to: url)
        }
        let before = try Data(contentsOf: url)
        let names = try Set(FileManager.default.contentsOfDirectory(atPath: fixture.folder))
        let error = #expect(throws: StoreError.self) { try fixture.open() }
        #expect(error?.code == .foreignFile)
        #expect(error?.description.contains(fixture.path) == true)
        #expect(try Data(contentsOf: url) == before)
        let added = try Set(FileManager.default.contentsOfDirectory(atPath: fixture.folder)).subtracting(names)
        #expect(added.isEmpty)
        #expect(fixture.seenNotices.isEmpty)
    }

    @Test(
        "A new store does not replace a user's file beside it",
        arguments: [".lock", ".reserved", ".ballast", "-wal", "-journal", "-shm"])
    func keepsUsersFilesBeside(ending: String) throws {
        let fixture = StoreFixture()
        let url = URL(filePath: fixture.path + ending)
        let text = Data("precious\n".utf8)
        try text.write(to: url)
        let error = #expect(throws: StoreError.self) { try fixture.open() }
        #expect(error?.code == .foreignFile && error?.description.contains(fixture.path + ending) == true)
        #expect(try Data(contentsOf: url) == text)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder) == [url.lastPathComponent])
    }

    @Test(
        "A path that cannot be a store's is rejected with the reason, and nothing is created",
        arguments: ["folder", "pipe", "device"])
    func refusesOtherKinds(kind: String) throws {
        let fixture = StoreFixture()
        var path = fixture.path
        switch kind {
        case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case "pipe": #expect(mkfifo(path, 0o600) == 0)
        default: path = "/dev/null"
        }
        let error = #expect(throws: StoreError.self) { try fixture.open { $0.path = path } }
        #expect(error?.code == .cannotOpen && error?.description.hasPrefix("\(path): this is a") == true, "\(error as Any)")
        #expect(throws: StoreError(.cannotOpen, path: path, message: "")) { try StoreBrowser(path: path) }
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder)
        #expect(
            names.isEmpty == (kind == "device") && names.count <= 1 && !FileManager.default.fileExists(atPath: path + ".lock"))
    }

    @Test("A store whose main file was deleted begins again beside the files that are left")
    func beginsAgainBesideOwnFiles() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        for ending in ["", "-wal", "-shm"] {
            // As a copy that was made while the store was open.
            try FileManager.default.copyItem(atPath: fixture.path + ending, toPath: fixture.path + ending + ".copy")
        }
        store.shutdown()
        for ending in ["-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: fixture.path + ending)
            try FileManager.default.moveItem(atPath: fixture.path + ending + ".copy", toPath: fixture.path + ending)
        }
        try FileManager.default.removeItem(atPath: fixture.path)
        try fixture.open().shutdown()
        #expect(fixture.seenNotices.isEmpty)
    }

    @Test("Files that were moved aside stay, however many there are")
    func keepsFilesMovedAside() throws {
        let fixture = StoreFixture()
        let url = URL(filePath: fixture.path)
        for count in 1...3 {
            try fixture.open().shutdown()
            var bytes = try Data(contentsOf: url)
            for index in 100..<104 { bytes[index] ^= 0xA5 }
            try bytes.write(to: url)
            try fixture.open().shutdown()
            let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder)
            #expect(names.count { $0.contains(".damaged-") } == count)
        }
    }

    @Test(
        "A file with a damaged header is moved aside, and the store continues",
        arguments: [0..<4, 17..<21, 18..<19, 60..<64, 70..<74, 100..<104, 8195..<8199])
    func movesDamagedFilesAside(damage: Range<Int>) throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        for number in 0..<200 { store.putSurely(Sample.response("a\(number)", body: Sample.bytes(1000, seed: 1))) }
        store.shutdown()
        var bytes = try Data(contentsOf: URL(filePath: fixture.path))
        for index in damage { bytes[index] ^= 0xA5 }
        try bytes.write(to: URL(filePath: fixture.path))
        store = try fixture.open()
        _ = store.put(Sample.response("new", body: [7]))
        store.drain()
        #expect(store.find(Sample.key("new")).flatMap { store.wholeBody($0) } == [7])
        store.shutdown()
        let aside = try FileManager.default.contentsOfDirectory(atPath: fixture.folder).filter { $0.contains(".damaged-") }
        #expect(aside.isEmpty == fixture.seenNotices.isEmpty)
        if damage.lowerBound < 100 { #expect(aside.count >= 1) }
    }

    // Tests/Long/store-flipped-bytes.sh does the same 1,000 times.
    @Test("A byte flipped anywhere is never served and never causes a crash")
    func survivesFlippedBytes() throws {
        let fixture = StoreFixture()
        defer { withExtendedLifetime(fixture) {} }
        let (status, output) = try Torture.run("flip", fixture.path, "0", "24")
        #expect(status == 0, "\(output)")
    }

    @Test("A full file does not stop the service, and eviction frees space")
    func survivesFullDisk() throws {
        let fixture = StoreFixture()
        let store = try fixture.open { $0.memory = .init(high: 256 << 10, low: 128 << 10) }
        // Simulates a full disk: the file must not grow.
        store.core.queue.add(.limitPages(300), urgent: true)
        var busy = 0
        for number in 0..<3000 {
            if case .busy = store.put(Sample.response("d\(number)", body: Sample.bytes(4096, seed: UInt64(number)))) { busy += 1 }
            if number % 50 == 0 { store.drain() }
        }
        store.drain()
        #expect(fixture.seenNotices.count { if case .diskFull = $0 { true } else { false } } == 1)
        #expect(store.statistics.evicted > 0)
        #expect(store.statistics.entries > 100)
        // Accepted responses that were not written count for their transaction; only rejected ones count as busy.
        let unstored = store.statistics.unstored
        #expect(unstored[.writeFailed] ?? 0 > 0)
        #expect(store.statistics.refusedBusy == busy && unstored.values.reduce(0, +) - (unstored[.writeFailed] ?? 0) == busy)
        for _ in 0..<20 { store.drain() }
        guard case .accepted = store.put(Sample.response("last", body: Sample.bytes(4096, seed: 1))) else {
            Issue.record("still full")
            return
        }
        store.drain()
        #expect(store.statistics.entries > 100)
        #expect(store.find(Sample.key("last")).flatMap { store.wholeBody($0) } == Sample.bytes(4096, seed: 1))
    }

    @Test("Pending responses that the last process left become partial responses or are deleted")
    func tidiesUp() throws {
        let fixture = StoreFixture()
        let copy = fixture.folder + "/copy.db"
        let store = try fixture.open()
        var pendingResponses: [PendingResponse] = []
        for (name, etag) in [("strong", true), ("weak", false)] {
            let plan = PendingPlan(response: Sample.response(name, body: [], etag: etag), length: 50 << 20)
            let pending = try #require(store.beginSurely(plan))
            PendingResponseTests.fill(pending, Sample.bytes(5 << 20, seed: 1), pieceLength: 1 << 20)
            pendingResponses.append(pending)
        }
        for _ in 0..<5 { store.drain() }
        // As a crash would leave it.
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: fixture.path + suffix, toPath: copy + suffix) }
        for pending in pendingResponses { pending.abort() }
        store.shutdown()

        let again = try fixture.open { $0.path = copy }
        try eventually {
            again.drain()
            return again.statistics.partials == 1 && again.statistics.entries == 1
        }
        #expect(again.find(Sample.key("strong")) == nil)
        #expect(again.find(Sample.key("weak")) == nil)
    }
}
