/// When a request is retried.
///
/// Only idempotent requests (RFC 9110 §9.2.2) whose content can be sent again are retried; a request is never retried after
/// a trust failure.
public struct RetryPolicy: Equatable, Sendable {
    /// The maximum number of retries of one request.
    public var limit = 2
    /// The wait before the first retry. It doubles before each further retry.
    public var delay: Duration = .milliseconds(500)
    /// Upper limit of the wait, before jitter.
    public var longestDelay: Duration = .seconds(30)
    /// Up to this fraction of each wait is added at random, so that clients that failed together do not retry together.
    public var jitter = 0.25
    /// If Retry-After asks for a longer wait than this, the request is not retried, and the caller gets the response.
    public var longestRetryAfter: Duration = .seconds(60)
    /// Status codes that are retried.
    public var statuses: Set<Int> = [408, 429, 500, 502, 503, 504]
    /// Errors that are retried.
    public var errors: Set<SessionError.Code> = [
        .dnsError, .connectionRefused, .connectionFailed, .connectionTerminated, .incompleteResponse, .timeout,
    ]

    /// The standard policy.
    public init() {}

    /// Allows two retries of a request.
    public static let standard = RetryPolicy()
    /// Allows no retries.
    public static let never: RetryPolicy = {
        var policy = RetryPolicy()
        policy.limit = 0
        return policy
    }()

    /// Retries a request only if its connection was lost.
    public static let lostConnections: RetryPolicy = {
        var policy = RetryPolicy()
        policy.statuses = []
        policy.errors = [.connectionTerminated, .incompleteResponse]
        return policy
    }()

    /// How long to wait before the next try; `nil` if no further try is allowed.
    /// - Parameters:
    ///   - tries: how many tries were made, including the first.
    ///   - retryAfter: the wait that the origin asks for.
    ///   - chance: a random number from 0 to 1.
    package func wait(tries: Int, retryAfter: Duration?, chance: Double) -> Duration? {
        guard tries <= limit else { return nil }
        var wait = delay
        for _ in 1..<max(1, tries) where wait < longestDelay { wait *= 2 }
        wait = min(wait, longestDelay)
        wait += wait * (jitter * chance)
        guard let retryAfter else { return wait }
        return retryAfter > longestRetryAfter ? nil : max(wait, retryAfter)
    }

    func permits(_ status: Int) -> Bool { limit > 0 && statuses.contains(status) }

    func permits(_ outcome: TryOutcome) -> Bool {
        switch outcome {
        case .response(let response): permits(response.status)
        case .failure(let error): errors.contains(error.code) && error.trust == nil
        }
    }
}
