import EventLoop
import Foundation
import HTTPCaching
import HTTPMessage
import SQLiteDatabase
import TestSupport
@testable import ResponseStore

/// A store in a temporary directory, with calls that wait for their results.
final class StoreFixture: Sendable {
    let folder: String
    let notices = Guarded<[StoreNotice]>([])

    init() {
        folder = FileManager.default.temporaryDirectory.path + "/store-\(UUID().uuidString)"
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    var path: String { folder + "/larder.db" }

    func open(_ adjust: (inout StoreConfiguration) -> Void = { _ in }) throws -> ResponseStore {
        var configuration = StoreConfiguration(path: path)
        configuration.report = { [self] notice in notices.withLock { $0.append(notice) } }
        configuration.limits.reservedSpaceBytes = 1 << 20
        // How slow the disk is does not decide what the store accepts.
        configuration.limits.queuedMilliseconds = 60_000
        configuration.limits.stalledMilliseconds = 60_000
        adjust(&configuration)
        return try ResponseStore(configuration)
    }

    /// A store that knows its keys, and whose writer may pause as long as a test likes.
    func openKnowing() throws -> ResponseStore {
        let store = try open()
        try store.learnKeys()
        return store
    }

    /// The number of rows in a table of the file.
    func count(of table: String) throws -> Int64 {
        try Connection(path: path, access: .reading).integer("SELECT count(*) FROM \(table)") ?? 0
    }

    var seenNotices: [StoreNotice] { notices.withLock { $0 } }
}

/// One result that a test's thread waits for.
final class Answer<Value: Sendable>: Sendable {
    private let value = Guarded<Value?>(nil)
    private let semaphore = DispatchSemaphore(value: 0)

    func set(_ value: Value) {
        self.value.withLock { $0 = value }
        semaphore.signal()
    }

    /// Traps at the deadline: a test that waits for nothing is wrong.
    func wait() -> Value {
        precondition(semaphore.wait(timeout: .now() + .seconds(Deadline.seconds)) == .success, "no answer came")
        return value.withLock { $0! }
    }
}

extension ResponseStore {
    func memoryAnswer(_ key: [UInt8]) -> MemoryAnswer { inMemory(key.span) }

    func lookUpNow(_ key: [UInt8]) -> LookUpResult {
        let answer = Answer<LookUpResult>()
        lookUp(key) { answer.set($0) }
        return answer.wait()
    }

    func readNow(_ body: BodyReference, at offset: UInt64) -> BodyReadResult {
        let answer = Answer<BodyReadResult>()
        readBody(body, at: offset) { answer.set($0) }
        return answer.wait()
    }

    /// Stores the response as soon as the writer accepts it.
    func putSurely(_ response: StoredResponse) {
        while case .busy = put(response) { drain() }
    }

    /// Starts storing as soon as the writer accepts more.
    func beginSurely(_ plan: PendingPlan) -> PendingResponse? {
        for _ in 0..<100 {
            if let pending = beginPending(plan) { return pending }
            drain()
        }
        return nil
    }

    /// The response that would be selected for a request without nominated fields.
    func find(_ key: [UInt8]) -> StoredResponse? {
        switch inMemory(key.span) {
        case .found(let variants): return variants.responses.first
        case .absent: return nil
        case .unknown:
            guard case .found(let variants) = lookUpNow(key) else { return nil }
            return variants.responses.first
        }
    }

    /// The file's responses for a key, whatever memory has.
    func foundOnDisk(_ key: [UInt8]) -> StoredResponse? {
        guard case .found(let variants) = lookUpNow(key) else { return nil }
        return variants.responses.first
    }

    /// The whole body, from memory or disk; `nil` if it cannot be read.
    func wholeBody(_ response: StoredResponse) -> [UInt8]? {
        switch response.body {
        case .bytes(let bytes): return bytes
        case .onDisk(let reference):
            let hold = hold(reference)
            defer { withExtendedLifetime(hold) {} }
            var bytes: [UInt8] = []
            while UInt64(bytes.count) < reference.length {
                guard case .bytes(let piece, let range) = readNow(reference, at: UInt64(bytes.count)) else { return nil }
                bytes += piece[range]
            }
            return bytes
        }
    }

    func outcome(of pending: PendingResponse) -> PendingOutcome {
        let outcome = Answer<PendingOutcome>()
        pending.whenStored { outcome.set($0) }
        return outcome.wait()
    }

    /// Returns when the writer has processed all rows that existed before.
    func learnKeys() throws {
        try eventually {
            drain()
            return statistics.knowsKeys
        }
    }

    /// Pauses the writer between two transactions, so that it gets the operations that `body` adds in one batch.
    func inOneBatch(_ body: () throws -> Void) rethrows {
        let (held, released) = (Answer<Void>(), Answer<Void>())
        // For a key without responses; the writer itself reports that it has begun.
        purge(.keys([[0]]), at: PurgeTests.now) { progress in
            guard case .inEffect = progress else { return }
            held.set(())
            released.wait()
        }
        held.wait()
        defer { drain() }
        defer { released.set(()) }
        try body()
    }

    /// Returns when everything queued before has been written.
    func drain() {
        // A lookup that is queued for the writer returns after everything queued before it.
        let answer = Answer<LookUpResult>()
        core.queue.add(.lookUp(LookUpJob(key: [0], hash: KeyHash(low: 0, high: 0)) { answer.set($0) }), urgent: true)
        _ = answer.wait()
    }
}

/// Responses for tests, whose body identifies them.
enum Sample {
    static func key(_ name: String) -> [UInt8] { Array("http://example.test:80/\(name)".utf8) }

    static func response(
        _ name: String, body: [UInt8], nominated: String = "", etag: Bool = false, date: Int64 = 1_700_000_000,
        requested: Int64? = nil, flags: ReuseFacts.Flags = [], field: String = "value", tag: String = "v"
    ) -> StoredResponse {
        var facts = ReuseFacts(status: .ok, responseTime: Timestamp(seconds: date))
        facts.flags = flags
        if etag { facts.flags.insert(.strongETag) }
        var head = ResponseHead()
        head.fields.append(name: "Content-Type", value: "text/plain")
        head.fields.append(name: "X-Test", value: field)
        if etag { head.fields.append(name: "ETag", value: "\"\(tag)\"") }
        return StoredResponse(
            key: key(name), nominatedFields: Array(nominated.utf8), facts: facts, head: head,
            requestTime: Timestamp(seconds: requested ?? date - 1), body: .bytes(body))
    }

    static func bytes(_ count: Int, seed: UInt64) -> [UInt8] { PatternBytes.make(count, seed: seed) }
}
