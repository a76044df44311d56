import ClientPasswords
import EventLoop
import HTTPMessage
import ProxyCore

/// Verifies names and passwords for all loops. Recently accepted credentials are found by their keyed digest, without verification. Other
/// credentials wait in a bounded queue for dedicated threads, because a verification takes up to a second. If several requests send the
/// same name and password before the result is known, they are verified once.
final class CredentialsJudge: Sendable {
    private struct Work: Sendable {
        let credentials: BasicCredentials
        let digest: CredentialsDigest
        let file: PasswordFile
        let client: IPAddress
    }

    private struct State: Sendable {
        var verified: VerifiedCredentials
        var allowances: AttemptAllowances
        /// The requests that wait for a verification, by their credentials.
        var waiting: [CredentialsDigest: [Reply<CredentialsJudgement>]] = [:]
        /// Verifications that no thread has begun, the oldest last.
        var queue: [Work] = []
    }

    private let limits: CredentialsLimits
    private let state: Guarded<State>
    /// The threads; empty until credentials must be verified.
    private let threads = Guarded<[LoopThread]>([])
    private static let threadCount = 2

    init(limits: CredentialsLimits = CredentialsLimits()) {
        self.limits = limits
        state = Guarded(
            State(verified: VerifiedCredentials(limits: limits), allowances: AttemptAllowances(limits: limits)))
    }

    /// Starts the threads, unless they are running. The threads begin with the verifications that already wait.
    func start() throws(SystemError) {
        if threads.withLock({ !$0.isEmpty }) { return }
        var made: [LoopThread] = []
        for index in 0..<Self.threadCount { made.append(try LoopThread(name: "passwords-\(index)", .beside)) }
        threads.withLock { $0 = made }
        for _ in 0..<state.withLock({ $0.queue.count }) { postWork() }
    }

    /// - Parameters:
    ///   - now: from the monotonic clock.
    ///   - reply: called to create the reply, if the caller must wait.
    /// - Returns: `nil` if the reply will deliver the result.
    func judge(
        _ credentials: BasicCredentials, by file: PasswordFile, from client: IPAddress, at now: MonotonicTime,
        reply: () -> Reply<CredentialsJudgement>
    ) -> CredentialsJudgement? {
        let digest = file.digest(of: credentials)
        let now = now.wholeMilliseconds
        let answer: CredentialsJudgement? = state.withLock { state in
            if state.verified.contains(digest, at: now) { return .accepted }
            if let others = state.waiting[digest] {
                guard others.count < limits.waitingForOne else { return .queueFull }
                state.waiting[digest]?.append(reply())
                return nil
            }
            guard state.waiting.count < limits.waiting else { return .queueFull }
            switch state.allowances.begin(for: client, at: now) {
            case .granted: break
            case .busy: return .queueFull
            case .exhausted: return .tooManyAttempts
            }
            state.waiting[digest] = [reply()]
            state.queue.insert(Work(credentials: credentials, digest: digest, file: file, client: client), at: 0)
            return nil
        }
        if answer == nil { postWork() }
        return answer
    }

    /// The first free thread takes the next verification.
    private func postWork() {
        for thread in threads.withLock({ $0 }) { thread.handle.post { [self] _ in work() } }
    }

    private func work() {
        guard let work = state.withLock({ $0.queue.popLast() }) else { return }
        let isGood = work.file.accepts(work.credentials)
        let now = MonotonicTime.read().wholeMilliseconds
        let replies = state.withLock { state in
            if isGood { state.verified.insert(work.digest, at: now) }
            state.allowances.end(for: work.client, isGood: isGood, at: now)
            return state.waiting.removeValue(forKey: work.digest) ?? []
        }
        for reply in replies { reply.send(isGood ? .accepted : .refused) }
    }

    func stop() {
        for thread in threads.withLock({ $0 }) {
            thread.handle.stop()
            thread.join()
        }
    }
}

extension MonotonicTime {
    fileprivate var wholeMilliseconds: Int64 { Int64(nanoseconds / 1_000_000) }
}
