import EventLoop

/// Retries requests that failed because the network was down, as soon as it is up again.
public struct OfflineRetrier: RequestInterceptor {
    private let limit: Duration
    private let tries: Int
    private let online: @Sendable () async -> Void

    /// - Parameters:
    ///   - limit: how long to wait for a network; if there is none by then, the failure is final.
    ///   - tries: how many tries in total.
    ///   - online: returns when there is a network, for example when a network monitor first reports that the machine is
    ///     online. Cancelled after `limit`.
    public init(waitingAtMost limit: Duration = .seconds(5), tries: Int = 3, until online: @escaping @Sendable () async -> Void) {
        self.limit = limit
        self.tries = tries
        self.online = online
    }

    private static let errors: Set<SessionError.Code> = [.dnsError, .connectionFailed, .offline]

    /// Waits for a network after failures that a missing network can cause.
    public func decide(_ request: SessionRequest, after outcome: TryOutcome, tries: Int) async -> RetryDecision {
        guard case .failure(let error) = outcome, Self.errors.contains(error.code), tries < self.tries,
            request.method.isIdempotent
        else { return .pass }
        let isOnline = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await online()
                return !Task.isCancelled
            }
            group.addTask {
                // If the sleep is cancelled, the result is `false` as well.
                try? await Task.sleep(for: limit)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        return isOnline ? .retry(after: .zero) : .pass
    }
}
