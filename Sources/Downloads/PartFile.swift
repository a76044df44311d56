import EventLoop
import Foundation
import HTTPMessage
import HTTPSerialization

/// The part of a file that exists so far, under a hidden name in the folder of the final file. Only one process at a time uses the part.
///
/// All tasks that fetch pieces of the file write to the part; a byte counts as present once it is written. Other work that may wait for
/// the disk is done on a queue, in order, so that tasks that read are not delayed.
final class PartFile: Sendable {
    /// The request and the destination of the part.
    enum Purpose: Sendable, Equatable {
        /// The part becomes a file, possibly in a later run.
        case file(key: String)
        /// The part is read by this process, and has no name.
        case reading
        /// Written bytes are discarded.
        case nothing
    }

    private struct State {
        var entity: FetchedEntity?
        var digests: [String] = []
        var done = Extents()
        /// The number of bytes that earlier runs left.
        var keptLength: UInt64 = 0
        var isFromStore = false
        var name = ""
        /// When the last record was written; `nil` if no record was written yet.
        var recorded: ContinuousClock.Instant?
        var recordInterval = PartFile.shortestRecordInterval
    }

    let purpose: Purpose
    let path: String
    let recordPath: String
    private let descriptor: Int32
    private let boot = PartRecord.currentBoot()
    /// Whether a single writer appends to the part.
    private let isSequential: Bool
    /// Flushes the file to disk; returns nonzero on failure.
    private let synchronize: @Sendable (Int32) -> Int32
    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "larder.part")

    /// The intervals at which the record is written, so that another process can resume after a `kill -9`: short at first, then
    /// increasing.
    private static let shortestRecordInterval: Duration = .milliseconds(20)
    private static let longestRecordInterval: Duration = .seconds(1)

    /// Opens the part, with the bytes that an earlier run left. May wait for the disk.
    init(
        in folder: String, for purpose: Purpose, isSequential: Bool,
        synchronize: @escaping @Sendable (Int32) -> Int32 = { fdatasync($0) }
    ) throws(FetchFailure) {
        self.purpose = purpose
        self.isSequential = isSequential
        self.synchronize = synchronize
        let key =
            switch purpose {
            case .file(let key): key
            case .reading, .nothing: "\(UInt64.random(in: 0 ... .max))"
            }
        let digest = ContentDigest(of: Array(key.utf8), by: .sha256)
        let name = Hexadecimal.encode(digest.octets.prefix(8))
        path = "\(folder)/.larder-\(name).part"
        recordPath = "\(folder)/.larder-\(name).json"
        descriptor = try Self.opened(path)
        if case .file = purpose { try takeOver() } else { unlink(path) }
    }

    deinit { close(descriptor) }

    /// Opens a file of this user that no other process has open.
    private static func opened(_ path: String) throws(FetchFailure) -> Int32 {
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw .file(path, "write", errno) }
            var facts = stat()
            var named = stat()
            guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_uid == geteuid() else {
                close(descriptor)
                throw FetchFailure(.file, "file_failed", "\(path) belongs to another user, or is not a file")
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                throw FetchFailure(.file, "in_use", "another larder is fetching the same URL into the same file")
            }
            // The process that used the part before may meanwhile have moved it to its final name.
            if stat(path, &named) == 0, named.st_ino == facts.st_ino, named.st_dev == facts.st_dev { return descriptor }
            close(descriptor)
        }
    }

    /// Discards bytes that are not known to be valid. They could follow the end of a shorter file, or a later record could list them as
    /// present.
    private func takeOver() throws(FetchFailure) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw .file(path, "read", errno) }
        let length = UInt64(facts.st_size)
        let record = PartRecord.read(recordPath, boot: boot)
        guard let record, let done = record.done(of: length) else {
            unlink(recordPath)
            if length > 0, ftruncate(descriptor, 0) != 0 { throw .file(path, "write", errno) }
            return
        }
        if length > done.end, ftruncate(descriptor, off_t(done.end)) != 0 { throw .file(path, "write", errno) }
        state.withLock { state in
            state.entity = FetchedEntity(tag: record.tag, total: record.total)
            state.digests = record.digests ?? []
            state.done = done
            state.keptLength = done.length
            state.isFromStore = record.isFromStore ?? false
            state.name = record.name
        }
        // Several writers may now write beyond the end of the part, so its length no longer shows which bytes are present.
        if record.grows == true, !isSequential { self.record(isOnDisk: false) }
    }

    // MARK: The existing part

    /// The entity of the existing part; `nil` if there is no part, or none that can be resumed.
    var entity: FetchedEntity? { state.withLock { $0.done.isEmpty || $0.entity?.tag == nil ? nil : $0.entity } }
    /// The Repr-Digest lines (RFC 9530 §3) that were received with the part.
    var digests: [String] { state.withLock { $0.digests } }
    var length: UInt64 { state.withLock { $0.done.length } }
    var keptLength: UInt64 { state.withLock { $0.keptLength } }
    var total: UInt64? { state.withLock { $0.entity?.total } }
    /// The name that the last response suggested.
    var suggestedName: String { state.withLock { $0.name } }
    /// Whether any byte came from the store.
    var isFromStore: Bool { state.withLock { $0.isFromStore } }

    /// The ranges to request; the last may have no known end.
    var missing: [Range<UInt64>] {
        state.withLock { state in
            guard let total = state.entity?.total else { return [state.done.end..<UInt64.max] }
            return state.done.missing(of: total)
        }
    }

    var isWhole: Bool { state.withLock { state in state.entity?.total.map { state.done.missing(of: $0).isEmpty } ?? false } }

    // MARK: Changing the part

    /// Discards everything.
    func beginAnew() async throws(FetchFailure) {
        state.withLock { $0 = State() }
        let code = await aside { [self] in
            unlink(recordPath)
            return ftruncate(descriptor, 0) == 0 ? 0 : errno
        }
        if code != 0 { throw .file(path, "write", code) }
    }

    /// - Parameter digests: the Repr-Digest lines, if any were received.
    func note(_ entity: FetchedEntity, name: String, digests: [String]) {
        state.withLock { state in
            state.entity = entity
            state.name = name
            if !digests.isEmpty { state.digests = digests }
        }
    }

    func noteStored() { state.withLock { $0.isFromStore = true } }

    /// The content has ended, and its length was not known before.
    func noteEnd() {
        state.withLock { state in
            if state.entity?.total == nil { state.entity?.total = state.done.end }
        }
    }

    func write(_ octets: [UInt8], at offset: UInt64) throws(FetchFailure) {
        var done = purpose == .nothing ? octets.count : 0
        while done < octets.count {
            let step = octets.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress! + done, $0.count - done, off_t(offset) + off_t(done))  // `octets` is not empty
            }
            if step < 0 {
                if errno == EINTR { continue }
                throw .file(path, "write", errno)
            }
            done += step
        }
        let isTime = state.withLock { state in
            state.done.insert(offset..<offset + UInt64(octets.count))
            guard state.entity?.tag != nil else { return false }
            let now = ContinuousClock.now
            if let recorded = state.recorded, recorded.duration(to: now) < state.recordInterval { return false }
            if state.recorded != nil { state.recordInterval = min(state.recordInterval * 2, Self.longestRecordInterval) }
            state.recorded = now
            return true
        }
        if isTime { queue.async { [self] in record(isOnDisk: false) } }
    }

    /// Asks the kernel to start writing this range, so that little remains to be flushed at the end. Only a hint.
    func beginWritingBack(_ range: Range<UInt64>) {
        guard case .file = purpose else { return }
        // With this advice Linux starts to write dirty pages. It also drops pages from memory that are already on disk, but the pages of
        // this range are new.
        _ = posix_fadvise(descriptor, off_t(range.lowerBound), off_t(range.upperBound - range.lowerBound), POSIX_FADV_DONTNEED)
    }

    /// The bytes from this offset on; empty at the end.
    func read(at offset: UInt64, atMost count: Int) throws(FetchFailure) -> [UInt8] {
        var code: Int32 = 0
        let octets = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let got = pread(descriptor, buffer.baseAddress, count, off_t(offset))
            if got < 0 { code = errno }
            filled = max(0, got)
        }
        if code != 0 { throw .file(path, "read", code) }
        return octets
    }

    private func aside<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: work()) } }
    }

    private func record(isOnDisk: Bool) {
        guard case .file = purpose else { return }
        let record: PartRecord? = state.withLock { state in
            guard let tag = state.entity?.tag, !state.done.isEmpty else { return nil }
            return PartRecord(
                tag: tag, total: state.entity?.total, extents: state.done.ranges.map { [$0.lowerBound, $0.upperBound] },
                boot: boot, isOnDisk: isOnDisk, name: state.name, grows: isSequential && !isOnDisk, digests: state.digests,
                isFromStore: state.isFromStore)
        }
        record?.write(recordPath)
    }

    // MARK: Shutdown

    /// Keeps a part that can be resumed, otherwise removes it.
    /// - Returns: the number of bytes that are kept.
    func leave() async -> UInt64 {
        await aside { [self] in
            guard case .file = purpose, entity != nil else {
                removeNames()
                return 0
            }
            // The record is written before the wait for the disk, because the process may be killed while it waits.
            record(isOnDisk: false)
            guard synchronize(descriptor) == 0 else {
                removeNames()
                return 0
            }
            record(isOnDisk: true)
            return length
        }
    }

    func remove() async { await aside { [self] in removeNames() } }

    private func removeNames() {
        unlink(recordPath)
        unlink(path)
    }

    /// Renames the part to its final name, atomically.
    /// - Parameters:
    ///   - replaces: whether to replace an existing file.
    ///   - mode: the mode of a new file. A file that replaces another gets the mode of the replaced file.
    func move(to target: String, replaces: Bool, mode: mode_t) async throws(FetchFailure) {
        let moved: Result<Void, FetchFailure> = await aside { [self] in
            Result { () throws(FetchFailure) in try moveNow(to: target, replaces: replaces, mode: mode) }
        }
        try moved.get()
    }

    private func moveNow(to target: String, replaces: Bool, mode: mode_t) throws(FetchFailure) {
        // The part is flushed first, so that after a power failure the name either has the complete file or does not exist.
        var replaced = stat()
        let isReplaced = replaces && lstat(target, &replaced) == 0 && replaced.st_mode & S_IFMT == S_IFREG
        let mode = isReplaced ? replaced.st_mode & 0o777 : mode
        guard fchmod(descriptor, mode) == 0, fsync(descriptor) == 0 else { throw .file(target, "write", errno) }
        if replaces {
            if rename(path, target) != 0 { throw .file(target, "write", errno) }
        } else if link(path, target) == 0 {
            unlink(path)
        } else if [EPERM, ENOTSUP, EMLINK].contains(errno) {
            // The file system has no hard links: an empty file reserves the name.
            let holder = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard holder >= 0 else { throw .file(target, "write", errno) }
            close(holder)
            if rename(path, target) != 0 { throw .file(target, "write", errno) }
        } else {
            throw .file(target, "write", errno)
        }
        unlink(recordPath)
    }
}
