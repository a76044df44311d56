import ClientPasswords
import EventLoop
import HTTPMessage
import ProxyCore

/// Looks whether names and passwords are good, for all loops. What was found good lately costs a look-up under a keyed digest; the rest
/// waits, in a queue of bounded length, for threads that do nothing else: a look takes up to a second. The same name and password is
/// looked at once, however many requests bring it meanwhile.
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
        /// Who waits, by what for.
        var waiting: [CredentialsDigest: [Reply<CredentialsJudgement>]] = [:]
        /// What no thread has begun with, the oldest last.
        var queue: [Work] = []
    }

    private let limits: CredentialsLimits
    private let state: Guarded<State>
    /// None until somebody has to be asked.
    private let threads = Guarded<[LoopThread]>([])
    private static let threadCount = 2

    init(limits: CredentialsLimits = CredentialsLimits()) {
        self.limits = limits
        state = Guarded(
            State(verified: VerifiedCredentials(limits: limits), allowances: AttemptAllowances(limits: limits)))
    }

    /// Makes the threads, where there are none.
    func start() throws(SystemError) {
        if threads.withLock({ !$0.isEmpty }) { return }
        var made: [LoopThread] = []
        for index in 0..<Self.threadCount { made.append(try LoopThread(name: "passwords-\(index)", .beside)) }
        threads.withLock { $0 = made }
    }

    /// - Parameters:
    ///   - now: of the clock that does not go back.
    ///   - reply: makes the way back, where there is something to wait for.
    /// - Returns: `nil` where the reply will tell.
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
        // Whichever is free comes first.
        if answer == nil { for thread in threads.withLock({ $0 }) { thread.handle.post { [self] _ in work() } } }
        return answer
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
