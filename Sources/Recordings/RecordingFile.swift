import EventLoop
import HTTPMessage
import SecretScanning
import ServerTrust
import Snapshots
import Synchronization

/// A snapshot into which exchanges are recorded, until it is finished. The snapshot is written on its own thread; the methods can be
/// called from any thread.
///
/// Write errors are counted and reported at the end; clients are still served. If more than `window` bytes wait for the disk, no more
/// bytes are read from the origins. So a slow disk slows down clients, but loses no data.
package final class RecordingFile: Sendable {
    /// What to do with exchanges.
    package enum Purpose: Sendable {
        /// Record every exchange.
        case record
        /// Record the exchanges that differ from those in the existing file.
        case refresh
        /// Record nothing, and compare each exchange with these snapshots.
        case compare([String])
    }

    /// What to record, and how.
    package struct Terms: Sendable {
        package var purpose = Purpose.record
        /// The path of the finished file. For a comparison, which writes no file, this is the path of the first snapshot.
        package var path: String
        package var existing = SnapshotWriter.Existing.refuse
        /// Whether to resume an unfinished recording.
        package var resumes = false
        /// The match terms of a new file.
        package var match = MatchTerms()
        /// The key with which placeholders are computed.
        package var key: ProjectKey
        /// Whether `key` is the project key, and not a temporary key. With the project key, secrets are compared too.
        package var isProjectsKey = true
        /// What to do with bodies that cannot be searched; `nil` refuses JSON and forms and keeps others.
        package var unscanned: Redactor.Unscanned?
        /// Whether responses that shared caches must not store are recorded too.
        package var keepsUnshared = true
        /// The name of the program that writes the file, for the file's manifest.
        package var tool: String
        /// The time at which the file's generation begins.
        package var now: Timestamp
        /// Reports the first write error when it occurs. Called on any thread.
        package var report: @Sendable (String) -> Void = { _ in }

        package init(path: String, key: ProjectKey, tool: String, now: Timestamp) {
            self.path = path
            self.key = key
            self.tool = tool
            self.now = now
        }
    }

    package let path: String
    package let keepsUnshared: Bool
    private let thread: LoopThread
    /// The number of bytes that wait to be written.
    private let waiting = Atomic<Int>(0)
    private let nextNumber = Atomic<UInt64>(0)
    private let progress: RecordingProgress
    private let uses = Guarded(Uses())

    private struct Uses {
        var count = 0
        /// Called when no request uses the file any more.
        var isWaitedFor: [@Sendable () -> Void] = []
    }

    /// The interval of the timer that commits, in milliseconds.
    static let commitInterval = 200

    /// Creates the file `FILE.partial`, or resumes an existing one.
    package init(_ terms: Terms) throws(SnapshotError) {
        path = terms.path
        keepsUnshared = terms.keepsUnshared
        progress = RecordingProgress(terms.report)
        let session = try Self.session(terms, progress)
        let handedOver = Guarded<RecordingSession?>(session)
        do throws(SystemError) {
            thread = try LoopThread(name: "recorder") { loop in
                let session = handedOver.withLock { session in
                    let taken = session
                    session = nil
                    return taken
                }
                loop.owner = session
                session?.start(on: loop)
            }
        } catch {
            throw .malformed("cannot start a thread for the recording: \(error)")
        }
    }

    private static func session(_ terms: Terms, _ progress: RecordingProgress) throws(SnapshotError) -> RecordingSession {
        let key = terms.isProjectsKey ? terms.key : nil
        var former: RecordedAnswers?
        switch terms.purpose {
        case .compare(let paths):
            let recorder = try SnapshotRecorder(comparing: RecordedAnswers(paths, key: key), key: terms.key)
            return RecordingSession(recorder, progress, isRefreshing: false)
        case .refresh: former = try RecordedAnswers([terms.path], key: key)
        case .record: break
        }
        let writer =
            terms.resumes
            ? try SnapshotWriter(resuming: terms.path)
            : try SnapshotWriter(
                path: terms.path, existing: terms.existing, terms: terms.match, tool: terms.tool, now: terms.now)
        let recorder = try SnapshotRecorder(writer, key: terms.key, unscanned: terms.unscanned, unlessIn: former)
        return RecordingSession(recorder, progress, isRefreshing: former != nil)
    }

    deinit {
        thread.handle.stop()
        // The recorder's thread may run this code, if it releases the last reference. That thread then ends by itself.
        _ = thread.join(withinMilliseconds: 1000)
    }

    /// The state of the recording so far.
    package var summary: RecordingSummary { progress.summary }

    /// Calls `body` once no request uses the file: immediately if none does.
    /// - Parameter body: called on any thread.
    package func whenUnused(_ body: @escaping @Sendable () -> Void) {
        let isUnused = uses.withLock { uses in
            if uses.count > 0 { uses.isWaitedFor.append(body) }
            return uses.count == 0
        }
        if isUnused { body() }
    }

    /// Finishes `FILE` after all earlier calls. Nothing is recorded afterwards.
    /// - Parameters:
    ///   - key: signs the file; `nil` leaves the file unsigned.
    ///   - completion: called on any thread with the file's roots; `nil` if no file was written.
    package func finish(
        signing key: SigningKey? = nil, _ completion: @escaping @Sendable (Result<SnapshotRoots?, SnapshotError>) -> Void
    ) {
        let isTaken = thread.handle.post { loop in
            guard let session = loop.owner as? RecordingSession else {
                return completion(.failure(.malformed("the recording is already finished")))
            }
            loop.owner = nil
            completion(session.finish(signing: key))
        }
        if !isTaken { completion(.failure(.malformed("the recording is already finished"))) }
    }

    // MARK: Recording exchanges

    func beginUse() { uses.withLock { $0.count += 1 } }

    func endUse() {
        let waiting = uses.withLock { uses -> [@Sendable () -> Void] in
            uses.count -= 1
            guard uses.count == 0 else { return [] }
            let waiting = uses.isWaitedFor
            uses.isWaitedFor = []
            return waiting
        }
        for body in waiting { body() }
    }

    /// Begins to record an exchange.
    /// - Parameter isLogged: whether the exchange's digest will be requested (`ExchangeRecorder.tellDigest`).
    package func begin(_ request: RequestToMatch, isLogged: Bool) -> ExchangeRecorder {
        let number = nextNumber.add(1, ordering: .relaxed).newValue
        run(request.body.octetCount) { (session) throws(SnapshotError) in
            try session.begin(number, request, isLogged: isLogged)
        }
        return ExchangeRecorder(file: self, number: number)
    }

    /// Notes that a tunnel to a host was opened. The exchanges in the tunnel are not recorded.
    package func noteTunnel(to host: String) { progress.note { $0.noteTunnel(to: host) } }

    /// Notes a forwarded request that is not recorded, and why.
    package func noteUnrecorded(_ url: String, _ reason: String) { progress.note { $0.noteUnrecorded(url, reason) } }

    /// Whether more than `window` bytes wait for the disk. Origins should then not be read.
    package func isBehind(_ window: Int) -> Bool { waiting.load(ordering: .relaxed) > window }

    /// Calls `body` when all earlier calls are written.
    /// - Parameter body: called on any thread.
    package func whenCaughtUp(_ body: @escaping @Sendable () -> Void) {
        if !thread.handle.post({ _ in body() }) { body() }
    }

    /// Reports the digest of an exchange's content after the exchange has ended.
    /// - Parameter line: called on any thread; with `nil` if there is no content or nothing was recorded.
    package func tellDigest(of number: UInt64, _ line: @escaping RecordedDigests.Line) {
        let isTaken = thread.handle.post { [self] loop in
            withExtendedLifetime(self) {
                guard let session = loop.owner as? RecordingSession else { return line(nil) }
                session.tellDigest(of: number, line)
            }
        }
        if !isTaken { line(nil) }
    }

    /// - Parameter count: the bytes that `work` holds in memory until it has run.
    func run(_ count: Int, _ work: @escaping @Sendable (RecordingSession) throws(SnapshotError) -> Void) {
        waiting.add(count, ordering: .relaxed)
        let isTaken = thread.handle.post { [self] loop in
            defer { waiting.subtract(count, ordering: .relaxed) }
            guard let session = loop.owner as? RecordingSession else { return }
            do throws(SnapshotError) {
                try work(session)
            } catch {
                progress.noteFailure(error)
            }
            let counts = session.counts
            progress.note { $0.counts = counts }
        }
        if !isTaken { waiting.subtract(count, ordering: .relaxed) }
    }
}

extension RequestToMatch.Body {
    fileprivate var octetCount: Int { if case .octets(let octets) = self { octets.count } else { 0 } }
}
