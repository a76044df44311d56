/// Code of the caller's around each try of a request.
public protocol RequestInterceptor: Sendable {
    /// Changes a request before it is tried. Asked anew for each try, about the caller's request; not for redirects.
    /// - Throws: anything: the transfer fails with `interceptor_failed`, or with this error where it is a `SessionError`.
    func adapt(_ request: HTTPRequest) async throws -> HTTPRequest

    /// Says whether to try again.
    /// - Parameters:
    ///   - request: as it was tried.
    ///   - outcome: what came of the last try.
    ///   - tries: that were made, the first one counted.
    func decide(_ request: HTTPRequest, after outcome: TryOutcome, tries: Int) async -> RetryDecision
}

extension RequestInterceptor {
    public func adapt(_ request: HTTPRequest) async throws -> HTTPRequest { request }
    public func decide(_ request: HTTPRequest, after outcome: TryOutcome, tries: Int) async -> RetryDecision { .pass }
}

/// What a try has brought.
public enum TryOutcome: Sendable {
    /// A response came, whatever its status.
    case response(SessionError.Response)
    /// None came, or not to its end.
    case failure(SessionError)
}

/// What an interceptor says to it.
public enum RetryDecision: Sendable {
    /// The next interceptor is asked, and behind the last one the session's `RetryPolicy`.
    case pass
    /// Again, after so long. What cannot be sent again is not; and `SessionLimits.tries` holds.
    case retry(after: Duration)
    /// The outcome stands.
    case stop
    /// The transfer fails with this, around what failed before.
    case fail(SessionError)
}
