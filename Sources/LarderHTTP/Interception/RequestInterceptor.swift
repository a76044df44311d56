/// Caller code that runs around each try of a request.
public protocol RequestInterceptor: Sendable {
    /// Changes a request before it is tried. Called for each try with the caller's request; not for redirects.
    /// - Throws: any error: the transfer fails with `interceptor_failed`, or with the error itself if it is a `SessionError`.
    func adapt(_ request: SessionRequest) async throws -> SessionRequest

    /// Decides whether to retry.
    /// - Parameters:
    ///   - request: the request as it was tried.
    ///   - outcome: the outcome of the last try.
    ///   - tries: how many tries were made, including the first.
    func decide(_ request: SessionRequest, after outcome: TryOutcome, tries: Int) async -> RetryDecision
}

extension RequestInterceptor {
    public func adapt(_ request: SessionRequest) async throws -> SessionRequest { request }
    public func decide(_ request: SessionRequest, after outcome: TryOutcome, tries: Int) async -> RetryDecision { .pass }
}

/// The outcome of a try.
public enum TryOutcome: Sendable {
    /// A response arrived, with any status.
    case response(SessionError.Response)
    /// No response arrived, or only a part of one.
    case failure(SessionError)
}

/// An interceptor's decision about a retry.
public enum RetryDecision: Sendable {
    /// Let the next interceptor decide. After the last one, the session's `RetryPolicy` decides.
    case pass
    /// Retry after this time. A request that cannot be sent again is not retried, and `SessionLimits.tries` applies.
    case retry(after: Duration)
    /// The outcome is final.
    case stop
    /// The transfer fails with this error, with the earlier failure as its cause.
    case fail(SessionError)
}
