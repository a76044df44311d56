import EventLoop
import HTTPMessage

/// Runs a caller's request until there is a response or an error. It makes several tries if needed, and follows redirects within each
/// try.
final class TransferTask: Sendable {
    /// A response, with its body collected, or with a channel that delivers it.
    ///
    /// A class, because it is passed on often and is larger than a reference.
    final class OpenResponse: Sendable {
        let head: ResponseChannel.Head
        let uri: TargetURI
        let link: ResponseChannel
        /// The end of the response; `nil` while the body is being received.
        let end: ResponseChannel.End?
        let octets: [UInt8]
        /// Decodes the body's content codings.
        let decoding: ContentDecoding?
        /// What the cache did; `nil` if the session has no cache.
        let cache: CacheUse?
        /// What the cache does once the caller has accepted or refused the response; `nil` if it waits for nothing.
        private let settlement: CacheSettlement?

        init(
            _ head: ResponseChannel.Head, to request: PreparedRequest, _ link: ResponseChannel, end: ResponseChannel.End? = nil,
            octets: [UInt8] = [], limits: SessionLimits
        ) {
            self.head = head
            uri = request.uri
            self.link = link
            self.end = end
            self.octets = octets
            decoding = ContentDecoding(head, to: request, limits)
            cache = nil
            settlement = nil
        }

        private init(_ former: OpenResponse, _ cache: CacheUse, _ settlement: CacheSettlement?) {
            head = former.head
            uri = former.uri
            link = former.link
            end = former.end
            octets = former.octets
            decoding = former.decoding
            self.cache = cache
            self.settlement = settlement
        }

        func with(_ cache: CacheUse, _ settlement: CacheSettlement? = nil) -> OpenResponse {
            OpenResponse(self, cache, settlement)
        }

        /// The caller accepts or refuses the response.
        /// - Returns: whether the response is stored because of this call.
        @discardableResult
        nonisolated(nonsending) func settle(isAccepted: Bool) async -> Bool {
            guard let settlement else { return false }
            return await settlement.settle(self, isAccepted: isAccepted)
        }

        var response: SessionError.Response {
            SessionError.Response(status: Int(head.status.code), fields: SessionFields(head.fields), uri: uri)
        }

        /// Discards the response. The rest of a short body is read, so that its connection can be reused.
        func discard() {
            if end != nil { return }
            switch head.framing {
            case .none, .length(0...Self.readableLength):
                if link.isRecorded {
                    Task { _ = await link.drain() }
                } else {
                    link.take(.nothing(limit: Int(Self.readableLength)))
                }
            default: link.cancel()
            }
        }

        /// The fields that the caller gets.
        var fields: SessionFields { SessionFields(decoding == nil ? head.fields : ContentDecoding.withoutCoding(head.fields)) }

        private static let readableLength: UInt64 = 16 * 1024
    }

    let scope: TransferScope
    let request: SessionRequest
    let consumption: ResponseChannel.BodyConsumption
    /// If set, the cache stores the response only after the caller has accepted it (`OpenResponse.settle`).
    let check: ResponseCheck?
    /// The request as the session sends it, if no interceptor changes it.
    private let prepared: PreparedRequest?
    /// The handshake, if the request is for a WebSocket.
    let opening: WebSocketOpening?
    var session: HTTPSession { scope.session }
    var transfer: Transfer { scope.transfer }
    var ledger: MetricsLedger { scope.ledger }

    init(
        _ scope: TransferScope, _ request: SessionRequest, consumption: ResponseChannel.BodyConsumption,
        prepared: PreparedRequest? = nil, check: ResponseCheck? = nil, opening: WebSocketOpening? = nil
    ) {
        self.opening = opening
        self.scope = scope
        self.prepared = prepared
        self.request = request
        self.consumption = consumption
        self.check = check
    }

    private var interceptors: [any RequestInterceptor] {
        request.optionsBox?.options.interceptors ?? session.configuration.interceptors
    }

    // MARK: Tries

    /// Runs until the whole response has arrived, or its head if the body is consumed in pieces.
    nonisolated(nonsending) func result() async -> Result<OpenResponse, SessionError> {
        var count = 1
        while true {
            let (tried, result) = await oneTry()
            if case .success(let arrived) = result, RetryJudgement.isSettled(arrived.head.status, request, in: session) {
                return result
            }
            let outcome: TryOutcome
            switch result {
            case .success(let arrived): outcome = .response(arrived.response)
            case .failure(let error): outcome = .failure(error)
            }
            switch await RetryJudgement(session, tried ?? request, interceptors, outcome, tries: count).verdict() {
            case .stand:
                return result
            case .fail(let error):
                if case .success(let arrived) = result { arrived.discard() }
                return .failure(error)
            case .again(let delay):
                if case .success(let arrived) = result { arrived.discard() }
                ledger.noteRetry(tries: count, after: delay, outcome)
                if let error = await wait(delay) { return .failure(error) }
                count += 1
            }
        }
    }

    nonisolated(nonsending) private func wait(_ delay: Duration) async -> SessionError? {
        transfer.enter(.waiting)
        if transfer.isCancelled { return SessionError(.cancelled) }
        if delay <= .zero { return nil }
        if await session.wait(delay, for: transfer) { return nil }
        return SessionError(transfer.isCancelled ? .cancelled : .sessionClosed)
    }

    /// - Returns: the request after the interceptors changed it, and the result of the try. The request is `nil` if there are no
    ///   interceptors.
    nonisolated(nonsending) private func oneTry() async -> (SessionRequest?, Result<OpenResponse, SessionError>) {
        if let prepared, interceptors.isEmpty { return (nil, await tried(prepared)) }
        var adapted = request
        do throws(SessionError) {
            for interceptor in interceptors {
                adapted = try await SessionError.fromCaller(.interceptorFailed) { [adapted] in
                    try await interceptor.adapt(adapted)
                }
            }
            if transfer.isCancelled { throw SessionError(.cancelled) }
            return (adapted, await tried(try PreparedRequest(adapted, of: session)))
        } catch { return (adapted, .failure(error)) }
    }

    nonisolated(nonsending) private func tried(_ prepared: PreparedRequest) async -> Result<OpenResponse, SessionError> {
        do throws(SessionError) { return .success(try await hops(prepared)) } catch { return .failure(error) }
    }

    // MARK: Redirects

    nonisolated(nonsending) private func hops(_ first: PreparedRequest) async throws(SessionError) -> OpenResponse {
        var request = first
        var hop = 0
        var challenges = ChallengeFlow(session)
        while true {
            let arrived = try await call(adorned(request, by: challenges))
            cookies(of: request)?.store(SessionFields(arrived.head.fields), from: request.uri)
            let next: PreparedRequest?
            do throws(SessionError) {
                if let scheme = try await challenges.answers(arrived.head, to: request) {
                    await arrived.settle(isAccepted: true)
                    arrived.discard()
                    ledger.tell(.challengeAnswered(status: Int(arrived.head.status.code), scheme: scheme))
                    continue
                }
                next = try await followUp(arrived, to: request, hop: hop)
            } catch {
                arrived.discard()
                throw error.about(arrived.response)
            }
            guard let next else { return arrived }
            // Only the last response reaches the caller's check.
            await arrived.settle(isAccepted: true)
            arrived.discard()
            ledger.noteRedirect(status: Int(arrived.head.status.code), from: request.uri, to: next.uri)
            request = next
            hop += 1
        }
    }

    /// The request with credentials and cookies.
    private func adorned(_ request: PreparedRequest, by challenges: ChallengeFlow) -> PreparedRequest {
        let credentials = challenges.credentials(for: request)
        var cookie: String?
        if let jar = cookies(of: request), !request.fields.contains(.cookie) { cookie = jar.value(for: request.uri) }
        if credentials.isEmpty, cookie == nil { return request }
        var fields = request.fields
        for (name, value) in credentials { fields[name] = value }
        if let cookie { fields["Cookie"] = cookie }
        return request.with(fields: fields)
    }

    private func cookies(of request: PreparedRequest) -> CookieJar? {
        request.options?.usesCookies == false ? nil : session.configuration.cookies
    }

    nonisolated(nonsending) private func call(_ request: PreparedRequest) async throws(SessionError) -> OpenResponse {
        if opening == nil, let cached = CachedCall(self, request) { return try await cached.arrival() }
        let arrived = try await NetworkAttempt(self, request.reloading).arrival()
        return session.configuration.cache == nil ? arrived : arrived.with(CacheUse(bypassedBy: request))
    }

    /// The next request; `nil` if the caller gets this response.
    nonisolated(nonsending) private func followUp(_ arrived: OpenResponse, to request: PreparedRequest, hop: Int)
        async throws(SessionError)
        -> PreparedRequest?
    {
        guard let next = try request.redirected(by: arrived.head) else { return nil }
        let policy = request.options?.redirects ?? session.configuration.redirects
        let redirect = Redirect(
            status: Int(arrived.head.status.code), fields: SessionFields(arrived.head.fields), from: request.uri, to: next.uri,
            hop: hop,
            request: next.described)
        if hop >= policy.limit { throw SessionError(.tooManyRedirects, "the server sent more than \(policy.limit) redirects") }
        let decision = await policy.decide(redirect)
        if transfer.isCancelled { throw SessionError(.cancelled) }
        switch decision {
        case .deliver: return nil
        case .refuse(let reason): throw SessionError(.redirectRefused, reason)
        case .follow:
            guard next.body.isReplayable else {
                throw SessionError(.redirectRefused, "the content of the request cannot be sent again")
            }
            return next
        case .rewrite(let rewritten): return try PreparedRequest(rewritten, of: session)
        }
    }
}

extension SessionError {
    /// Runs a function of the caller. An error that it throws becomes a `SessionError` with this code; cancellation and a
    /// `SessionError` keep their own codes.
    static func fromCaller<Value>(_ code: Code, _ body: () async throws -> Value) async throws(SessionError) -> Value {
        do { return try await body() } catch { throw SessionError(code, thrownByCaller: error) }
    }

    init(_ code: Code, thrownByCaller error: any Error) {
        if let error = error as? SessionError {
            self = error
        } else if error is CancellationError {
            self.init(.cancelled)
        } else {
            self.init(code, "\(type(of: error))")
            underlying = error
        }
    }
}
