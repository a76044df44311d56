import HTTPMessage

/// The credentials of one transfer: those sent without a challenge, and those that answer challenges. Each origin or proxy gets one
/// answer. It gets a second answer if it refused the first one only because the nonce was out of date (`stale`, RFC 7616 §3.3).
struct ChallengeFlow {
    private let session: HTTPSession
    private var answered: Set<AuthenticationCache.Place> = []
    private var renewed: Set<AuthenticationCache.Place> = []
    /// The accepted credentials of a request with its own policy. The session's cache must not get them, since other requests use it.
    private var ownAccepted: AuthenticationCache?

    init(_ session: HTTPSession) { self.session = session }

    /// The credential fields to send without a challenge, except those that the caller has set.
    func credentials(for request: PreparedRequest) -> [(name: String, value: String)] {
        let policy = policy(for: request)
        if session.challenges.isEmpty, ownAccepted == nil, !policy.hasPreemptive { return [] }
        var fields: [(name: String, value: String)] = []
        for isProxy in [false, true] {
            guard let place = place(for: request, isProxy: isProxy),
                !request.fields.contains(isProxy ? .proxyAuthorization : .authorization)
            else { continue }
            var value = accepted(for: request, isProxy: isProxy)?.value(
                for: place, method: request.method.name, target: isProxy ? request.uri.description : request.uri.originForm)
            if value == nil, !isProxy { value = policy.preemptiveField(for: request.uri) }
            if let value { fields.append((isProxy ? "Proxy-Authorization" : "Authorization", value)) }
        }
        return fields
    }

    private func policy(for request: PreparedRequest) -> ChallengePolicy {
        request.options?.authentication ?? session.configuration.authentication
    }

    private func accepted(for request: PreparedRequest, isProxy: Bool) -> AuthenticationCache? {
        isProxy || request.options?.authentication == nil ? session.challenges : ownAccepted
    }

    private func place(for request: PreparedRequest, isProxy: Bool) -> AuthenticationCache.Place? {
        let uri = request.uri
        guard isProxy else {
            return AuthenticationCache.Place(host: uri.host, port: uri.port, isSecure: uri.isSecure, isProxy: false)
        }
        // The proxy does not see requests inside a tunnel.
        guard !uri.isSecure, let proxy = session.routes.proxy(for: uri) else { return nil }
        return AuthenticationCache.Place(host: proxy.host, port: proxy.port, isSecure: false, isProxy: true)
    }

    /// Looks for credentials that answer the challenge in this response, and adds them to the authentication cache.
    /// - Parameters:
    ///   - head: the head of the response.
    ///   - request: the request without the fields that `TransferTask.adorned` added.
    /// - Returns: the scheme, if the request must be sent again with credentials.
    nonisolated(nonsending) mutating func answers(_ head: ResponseChannel.Head, to request: PreparedRequest)
        async throws(SessionError) -> String?
    {
        let isProxy = head.status.code == 407
        guard head.status.code == 401 || isProxy, request.body.isReplayable, let place = place(for: request, isProxy: isProxy),
            !request.fields.contains(isProxy ? .proxyAuthorization : .authorization)
        else { return nil }
        let fields = SessionFields(head.fields)
        let challenge = AuthenticationChallenge(
            status: Int(head.status.code), host: place.host, port: place.port, uri: request.uri,
            schemes: AuthenticationChallenge.Scheme.parse(fields.values(of: isProxy ? "Proxy-Authenticate" : "WWW-Authenticate")))
        let isStale = challenge.schemes.contains { $0.name == "digest" && $0.parameters["stale"]?.lowercased() == "true" }
        let policy = policy(for: request)
        if !isProxy, request.options?.authentication != nil, ownAccepted == nil { ownAccepted = AuthenticationCache() }
        let accepted = accepted(for: request, isProxy: isProxy)
        accepted?.forget(place)
        if answered.contains(place), !isStale || !renewed.insert(place).inserted { return nil }
        answered.insert(place)
        guard let credential = try await credential(for: challenge, by: policy) else { return nil }
        guard let access = Self.access(by: credential, to: challenge) else { return nil }
        if case .fixed(let value) = access, !isProxy {
            if !request.uri.isSecure, !policy.allowsPlaintext { throw SessionError(.credentialRequiresTLS, challenge.host) }
            // The origin has just refused it.
            if value == policy.preemptiveField(for: request.uri) { return nil }
        }
        accepted?.note(access, for: place)
        return access.scheme
    }

    nonisolated(nonsending) private func credential(
        for challenge: AuthenticationChallenge, by policy: ChallengePolicy
    ) async throws(SessionError) -> HTTPCredential? {
        let standard =
            challenge.isOfProxy ? session.routes.proxy(for: challenge.uri)?.credential : policy.credential(for: challenge)
        guard let handler = policy.handler else { return standard }
        switch await handler(challenge) {
        case .credential(let credential): return credential
        case .standard: return standard
        case .reject: return nil
        case .cancel: throw SessionError(.challengeRejected)
        case .error(let error): throw error
        }
    }

    /// Answers the strongest offered scheme that supports this credential.
    private static func access(by credential: HTTPCredential, to challenge: AuthenticationChallenge) -> AuthenticationCache
        .Access?
    {
        switch credential {
        case .bearer:
            guard challenge.schemes.contains(where: { $0.name == "bearer" }) else { return nil }
            return credential.fixedField.map { .fixed($0) }
        case .password(let user, let password):
            let digests = challenge.schemes.compactMap { DigestAccess($0, user: user, password: password) }
            if let best = digests.max(by: { $0.strength < $1.strength }) { return .digest(best) }
            guard challenge.schemes.contains(where: { $0.name == "basic" }) else { return nil }
            return credential.fixedField.map { .fixed($0) }
        }
    }
}
