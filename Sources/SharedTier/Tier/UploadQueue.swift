import EventLoop
import HTTPCaching
import HTTPMessage
import RESPWire
import ResponseStore

/// The responses that are to be stored in the engine. They are sealed in batches, because a batch is signed once. Confined to its loop.
final class UploadQueue: TimerHandler {
    /// A response with its whole body in memory.
    private struct Upload {
        let entry: EntryToSeal
        let lease: SharedLease
        let reserved: Int
    }

    private unowned let worker: TierWorker
    private var batch: [Upload] = []
    private var timer: TimerID?

    /// A batch is sealed at this number of responses, or after this time.
    private static let batchLimit = 256
    private static let batchMilliseconds = 20
    /// How long an entry stays in the engine after it has become stale, if the origin can validate it.
    private static let staleSeconds: Int64 = 86_400
    private static let greatestSeconds: Int64 = 30 * 86_400
    /// The maximum number of variants of one key.
    static let variantLimit = 16

    init(_ worker: TierWorker) {
        self.worker = worker
        timer = worker.loop.makeTimer(self)
    }

    func close() {
        if let timer { worker.loop.removeTimer(timer) }
        timer = nil
        for upload in batch { end(upload, .dropped) }
        batch = []
    }

    /// - Parameter reserved: the bytes that the caller has added to the gauge for this response.
    func add(_ response: StoredResponse, body: [UInt8], under lease: SharedLease, reserved: Int) {
        guard let epoch = worker.farm.mark?.epoch else { return discard(reserved, .failed) }
        let mark = FarmMark(epoch: epoch, generation: lease.generation)
        let whole = response.with(body: .bytes(body), trailers: response.trailers)
        batch.append(
            Upload(entry: EntryToSeal(response: whole, mark: mark, fence: lease.fence), lease: lease, reserved: reserved))
        if batch.count >= Self.batchLimit {
            seal()
        } else if batch.count == 1, let timer {
            worker.loop.setTimer(timer, afterMilliseconds: Self.batchMilliseconds)
        }
    }

    func deadlinePassed(_ timer: TimerID) { seal() }

    private func seal() {
        let uploads = batch
        batch = []
        if uploads.isEmpty { return }
        let now = worker.hooks.now()
        let sealed = worker.coder.seal(uploads.map(\.entry), at: now)
        for (upload, entry) in zip(uploads, sealed) {
            guard let entry, let milliseconds = Self.lifetime(of: upload.entry.response.facts, at: now) else {
                end(upload, .unshared)
                continue
            }
            store(entry, of: upload, milliseconds: milliseconds)
        }
    }

    /// How long the engine keeps an entry, in milliseconds; `nil` if it would be of no use.
    static func lifetime(of facts: ReuseFacts, at now: Timestamp) -> Int64? {
        let fresh = max(0, Int64(facts.freshnessLifetime.seconds) - Int64(facts.currentAge(at: now).seconds))
        let kept = fresh + (facts.canBeValidated ? staleSeconds : 0)
        return kept > 0 ? min(kept, greatestSeconds) * 1000 : nil
    }

    private func store(_ entry: StorableEntry, of upload: Upload, milliseconds: Int64) {
        let key = upload.entry.response.key
        let name = worker.coder.name(ofKey: key)
        // The pieces are stored before the entry that names them.
        for piece in entry.pieces {
            let pieceKey = worker.keys.piece(piece.name, of: name)
            worker.router.send(
                ["SET", RESPWord(pieceKey), RESPWord(piece.bytes), "PX", RESPWord(milliseconds)], for: pieceKey
            ) { [unowned self] in noteFailure($0) }
        }
        let variant = worker.coder.name(ofVariant: upload.entry.response.nominatedFields, key: key)
        let hash = worker.keys.entry(name)
        let command = EngineScripts.command(
            EngineScripts.store, keys: [hash, worker.keys.lease(name)],
            [
                RESPWord(upload.lease.fence), RESPWord(variant), RESPWord(entry.entry), RESPWord(milliseconds),
                RESPWord(upload.lease.token), RESPWord(Self.variantLimit + 2),
            ])
        let count = entry.entry.count + entry.pieces.reduce(0) { $0 + $1.bytes.count }
        worker.router.send(command, for: hash) { [unowned self] result in
            noteFailure(result)
            switch result {
            case .success(let value) where value.number == 1:
                worker.gauge.change { $0.uploadedBytes += UInt64(count) }
                worker.leaseUsed(upload.lease.token)
                end(upload, .stored)
            case .success(let value) where value.number == 0: end(upload, .overtaken)
            case .failure(.refused(let error)) where error.code == .outOfMemory: end(upload, .full)
            case .success, .failure: end(upload, .failed)
            }
        }
    }

    private func noteFailure(_ result: Result<RESPValue, EngineFailure>) {
        guard case .failure(.refused(let error)) = result else { return }
        let reason = EngineFailure.refused(error).description
        worker.warn("the shared tier does not store responses: \(reason)", about: error.code.rawValue)
    }

    private func end(_ upload: Upload, _ outcome: UploadOutcome) { discard(upload.reserved, outcome) }

    func discard(_ reserved: Int, _ outcome: UploadOutcome) {
        worker.gauge.note(outcome)
        worker.gauge.release(reserved)
    }
}
