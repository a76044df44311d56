import HTTPMessage

/// The decisions about one cacheable request, in order (RFC 9111 §4): look up, reuse, validate or fetch, use a stale response if the
/// origin server fails, freshen, store, invalidate. Pure: the driver looks up, sends, serves and stores.
///
/// States and moves; each move gives the driver the next step:
///
///     created ─begin→ lookingUp, sent, over
///     lookingUp ─found→ serving, sent, over
///     serving ─lostBody→ sent, over
///     sent ─received→ serving, sent (without preconditions), over
///     sent ─failed→ serving, over
///
/// After `received` the driver carries out `takeChanges()` before the step.
package struct CachingSequence: Sendable {
    private enum State: Sendable {
        case created
        case lookingUp
        /// What to do if the body of the stored response cannot be read: fetch the response, report the failure, or deliver the origin
        /// server's error response that the stale response replaced.
        case serving(otherwise: Alternative)
        case sent
        case over
    }

    private enum Alternative: Sendable {
        case fetch
        case failure
        case response(OriginResponse)
    }

    private let request: RequestHead
    private let directives: RequestDirectives
    private let overrides: CacheOverrides
    private let secondary: SecondaryKey
    private let targets: TargetedCacheControl
    /// Whether this is a validation in the background, for which no client waits. Then nothing is served, and an error of the origin
    /// server changes nothing (RFC 5861 §3, RFC 9111 §4.3.3).
    private let isBackground: Bool

    private var state = State.created
    /// The responses that the lookup found, newest first.
    private var candidates: [StoredResponse] = []
    /// The stored response that is being validated, or that may be served if the origin server fails.
    private var selected: StoredResponse?
    /// Whether the request was sent with the preconditions of `selected`.
    private var isValidating = false
    private var changes: [StoreChange] = []

    /// The decision about reuse of a stored response; `nil` before it is made.
    package private(set) var decision: ReuseDecision?

    package init(
        request: RequestHead, directives: RequestDirectives, overrides: CacheOverrides, secondary: SecondaryKey = .none,
        targets: TargetedCacheControl = .none
    ) {
        self.init(request, directives, overrides, secondary, targets, validating: nil)
    }

    /// Creates the sequence that validates, in the background, a stored response that was served stale.
    package init(
        validating stored: StoredResponse, request: RequestHead, directives: RequestDirectives, overrides: CacheOverrides,
        secondary: SecondaryKey = .none, targets: TargetedCacheControl = .none
    ) {
        self.init(request, directives, overrides, secondary, targets, validating: stored)
    }

    private init(
        _ request: RequestHead, _ directives: RequestDirectives, _ overrides: CacheOverrides, _ secondary: SecondaryKey,
        _ targets: TargetedCacheControl, validating stored: StoredResponse?
    ) {
        self.request = request
        self.directives = directives
        self.overrides = overrides
        self.secondary = secondary
        self.targets = targets
        isBackground = stored != nil
        selected = stored
        candidates = stored.map { [$0] } ?? []
    }

    // MARK: Moves

    package mutating func begin() -> CachingStep {
        guard case .created = state else { preconditionFailure("a sequence begins once") }
        if isBackground { return send(validating: selected) }
        if let decision = Reuse.decideBeforeLookUp(for: directives, overrides: overrides) {
            return act(on: decision, nil)
        }
        state = .lookingUp
        return .lookUp
    }

    /// - Parameter stored: the responses stored under the request's key, newest first.
    package mutating func found(_ stored: [StoredResponse], at now: Timestamp) -> CachingStep {
        guard case .lookingUp = state else { preconditionFailure("nothing was looked up") }
        candidates = stored
        guard let place = Vary.select(among: stored, for: request, secondary) else {
            let reason: ForwardReason = stored.isEmpty ? .uriMiss : .varyMiss
            return act(on: Reuse.decideMiss(reason, for: directives, overrides: overrides), nil)
        }
        let candidate = stored[place]
        return act(on: Reuse.decide(candidate.facts, for: directives, overrides: overrides, at: now), candidate)
    }

    /// Reports that the body of the response to serve cannot be read, and that none of it has been sent.
    package mutating func lostBody() -> CachingStep {
        guard case .serving(let alternative) = state else { preconditionFailure("nothing is served") }
        selected = nil
        switch alternative {
        case .fetch: return send(validating: nil)
        case .failure: return end(.fail(.origin))
        case .response(let response): return deliver(response)
        }
    }

    /// Reports that the origin server gave no response.
    /// - Parameter failure: the failure, if a stored response may be served instead; otherwise `nil`.
    package mutating func failed(_ failure: OriginFailure?, at now: Timestamp) -> CachingStep {
        guard case .sent = state else { preconditionFailure("nothing was sent") }
        if let failure, let step = standIn(for: failure, otherwise: .failure, at: now) { return step }
        return end(.fail(.origin))
    }

    /// Reports that the head of the origin server's response has arrived.
    /// - Parameter stored: the responses now stored under the key; used only if `needsStored(for:)` is true.
    package mutating func received(
        _ response: OriginResponse, stored: [StoredResponse] = [], at now: Timestamp
    ) -> CachingStep {
        guard case .sent = state else { preconditionFailure("nothing was sent") }
        if Reuse.isError(response.head.status),
            let step = standIn(for: .error, otherwise: .response(response), at: now)
        {
            return step
        }
        if isValidating, let asked = selected, response.head.status == .notModified { return freshen(asked, by: response) }
        // An error does not change the stored response.
        if isBackground, response.head.status.code >= 500 || Reuse.isError(response.head.status) { return end(.finish) }
        if needsStored(for: response.head) { update(stored, byHEAD: response) }
        return deliver(response)
    }

    /// Whether the response may update stored responses to GET; `received` then needs them (RFC 9111 §4.3.5).
    package func needsStored(for response: ResponseHead) -> Bool { request.method == .head && response.status == .ok }

    /// The changes to make in the store, in this order.
    package mutating func takeChanges() -> [StoreChange] {
        defer { changes = [] }
        return changes
    }

    // MARK: Steps

    private mutating func act(on decision: ReuseDecision, _ stored: StoredResponse?) -> CachingStep {
        self.decision = decision
        switch decision {
        case .fresh(let terms):
            guard let stored else { return send(validating: nil) }
            return serve(stored, age: terms.age, otherwise: .fetch)
        case .staleAllowed(let terms, let reason):
            guard let stored else { return send(validating: nil) }
            return serve(stored, age: terms.age, validates: reason.wantsValidation, otherwise: .fetch)
        case .validate:
            selected = stored
            return send(validating: stored)
        case .forward(let reason):
            // Only the origin server can tell whether the request's condition matches the stored response, so no stale response replaces an
            // error.
            if reason != .originCondition { selected = stored }
            return send(validating: nil)
        case .notSatisfiable(let reason): return end(.fail(.notStored(reason)))
        case .offlineMiss(let reason): return end(.fail(.disconnected(reason)))
        }
    }

    private mutating func serve(
        _ stored: StoredResponse, age: DeltaSeconds, validates: Bool = false, otherwise alternative: Alternative
    ) -> CachingStep {
        if isBackground { return end(.finish) }
        state = .serving(otherwise: alternative)
        return .serve(stored, age: age, validatesInBackground: validates)
    }

    private mutating func send(validating stored: StoredResponse?) -> CachingStep {
        isValidating = stored != nil
        state = .sent
        return .send(validating: stored)
    }

    private mutating func end(_ step: CachingStep) -> CachingStep {
        state = .over
        return step
    }

    private mutating func standIn(
        for failure: OriginFailure, otherwise alternative: Alternative, at now: Timestamp
    ) -> CachingStep? {
        guard !isBackground, let stored = selected,
            let stale = Reuse.staleAfterFailure(failure, stored.facts, for: directives, overrides: overrides, at: now),
            case .staleAllowed(let terms, _) = stale
        else { return nil }
        decision = stale
        return serve(stored, age: terms.age, otherwise: alternative)
    }

    /// Invalidates the stored responses that the request made outdated, and decides whether the new response is stored.
    private mutating func deliver(_ response: OriginResponse) -> CachingStep {
        changes += Invalidation.keys(request: request, response: response.head).map { .invalidate($0) }
        let storage = Storability.decide(
            request: request, response: response.head, overrides: overrides, secondary: secondary, targets: targets,
            requestTime: response.requestTime, responseTime: response.responseTime)
        // The new response is another representation and is not stored, so the stored response is outdated (RFC 9111 §4.3.3).
        if case .doNotStore(let refusal) = storage, !refusal.isOfRequest, let selected, Self.replaces(response.head.status) {
            changes.append(.remove(selected))
        }
        return end(.deliver(storage))
    }

    private static func replaces(_ status: Status) -> Bool {
        switch status.code {
        case 200...303, 305...399, 404, 410: true
        default: false
        }
    }

    // MARK: Freshening

    private mutating func freshen(_ asked: StoredResponse, by response: OriginResponse) -> CachingStep {
        let selectable = candidates.filter { $0 === asked || Vary.matches($0.nominatedFields, request.fields, secondary) }
        let identified = Freshening.identified(by: response.head, among: selectable, asked: asked)
        guard let newest = identified.first else {
            // The 304 is about a representation that is not stored. It changes nothing in the store. If the second request fails, no stale
            // response is served, because the origin server no longer has the stored representation.
            selected = nil
            return send(validating: nil)
        }
        var served = newest
        // The newest response is freshened last, so it is found before the others if two of them become the same variant.
        for stored in identified.reversed() {
            let outcome = Freshening.freshened(
                stored, by: response.head, request: request, overrides: overrides, secondary: secondary, targets: targets,
                requestTime: response.requestTime, responseTime: response.responseTime)
            let used: StoredResponse
            switch outcome {
            case .freshened(let new):
                used = response.withTrust(new)
                changes.append(.freshen(stored, as: used))
            case .usedOnce(let once, _): used = response.withTrust(once)
            case .usedAndRemoved(let once, _):
                used = response.withTrust(once)
                changes.append(.remove(stored))
            }
            if stored === newest { served = used }
        }
        selected = nil
        return serve(served, age: .zero, otherwise: .fetch)
    }

    private mutating func update(_ stored: [StoredResponse], byHEAD response: OriginResponse) {
        for stored in stored where Vary.matches(stored.nominatedFields, request.fields, secondary) {
            let effect = Freshening.effect(
                ofHEAD: response.head, on: stored, request: request, overrides: overrides, secondary: secondary,
                targets: targets, requestTime: response.requestTime, responseTime: response.responseTime)
            switch effect {
            case .freshened(let new):
                // The body keeps the mark of the trust policy under which it was received, even if the HEAD request was sent under
                // another policy.
                changes.append(.freshen(stored, as: new.withTrust(policyMark: stored.facts.trust, chain: stored.chain)))
            case .outdated: changes.append(.remove(stored))
            case .none: break
            }
        }
    }
}

/// The next step for the driver of a `CachingSequence`.
package enum CachingStep: Sendable {
    /// Look up the responses stored under the request's key, then call `found`.
    case lookUp
    /// Serve the stored response, and discard the origin server's response if one has arrived. If the body cannot be read, call
    /// `lostBody`.
    case serve(StoredResponse, age: DeltaSeconds, validatesInBackground: Bool)
    /// Send the request to the origin server, with the preconditions of the stored response if given; then call `received` or `failed`.
    case send(validating: StoredResponse?)
    /// Deliver the origin server's response, and store it if so decided.
    case deliver(StorageDecision)
    case fail(CachingFailure)
    /// Deliver nothing: this was a validation in the background.
    case finish
}

/// Why a request gets no response.
package enum CachingFailure: Equatable, Sendable {
    /// The request needs the origin server for this reason, but must not be forwarded.
    case notStored(ForwardReason)
    /// The request needs the origin server for this reason, but the cache is disconnected.
    case disconnected(ForwardReason)
    /// The failure that the driver passed to `failed`.
    case origin
}

/// One change in the store.
package enum StoreChange: Sendable {
    case freshen(StoredResponse, as: StoredResponse)
    case remove(StoredResponse)
    /// Invalidate all responses under this key.
    case invalidate([UInt8])
}

/// The head of a response from the origin server, with the data needed to store it.
package struct OriginResponse: Sendable {
    package let head: ResponseHead
    package let requestTime: Timestamp
    package let responseTime: Timestamp
    /// The mark of the trust policy that accepted the server, and the server's certificate chain; 0 and `nil` for plain HTTP.
    package let trust: UInt64
    package let chain: RecordedChain?

    package init(
        head: ResponseHead, requestTime: Timestamp, responseTime: Timestamp, trust: UInt64 = 0, chain: RecordedChain? = nil
    ) {
        self.head = head
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.trust = trust
        self.chain = chain
    }

    /// A stored response that this 304 confirms, with the trust policy mark and certificate chain of the server that sent the 304.
    func withTrust(_ stored: StoredResponse) -> StoredResponse { stored.withTrust(policyMark: trust, chain: chain) }
}
