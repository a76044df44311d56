import EventLoop

/// Adds a credential to requests, and refreshes it when an origin refuses it. All requests that wait for a credential share one
/// refresh.
public final class CredentialInterceptor<Credential: Sendable>: RequestInterceptor {
    /// More than `limit` refreshes within `time` are refused, so that an origin that refuses every credential cannot cause
    /// endless refreshes.
    public struct Window: Sendable {
        /// The maximum number of refreshes in the window.
        public var limit: Int
        /// The length of the window.
        public var time: Duration

        /// Allows `limit` refreshes within `time`.
        public init(limit: Int = 5, time: Duration = .seconds(30)) {
            self.limit = limit
            self.time = time
        }
    }

    private struct State {
        var credential: Credential?
        var isRefreshing = false
        var waiting: [Wakeup<Result<Credential, SessionError>>] = []
        var refreshes: [ContinuousClock.Instant] = []
    }

    private let state: Guarded<State>
    private let apply: @Sendable (Credential, inout SessionRequest) -> Void
    private let isStale: @Sendable (Credential) -> Bool
    private let refresh: @Sendable (Credential?) async throws -> Credential
    private let window: Window

    /// - Parameters:
    ///   - credential: the current credential; if it is `nil`, `refresh` is called before the first request.
    ///   - window: how many refreshes are allowed in which time.
    ///   - isStale: returns whether the credential has expired. Called before each try.
    ///   - refresh: receives the previous credential and returns a new one. Never called concurrently.
    ///   - apply: adds the credential to a request.
    public init(
        _ credential: Credential?, window: Window = Window(), isStale: @escaping @Sendable (Credential) -> Bool = { _ in false },
        refresh: @escaping @Sendable (Credential?) async throws -> Credential,
        apply: @escaping @Sendable (Credential, inout SessionRequest) -> Void
    ) {
        state = Guarded(State(credential: credential))
        self.window = window
        self.isStale = isStale
        self.refresh = refresh
        self.apply = apply
    }

    /// Adds the credential, after refreshing a missing or stale one.
    public func adapt(_ request: SessionRequest) async throws -> SessionRequest {
        let credential: Credential
        if let known = state.withLock({ $0.credential }), !isStale(known) {
            credential = known
        } else {
            credential = try await refreshed(from: request, wasRefused: false)
        }
        var adapted = request
        apply(credential, &adapted)
        return adapted
    }

    /// Retries only after a 401, and with a credential newer than the refused one.
    public func decide(_ request: SessionRequest, after outcome: TryOutcome, tries: Int) async -> RetryDecision {
        guard case .response(let response) = outcome, response.status == 401 else { return .pass }
        do {
            _ = try await refreshed(from: request, wasRefused: true)
            return .retry(after: .zero)
        } catch { return .fail(error) }
    }

    private enum Step {
        case has(Credential)
        case refresh(Credential?)
        case wait
        case refuse
    }

    /// Returns a valid credential for a request whose credential is missing, stale or refused.
    private func refreshed(from request: SessionRequest, wasRefused: Bool) async throws(SessionError) -> Credential {
        let wakeup = Wakeup<Result<Credential, SessionError>>()
        let now = ContinuousClock.now
        let step: Step = state.withLock { state in
            if let credential = state.credential, wasRefused ? !has(request, credential) : !isStale(credential),
                !state.isRefreshing
            {
                return .has(credential)
            }
            if state.isRefreshing {
                state.waiting.append(wakeup)
                return .wait
            }
            state.refreshes.removeAll { now - $0 > window.time }
            if state.refreshes.count >= window.limit { return .refuse }
            state.refreshes.append(now)
            state.isRefreshing = true
            state.waiting.append(wakeup)
            return .refresh(state.credential)
        }
        switch step {
        case .has(let credential): return credential
        case .refuse: throw SessionError(.interceptorFailed, "the credential was refreshed too often")
        case .refresh(let former): Task { await self.runRefresh(former) }
        case .wait: break
        }
        // A caller that is cancelled does not end the refresh for the other callers.
        return try await withTaskCancellationHandler {
            await wakeup.value()
        } onCancel: {
            wakeup.send(.failure(SessionError(.cancelled)))
        }.get()
    }

    private func runRefresh(_ former: Credential?) async {
        let result: Result<Credential, SessionError>
        do { result = .success(try await refresh(former)) } catch {
            var failure = SessionError(.interceptorFailed, "the credential could not be refreshed")
            if let inner = error as? SessionError { failure.causes += inner.causes } else { failure.underlying = error }
            result = .failure(failure)
        }
        let waiting = state.withLock { state in
            if case .success(let credential) = result { state.credential = credential }
            state.isRefreshing = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for wakeup in waiting { wakeup.send(result) }
    }

    /// Whether the request carries this credential.
    private func has(_ request: SessionRequest, _ credential: Credential) -> Bool {
        var probe = request
        apply(credential, &probe)
        return probe.fields == request.fields && probe.target == request.target
    }
}

extension CredentialInterceptor where Credential == String {
    /// An interceptor for bearer tokens (RFC 6750 §2.1).
    public static func bearer(
        _ token: String?, window: Window = Window(), refresh: @escaping @Sendable (String?) async throws -> String
    ) -> CredentialInterceptor<String> {
        CredentialInterceptor(token, window: window, refresh: refresh) { token, request in
            request.fields["Authorization"] = "Bearer " + token
        }
    }
}
