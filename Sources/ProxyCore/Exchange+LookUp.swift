import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// The store has been queried: Larder delivers, validates or completes a stored response, forwards the request to the origin, or joins
/// another request's fetch.
///
///     lookingUp ──lookedUp──▶ delivering (fresh, or stale and allowed) | fetching | joining
///     joining ──fetchShared──▶ delivering   joining ──leadsFetch, fetchNotShared, fetchesAlone──▶ fetching
extension Exchange {
    mutating func select(
        among candidates: [StoredResponse], isComplete: Bool, at now: Timestamp, into commands: inout CommandBuffer
    ) {
        guard let index = Vary.select(among: candidates, for: request, secondaryKey) else {
            if !isComplete {
                trace.candidates.askDisk()
                return commands.append(.lookUp(onDisk: true))
            }
            if usePartial(at: now, into: &commands) { return }
            trace.candidates.note(noneAmong: candidates.count)
            found.siblings = candidates
            let reason: ForwardReason = candidates.isEmpty ? .uriMiss : .varyMiss
            let decision = Reuse.decideMiss(reason, for: directives, overrides: obligations.cache)
            return forward(by: decision, at: now, into: &commands)
        }
        let candidate = candidates[index]
        let decision = Reuse.decide(candidate.facts, for: directives, overrides: obligations.cache, at: now)
        if !isComplete, decision.asksOrigin {
            // The origin's response may update or replace stored responses that are only on disk, so the disk is read first.
            trace.candidates.askDisk()
            return commands.append(.lookUp(onDisk: true))
        }
        trace.candidates.note(candidate.facts, at: index, among: candidates.count, at: now)
        if !matched.isEmpty {
            trace.candidates.note(candidate.facts.activeLifetime(under: obligations.cache))
        }
        switch decision {
        case .fresh:
            trace.reuse = decision
            cache.selected = candidate
            deliverSelected(outcome: .hit, into: &commands)
        case .staleAllowed(_, let reason):
            trace.reuse = decision
            cache.selected = candidate
            deliverSelected(outcome: .staleHit, into: &commands)
            if reason.wantsValidation, mayValidateInBackground {
                found.siblings = candidates
                commands.append(.validateInBackground)
            }
        case .validate:
            cache.selected = candidate
            found.siblings = candidates
            cache.isValidating = true
            forward(by: decision, at: now, into: &commands)
        case .forward(let reason):
            found.siblings = candidates
            // The stored response may still be used if the origin fails, unless only the origin can decide whether the request's condition
            // is true.
            if reason != .originCondition { cache.selected = candidate }
            forward(by: decision, at: now, into: &commands)
        case .notSatisfiable(let reason), .offlineMiss(let reason):
            trace.reuse = decision
            if reason == .trustChanged, let fault = decision.missFault,
                judgesRecordedChain(of: candidate, insteadOf: fault, at: now, into: &commands)
            {
                return
            }
            forward(by: decision, at: now, into: &commands)
        }
    }

    /// Called if no stored response can be used without asking the origin. Only requests for a whole response that may be shared are
    /// collapsed into one fetch (T24).
    mutating func forward(by decision: ReuseDecision, at now: Timestamp, into commands: inout CommandBuffer) {
        trace.reuse = decision
        if let fault = decision.missFault { return fail(fault, at: now, into: &commands) }
        guard RequestCollapsing.mayJoin(request, directives: directives, obligations: obligations, secondaryKey) else {
            return fetch(at: now, into: &commands)
        }
        state = .joining
        commands.append(.joinFetch)
    }

    /// The maximum time to wait for another request's fetch, in milliseconds; `nil` for no limit.
    package var longestWait: Int64? {
        if case .within(let milliseconds) = obligations.cache.collapsing { milliseconds } else { nil }
    }

    /// Whether the client requests a range of a representation.
    package var isForPart: Bool { directives.contains(.range) }

    mutating func share(_ shared: StoredResponse, at now: Timestamp, into commands: inout CommandBuffer) {
        guard
            RequestCollapsing.mayShare(
                shared, with: request, directives: directives, obligations: obligations, secondaryKey, at: now)
        else {
            cache.collapsing = .failed
            cache.selectedLength = nil
            if ranges.joinedBody != nil { ranges.joinedBody = nil }
            return fetch(at: now, into: &commands)
        }
        cache.selected = shared
        cache.isValidating = false
        cache.isCollapsed = true
        deliverSelected(outcome: .collapsed, into: &commands, command: ranges.completion == nil ? .sendStored : .complete)
    }

    /// Whether a background validation can be useful: the response to a GET for the same resource could be stored. A request with no-store
    /// (RFC 9111 §5.2.1.5) starts no background validation.
    private var mayValidateInBackground: Bool {
        let refusal = Storability.refusalWhateverMethod(request, directives, obligations.cache, secondaryKey)
        return refusal == nil && !directives.contains(.onlyIfCached)
    }
}

// MARK: Delivery

/// Delivers the selected response: as it is, or with its content transformed by a rule (C9, V15).
///
///     any ──▶ transforming ──transformed──▶ delivering (the variant, the stored response, or an error)
extension Exchange {
    mutating func deliverSelected(
        outcome: DecisionTrace.Outcome, into commands: inout CommandBuffer, command: ExchangeCommand = .sendStored
    ) {
        guard let selected = cache.selected else { return }
        if isBackground { return endBackground(.background, into: &commands) }
        trace.outcome = outcome
        if transformSelected(selected, into: &commands) { return }
        deliverAsItIs(into: &commands, command: command)
    }

    /// Delivers the selected response or its transformed variant.
    mutating func deliverAsItIs(into commands: inout CommandBuffer, command: ExchangeCommand = .sendStored) {
        guard let selected = cache.selected else { return }
        delivery.chooseStored(
            selected, length: cache.selectedLength ?? .known(selected.body.length), directives: directives, for: request,
            ignoresDates: transform.source != nil)
        if obligations.limits, refusesDelivery(into: &commands) { return }
        if delivery.multipart != nil { describeParts(of: selected) }
        trace.status = delivery.status.code
        state = .delivering
        commands.append(command)
    }

    /// - Returns: `false` if the stored response is delivered as it is.
    private mutating func transformSelected(_ stored: StoredResponse, into commands: inout CommandBuffer) -> Bool {
        guard obligations.transforms else { return false }
        let length = cache.selectedLength ?? .known(stored.body.length)
        let needsTransform = decideTransform(
            of: stored.head, length: length, isForbidden: stored.facts.flags.contains(.noTransform), at: trace.receivedAt,
            into: &commands)
        if needsTransform == true {
            state = .transforming
            commands.append(.transform)
        }
        return needsTransform != false
    }

    /// Decides from the response's head alone whether to transform the content.
    /// - Returns: whether the content is to be transformed; `nil` if the request has been answered with an error.
    mutating func decideTransform(
        of head: ResponseHead, length: BodyLength, isForbidden: Bool, at now: Timestamp, into commands: inout CommandBuffer
    ) -> Bool? {
        trace.transform = nil
        switch transform.decide(transformPlan, for: head, length: length, to: request.fields, isForbidden: isForbidden) {
        case .nothing: return false
        case .skip(let reason):
            trace.transform = .skipped(reason)
            return false
        case .make(let source):
            trace.transform = .made(source)
            return true
        case .fault(let fault): return passesUntransformed(fault, at: now, into: &commands) ? false : nil
        }
    }

    /// Handles a failed transform.
    /// - Returns: whether the original content is delivered.
    mutating func passesUntransformed(_ fault: TransformFault, at now: Timestamp, into commands: inout CommandBuffer) -> Bool {
        trace.transform = .failed(fault)
        transform.source = nil
        if transformPlan?.onError == .pass { return true }
        // The origin's body may still be arriving.
        if state == .fetching || state == .checking { commands.append(.discardUpstreamBody) }
        fail(.transformFailed(fault), at: now, into: &commands)
        return false
    }

    mutating func transformed(at now: Timestamp, into commands: inout CommandBuffer) {
        switch transform.end {
        case .variant(let variant): use(variant)
        case .made(let content): if let selected = cache.selected { use(variant(of: selected, content)) }
        case .failed(let fault): guard passesUntransformed(fault, at: now, into: &commands) else { return }
        case .refused: return fail(.checkQueueFull, at: now, into: &commands)
        case .broken(let fault): return fail(fault, at: now, into: &commands)
        // This is a dry run, so the content is not known.
        case nil:
            if let selected = cache.selected {
                use(transform.variant(of: selected, by: transformPlan, digest: nil, body: selected.body))
            }
        }
        deliverAsItIs(into: &commands)
    }

    private mutating func use(_ variant: StoredResponse?) {
        guard let variant else { return }
        cache.selected = variant
        cache.selectedLength = nil
    }

    /// The transformed response that replaces the stored response for requests under the same rules.
    package func variant(of stored: StoredResponse, _ content: TransformedContent) -> StoredResponse? {
        transform.variant(of: stored, by: transformPlan, digest: content.digest, body: .bytes(content.body))
    }

    /// The transform that a rule requires.
    package var transformPlan: TransformPlan? { obligations.transforms ? matched.transform : nil }
}

// MARK: Stored parts

/// A response that is stored in part answers requests for the stored bytes. Only missing bytes are requested from the origin (RFC 9111
/// §3.3, §3.4). A part is never served as the whole.
extension Exchange {
    /// Answers from a response stored in part, or requests the rest of it.
    /// - Returns: `false` if the stored part is not useful for this request.
    private mutating func usePartial(at now: Timestamp, into commands: inout CommandBuffer) -> Bool {
        guard !found.partials.isEmpty || !found.bodiesUnderWay.isEmpty, mayUsePartial else { return false }
        guard let partial = selectPartial(), let wanted = wanted(of: partial.response, length: partial.wholeLength) else {
            return joinBodyUnderWay(at: now, into: &commands)
        }
        trace.candidates.note(partial: partial.response.facts, at: now)
        let decision = Reuse.decide(partial.response.facts, for: directives, overrides: obligations.cache, at: now)
        let isUsable: Bool
        switch decision {
        case .fresh: isUsable = true
        // Parts are not validated in the background, so the client waits for the validation, unless the origin must not be contacted.
        case .staleAllowed(_, let reason):
            isUsable = !reason.wantsValidation || obligations.cache.forbidsForwarding(of: directives)
        // The request for the missing part carries If-Range, which validates the stored part as If-None-Match would.
        case .validate: isUsable = false
        case .forward, .notSatisfiable: return false
        case .offlineMiss:
            forward(by: decision, at: now, into: &commands)
            return true
        }
        if isUsable, partial.holds(wanted) {
            trace.reuse = decision
            cache.selected = partial.response
            deliverSelected(outcome: partialOutcome(of: decision), into: &commands)
            fillRest(into: &commands)
            return true
        }
        if joinBodyUnderWay(at: now, into: &commands) { return true }
        if obligations.cache.isDisconnected {
            forward(by: .offlineMiss(.partial), at: now, into: &commands)
            return true
        }
        guard !obligations.cache.forbidsForwarding(of: directives) else { return false }
        let missing = partial.missing(of: wanted)
        let completion = RangeCompletion(partial: partial, wanted: wanted, missing: missing.isEmpty ? wanted : missing)
        ranges.completion = completion
        // If nothing is missing, the stored part may still be used if the origin fails.
        if missing.isEmpty { cache.selected = partial.response }
        trace.reuse = .forward(.partial)
        if isUsable, obligations.cache.collapsing != .never,
            let body = found.bodiesUnderWay.first(where: { $0.completes(completion, within: context.limits.joinedDistance) })
        {
            ranges.joinedBody = body
            state = .joining
            commands.append(.joinBody)
            return true
        }
        fetch(at: now, into: &commands)
        return true
    }

    /// Reads a body that is in flight for another request, if it brings the wanted bytes.
    /// - Returns: `false` if no body in flight brings them soon.
    private mutating func joinBodyUnderWay(at now: Timestamp, into commands: inout CommandBuffer) -> Bool {
        guard obligations.cache.collapsing != .never, !obligations.cache.forbidsForwarding(of: directives) else { return false }
        for body in found.bodiesUnderWay {
            guard let wanted = wanted(of: body.response, length: body.wholeLength),
                body.brings(wanted, within: context.limits.joinedDistance),
                RequestCollapsing.mayShare(
                    body.response, with: request, directives: directives, obligations: obligations, secondaryKey, at: now)
            else { continue }
            ranges.joinedBody = body
            trace.reuse = .forward(.partial)
            state = .joining
            commands.append(.joinBody)
            return true
        }
        return false
    }

    private func selectPartial() -> PartialResponse? {
        if found.partials.isEmpty { return nil }
        return Vary.select(among: found.partials.map(\.response), for: request, secondaryKey).map { found.partials[$0] }
    }

    private func partialOutcome(of decision: ReuseDecision) -> DecisionTrace.Outcome {
        if case .fresh = decision { .hit } else { .staleHit }
    }

    /// Whether a stored part may be used. Conditions and body checks need the whole response, and Larder does not complete a response that
    /// must not be stored.
    private var mayUsePartial: Bool {
        if obligations.checksBody || validation != nil || obligations.transforms || isKeyedByContent { return false }
        if directives.contains(.cacheCondition) || directives.contains(.originCondition) || directives.contains(.authorization) {
            return false
        }
        let refusal = Storability.refusal(of: request, directives: directives, overrides: obligations.cache)
        // A disconnected cache only reads, so a no-store request may use stored parts.
        return refusal == nil || refusal == .requestNoStore && obligations.cache.isDisconnected
    }

    private func wanted(of response: StoredResponse, length whole: UInt64) -> Range<UInt64>? {
        guard directives.contains(.range) else { return 0..<whole }
        switch Delivery.choice(of: whole, validators: response.head.fields, for: request) {
        case .whole, nil: return 0..<whole
        case .one(let part): return part
        case .several, .unsatisfiable: return nil
        }
    }

    /// Requests the rest of a stored part, if a rule requires it. Called when a part is stored or about to be stored.
    mutating func fillRest(into commands: inout CommandBuffer) {
        if obligations.cache.fillsParts == true, !obligations.cache.isDisconnected { commands.append(.fillRest) }
    }
}

// MARK: Recorded chains

/// Handles a stored response that was received under a different trust policy than the active one, if the origin cannot be contacted. The
/// active policy verifies the certificate chain stored with the response. If the origin can be contacted, the request is forwarded
/// (`trustChanged`).
///
///     fetching ──a failure before any head──▶ judging ──accepted──▶ delivering (the stored response, if nothing else forbids it)
///     lookingUp ──may not go forward────────▶    └────refused─────▶ delivering (an error with the reason)
extension Exchange {
    /// - Parameters:
    ///   - stored: the response that would be used under the active trust policy.
    ///   - fault: the fault to send if it cannot be used.
    /// - Returns: whether the response's chain is verified first; `false` if an accepted chain would not make the response usable.
    mutating func judgesRecordedChain(
        of stored: StoredResponse?, insteadOf fault: Fault, at now: Timestamp, into commands: inout CommandBuffer
    ) -> Bool {
        guard !isBackground, trace.upstreamStatus == 0, let stored, stored.chain != nil, stored.facts.trust != directives.trust,
            case .https = request.target.scheme
        else { return false }
        switch decision(byRecordedChainOf: stored, insteadOf: fault, at: now) {
        case .fresh, .staleAllowed: break
        case .validate, .forward, .notSatisfiable, .offlineMiss: return false
        }
        cache.selected = stored
        cache.faultUnlessAccepted = fault
        state = .judging
        commands.append(.judgeRecordedChain)
        return true
    }

    mutating func recordedChainJudged(_ judgement: ChainJudgement, at now: Timestamp, into commands: inout CommandBuffer) {
        guard let stored = cache.selected, let fault = cache.faultUnlessAccepted else {
            preconditionFailure("no chain was to be judged")
        }
        switch judgement {
        case .accepted: useAccepted(stored, insteadOf: fault, at: now, into: &commands)
        case .unjudged: fail(fault, at: now, into: &commands)
        case .refused(let refusal):
            upstream.trustRefusal = refusal
            fail(.recordedChainRefused(reason: refusal.reason), at: now, into: &commands)
        }
    }

    private mutating func useAccepted(
        _ stored: StoredResponse, insteadOf fault: Fault, at now: Timestamp, into commands: inout CommandBuffer
    ) {
        let decision = decision(byRecordedChainOf: stored, insteadOf: fault, at: now)
        switch decision {
        case .fresh, .staleAllowed:
            trace.reuse = decision
            // The trace gets no fault if the settings disconnect the cache, because then no origin has failed.
            if fault.failure != nil, !obligations.cache.isDisconnected { trace.fault = fault }
            cache.isValidating = false
            if cache.isLeading { commands.append(.releaseJoined) }
            deliverSelected(outcome: decision.isFresh ? .hit : .staleHit, into: &commands)
        case .notSatisfiable, .offlineMiss:
            trace.reuse = decision
            fail(decision.missFault ?? fault, at: now, into: &commands)
        case .validate, .forward: fail(fault, at: now, into: &commands)
        }
    }

    private func decision(byRecordedChainOf stored: StoredResponse, insteadOf fault: Fault, at now: Timestamp) -> ReuseDecision {
        Reuse.decideByRecordedChain(
            stored.facts, for: directives, overrides: obligations.cache, insteadOf: fault.failure, at: now)
    }
}

extension ReuseDecision {
    fileprivate var isFresh: Bool { if case .fresh = self { true } else { false } }
}

/// The shared tier: responses that other machines have fetched. It is asked before the origin, by the exchange that leads the fetch of its
/// key, and its responses are used under the same rules as those of the local store.
///
///     joining ──sharedFound──▶ delivering (fresh) | fetching (it is validated, or cannot be used)
extension Exchange {
    /// Whether the shared tier may have the response, and may get it.
    ///
    /// Not if a rule of this machine validates responses, refuses to store them, or makes their key: the rules of the other machines may
    /// differ.
    package var asksSharedTier: Bool {
        mode == .live && !isBackground && request.method == .get && !obligations.validates && !obligations.checksBody
            && !obligations.rewritesKey && !obligations.cache.storeNever && !context.validatesStored
    }

    /// Whether a response of the shared tier can be delivered without asking the origin.
    package func mayUse(shared: StoredResponse, at now: Timestamp) -> Bool {
        guard shared.body.length <= obligations.cache.maximumBodyLength ?? .max else { return false }
        return RequestCollapsing.mayShare(
            shared, with: request, directives: directives, obligations: obligations, secondaryKey, at: now)
    }

    mutating func sharedFound(_ shared: StoredResponse, at now: Timestamp, into commands: inout CommandBuffer) {
        if mayUse(shared: shared, at: now) {
            trace.reuse = Reuse.decide(shared.facts, for: directives, overrides: obligations.cache, at: now).fromSharedTier
            cache.selected = shared
            cache.isValidating = false
            return deliverSelected(outcome: .hit, into: &commands)
        }
        cache.isLeading = true
        if isBetterToValidate(shared) {
            cache.selected = shared
            found.siblings.insert(shared, at: 0)
            cache.isValidating = true
            trace.reuse = .validate(.stale)
        }
        fetch(at: now, into: &commands)
    }

    /// Whether the origin is to validate this response, instead of the one that the local store had.
    private func isBetterToValidate(_ shared: StoredResponse) -> Bool {
        guard shared.facts.canBeValidated, obligations.cache.permitsUse(of: shared.facts),
            Vary.matches(shared.nominatedFields, request.fields, secondaryKey)
        else { return false }
        return cache.selected.map { shared.isNewer(than: $0) } ?? true
    }
}
