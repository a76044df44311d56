/// When a request is sent again.
///
/// Only idempotent ones (RFC 9110 §9.2.2) whose content can be sent again are; failures of trust never lead to another try.
public struct RetryPolicy: Sendable {
    /// Tries after the first.
    public var limit = 2
    /// What is waited before the first of them; twice as long before each further one.
    public var delay: Duration = .milliseconds(500)
    /// No wait of our own is longer.
    public var longestDelay: Duration = .seconds(30)
    /// Up to so much of each wait is added at random, so that those who failed together do not come back together.
    public var jitter = 0.25
    /// An origin that asks for a longer wait by Retry-After gets no other try: its response is the answer.
    public var longestRetryAfter: Duration = .seconds(60)
    /// Responses that lead to another try.
    public var statuses: Set<Int> = [408, 429, 500, 502, 503, 504]
    /// Failures that do.
    public var errors: Set<SessionError.Code> = [
        .dnsError, .connectionRefused, .connectionFailed, .connectionTerminated, .incompleteResponse, .timeout,
    ]

    /// The standard policy.
    public init() {}

    /// Two more tries.
    public static let standard = RetryPolicy()
    /// One try.
    public static let never: RetryPolicy = {
        var policy = RetryPolicy()
        policy.limit = 0
        return policy
    }()

    /// Connections that broke, and nothing else.
    public static let lostConnections: RetryPolicy = {
        var policy = RetryPolicy()
        policy.statuses = []
        policy.errors = [.connectionTerminated, .incompleteResponse]
        return policy
    }()

    /// How long to wait before the next try; `nil` for none.
    /// - Parameters:
    ///   - tries: that were made, the first one counted.
    ///   - retryAfter: what the origin asks for.
    ///   - chance: from 0 to 1.
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
