import EventLoop
import HTTPMessage

/// Decides whether the outcome of a try is final: the interceptors first, then the session's policy.
struct RetryJudgement {
    enum Verdict {
        case stand
        case again(after: Duration)
        case fail(SessionError)
    }

    private let session: HTTPSession
    private var configuration: SessionConfiguration { session.configuration }
    private let request: SessionRequest
    private let interceptors: [any RequestInterceptor]
    private let outcome: TryOutcome
    private let tries: Int

    init(
        _ session: HTTPSession, _ request: SessionRequest, _ interceptors: [any RequestInterceptor], _ outcome: TryOutcome,
        tries: Int
    ) {
        self.interceptors = interceptors
        self.session = session
        self.request = request
        self.outcome = outcome
        self.tries = tries
    }

    /// Whether a response with this status is final because there are no interceptors and the policy does not retry the status.
    static func isSettled(_ status: Status, _ request: SessionRequest, in session: HTTPSession) -> Bool {
        let options = request.optionsBox?.options
        return (options?.interceptors ?? session.configuration.interceptors).isEmpty
            && !(options?.retries ?? session.configuration.retries).permits(Int(status.code))
    }

    nonisolated(nonsending) func verdict() async -> Verdict {
        if case .failure(let error) = outcome, error.code == .cancelled || error.code == .sessionClosed { return .stand }
        let canTryAgain = request.body.isReplayable && tries < configuration.limits.tries
        for interceptor in interceptors {
            switch await interceptor.decide(request, after: outcome, tries: tries) {
            case .pass: continue
            case .retry(let delay): return canTryAgain ? .again(after: delay) : .stand
            case .stop: return .stand
            case .fail(let error): return .fail(wrapped(error))
            }
        }
        return canTryAgain ? byPolicy() : .stand
    }

    private func byPolicy() -> Verdict {
        let policy = request.optionsBox?.options.retries ?? configuration.retries
        guard request.method.isIdempotent, policy.permits(outcome) else { return .stand }
        var retryAfter: Duration?
        if case .response(let response) = outcome { retryAfter = RetryAfter.wait(response.fields, at: .now) }
        let wait = policy.wait(tries: tries, retryAfter: retryAfter, chance: Double.random(in: 0..<1))
        return wait.map { .again(after: $0) } ?? .stand
    }

    /// The interceptor's error, with the earlier failure as its cause.
    private func wrapped(_ error: SessionError) -> SessionError {
        var wrapped = error
        switch outcome {
        case .failure(let inner):
            wrapped.causes += inner.causes
            wrapped.response = wrapped.response ?? inner.response
        case .response(let response): wrapped.response = wrapped.response ?? response
        }
        return wrapped
    }
}
