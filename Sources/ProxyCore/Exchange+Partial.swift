import HTTPCaching
import HTTPMessage

/// What is stored in part: it answers what it holds, is completed by asking for no more than is missing, and grows by each part
/// that comes (RFC 9111 §3.3, §3.4). It is never served as whole.
extension Exchange {
    // MARK: What is stored

    /// Answers from what is stored in part, or asks for the rest of it.
    /// - Returns: `false` where it is of no use to this request.
    mutating func usePartial(at now: Timestamp, into commands: inout CommandBuffer) -> Bool {
        guard !found.partials.isEmpty || !found.bodiesUnderWay.isEmpty, mayUsePartial else { return false }
        guard let partial = selectPartial(), let wanted = wanted(of: partial.response, length: partial.wholeLength) else {
            return joinBodyUnderWay(at: now, into: &commands)
        }
        trace.candidates.note(partial: partial.response.facts, at: now)
        let decision = Reuse.decide(partial.response.facts, for: directives, overrides: obligations.cache, at: now)
        let isUsable: Bool
        switch decision {
        case .fresh: isUsable = true
        // Nobody asks about a part behind its client, so the client waits for that, unless the origin may not be asked at all.
        case .staleAllowed(_, let reason):
            isUsable = !reason.wantsValidation || obligations.cache.forbidsForwarding(of: directives)
        // If-Range validates it as If-None-Match would.
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
        // It may still stand in for an origin that fails.
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

    /// Reads along where another request has the origin send the same bytes.
    /// - Returns: `false` where nothing under way brings them soon.
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

    /// Conditions, and checks of the body, are for the whole; what may not be stored is not completed.
    private var mayUsePartial: Bool {
        if obligations.checksBody || validation != nil || obligations.transforms || isKeyedByContent { return false }
        if directives.contains(.cacheCondition) || directives.contains(.originCondition) || directives.contains(.authorization) {
            return false
        }
        let refusal = Storability.refusal(of: request, directives: directives, overrides: obligations.cache)
        // A disconnected cache completes nothing: it may read what may not be stored.
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

    // MARK: What came for the rest of it

    /// - Returns: `false` where the answer is to be taken as any other.
    mutating func receiveMissing(at now: Timestamp, into commands: inout CommandBuffer) -> Bool {
        guard let completion = ranges.completion else { return false }
        if completion.accepts(response, body: upstream.body) {
            switch outcome(for: completion.partial.response, at: now) {
            case .freshened(let fresh):
                complete(with: fresh, into: &commands)
                return true
            case .usedAndRemoved: remove([completion.partial.response], into: &commands)
            case .usedOnce: break
            }
        }
        if isBackground {
            leaveStored(into: &commands)
            return true
        }
        ranges.completion = nil
        switch response.status.code {
        case 206, 304, 412, 416:
            // It answers a request that the client has not made: that one goes out as it is.
            cache.selected = nil
            commands.append(.discardUpstreamBody)
            fetch(at: now, into: &commands)
            return true
        default: return false
        }
    }

    private mutating func complete(with fresh: StoredResponse, into commands: inout CommandBuffer) {
        cache.facts = fresh.facts
        trace.storage = StorageTrace(.store(fresh.facts, usedUnsafe: false))
        cache.selected = fresh
        if isBackground {
            state = .delivering
            commands.append(.complete)
        } else {
            deliverSelected(outcome: .miss, into: &commands, command: .complete)
        }
        fillRest(into: &commands)
    }

    /// The store takes no body now: the client's request goes out as it is.
    mutating func completionRefused(at now: Timestamp, into commands: inout CommandBuffer) {
        if isBackground { return leaveStored(into: &commands) }
        ranges.completion = nil
        cache.selected = nil
        cache.facts = nil
        trace.storage = nil
        delivery = Delivery()
        delivery.readConnection(of: request)
        commands.append(.discardUpstreamBody)
        fetch(at: now, into: &commands)
    }

    // MARK: Parts of what comes whole

    /// The part to be cut from a response that is about to be stored: the origin has passed the range over (RFC 9110 §14.2). The next
    /// request for one is answered from what is stored, and a client that asks for several at once takes all as parts or none.
    package var partToCut: Range<UInt64>? {
        guard directives.contains(.range), case .known(let whole) = upstream.body, response.status.code == 200,
            case .one(let part)? = Delivery.choice(of: whole, validators: response.fields, for: request)
        else { return nil }
        return part
    }

    /// The whole goes into the store, and the client reads the part from there.
    mutating func cut(_ part: Range<UInt64>) {
        guard case .known(let whole) = upstream.body else { return }
        upstream.wholeLength = whole
        delivery.cut(part)
        trace.status = delivery.status.code
    }

    // MARK: Parts that are stored

    /// A part that the client asked for is stored as such, where it can be joined to others: under a strong entity tag, with the
    /// whole's length and, since If-Range may leave them out, all its fields (RFC 9110 §15.3.7).
    mutating func decidePartStorage(at now: Timestamp) -> Bool {
        guard response.status.code == 206, directives.contains(.range), !directives.contains(.ifRange),
            upstream.wholeLength == nil,
            case .part(let range, let length?)? = BodyResumption.contentRange(of: response.fields),
            upstream.body == .known(range.upperBound - range.lowerBound)
        else { return false }
        let head = PartialContent.wholeHead(of: response, length: length)
        let decision = Storability.decide(
            request: request, response: head, overrides: obligations.cache, secondary: secondaryKey,
            targets: context.targets, requestTime: upstream.requestTime, responseTime: now)
        trace.storage = StorageTrace(decision)
        guard case .store(let facts, _) = decision else { return true }
        guard facts.flags.contains(.strongETag) else {
            trace.storage = .refused(.partialContent)
            return true
        }
        if let limit = obligations.cache.maximumBodyLength, length > limit {
            trace.storage = .refused(.bodyTooLarge)
            return true
        }
        cache.facts = facts
        cache.facts?.trust = upstream.trust
        ranges.part = RangeState.Part(start: range.lowerBound, whole: length)
        ranges.wholeHead = head
        return true
    }
}
