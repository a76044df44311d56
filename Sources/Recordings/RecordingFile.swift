import EventLoop
import HTTPMessage
import SecretScanning
import ServerTrust
import Snapshots
import Synchronization

/// The snapshot into which exchanges are recorded, from its beginning to its end. It is written on a thread of its own; callable from any.
///
/// What it cannot write it counts and says at the end; who is served goes on. It stays behind the origins by a window at most: past that they
/// are not read, so that a slow disk slows the clients and loses nothing.
package final class RecordingFile: Sendable {
    /// What becomes of exchanges.
    package enum Purpose: Sendable {
        /// Each is kept.
        case record
        /// Each is kept that is not as it is in the file, which is there.
        case refresh
        /// None is kept: each is compared with what these snapshots have.
        case compare([String])
    }

    /// What is recorded, and how.
    package struct Terms: Sendable {
        package var purpose = Purpose.record
        /// The file that is there in the end; the first of those that are compared with, where none is.
        package var path: String
        package var existing = SnapshotWriter.Existing.refuse
        /// A recording that was not finished is gone on with.
        package var resumes = false
        /// Of a new file.
        package var match = MatchTerms()
        /// Under which secrets become placeholders.
        package var key: ProjectKey
        /// It is the project's, and not made up: a secret is compared too.
        package var isProjectsKey = true
        /// What becomes of bodies that cannot be searched; `nil` refuses JSON and forms and keeps others.
        package var unscanned: Redactor.Unscanned?
        /// Responses that no shared cache may keep are recorded too.
        package var keepsUnshared = true
        /// Who writes it, for the manifest.
        package var tool: String
        /// When its generation begins.
        package var now: Timestamp
        /// Hears of the first thing that cannot be written, when that happens. Called on some thread.
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
    /// Bytes that wait to be written.
    private let waiting = Atomic<Int>(0)
    private let nextNumber = Atomic<UInt64>(0)
    private let progress: RecordingProgress
    private let uses = Guarded(Uses())

    private struct Uses {
        var count = 0
        /// Called when there is none any more.
        var isWaitedFor: [@Sendable () -> Void] = []
    }

    /// How often the writer is asked to commit, in milliseconds.
    static let commitInterval = 200

    /// Begins `FILE.partial`, or goes on with one.
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
        // Its own thread may be the last to let go of it, and then ends by itself.
        _ = thread.join(withinMilliseconds: 1000)
    }

    /// What has become of what was to be recorded, so far.
    package var summary: RecordingSummary { progress.summary }

    /// Tells when nobody can begin to record into it any more, and all who have begun have ended: at once where that is so already.
    /// - Parameter body: called on some thread.
    package func whenUnused(_ body: @escaping @Sendable () -> Void) {
        let isUnused = uses.withLock { uses in
            if uses.count > 0 { uses.isWaitedFor.append(body) }
            return uses.count == 0
        }
        if isUnused { body() }
    }

    /// Finishes `FILE`, after all that was said to it before. It takes nothing more.
    /// - Parameters:
    ///   - key: signs it; `nil` leaves it unsigned.
    ///   - completion: called on some thread with what the file came to; `nil` where none was written.
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

    // MARK: For exchanges

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
    /// - Parameter isLogged: what it comes to will be asked for (`ExchangeRecorder.tellDigest`).
    package func begin(_ request: RequestToMatch, isLogged: Bool) -> ExchangeRecorder {
        let number = nextNumber.add(1, ordering: .relaxed).newValue
        run(request.body.octetCount) { (session) throws(SnapshotError) in
            try session.begin(number, request, isLogged: isLogged)
        }
        return ExchangeRecorder(file: self, number: number)
    }

    /// A tunnel was opened to a host: what is said in it is not recorded.
    package func noteTunnel(to host: String) { progress.note { $0.noteTunnel(to: host) } }

    /// A request went out and is not recorded, for what is said.
    package func noteUnrecorded(_ url: String, _ reason: String) { progress.note { $0.noteUnrecorded(url, reason) } }

    /// Whether so much waits for the disk that origins are not to be read.
    package func isBehind(_ window: Int) -> Bool { waiting.load(ordering: .relaxed) > window }

    /// Tells when all that has been said so far is written.
    /// - Parameter body: called on some thread.
    package func whenCaughtUp(_ body: @escaping @Sendable () -> Void) {
        if !thread.handle.post({ _ in body() }) { body() }
    }

    /// Tells what the content of an exchange came to, when it has ended.
    /// - Parameter line: called on some thread; with `nil` where there is no content, or nothing was recorded.
    package func tellDigest(of number: UInt64, _ line: @escaping RecordedDigests.Line) {
        let isTaken = thread.handle.post { [self] loop in
            withExtendedLifetime(self) {
                guard let session = loop.owner as? RecordingSession else { return line(nil) }
                session.tellDigest(of: number, line)
            }
        }
        if !isTaken { line(nil) }
    }

    /// - Parameter count: bytes that this holds in memory until it has run.
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
