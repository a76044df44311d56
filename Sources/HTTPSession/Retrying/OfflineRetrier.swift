import EventLoop

/// Tries again what failed for want of a network, as soon as there is one.
public struct OfflineRetrier: RequestInterceptor {
    private let limit: Duration
    private let tries: Int
    private let online: @Sendable () async -> Void

    /// - Parameters:
    ///   - limit: how long is waited for a network; then the failure stands.
    ///   - tries: altogether.
    ///   - online: returns when there is a network; a network monitor's first good status, say. Cancelled when the time is over.
    public init(waitingAtMost limit: Duration = .seconds(5), tries: Int = 3, until online: @escaping @Sendable () async -> Void) {
        self.limit = limit
        self.tries = tries
        self.online = online
    }

    private static let errors: Set<SessionError.Code> = [.dnsError, .connectionFailed, .offline]

    /// Waits for a network behind failures that the want of one explains.
    public func decide(_ request: HTTPRequest, after outcome: TryOutcome, tries: Int) async -> RetryDecision {
        guard case .failure(let error) = outcome, Self.errors.contains(error.code), tries < self.tries,
            request.method.isIdempotent
        else { return .pass }
        let isOnline = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await online()
                return !Task.isCancelled
            }
            group.addTask {
                // Ended early, it says so as well.
                try? await Task.sleep(for: limit)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        return isOnline ? .retry(after: .zero) : .pass
    }
}
