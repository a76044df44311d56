import HTTPCaching
import HTTPMessage

/// How the origin's response changes the store: the response is stored, whole or as a part, or it freshens, replaces or invalidates stored
/// responses.
extension Exchange {
    mutating func decideStorage(unless known: StorageRefusal?, at now: Timestamp) -> Bool {
        // The response to a request to switch protocols is not stored: it may depend on the switch.
        if incoming.isForSwitch { return false }
        if let known {
            trace.storage = .refused(known)
            return false
        }
        if let refusal = upstream.continuation?.refusal {
            trace.storage = .refused(refusal)
            return false
        }
        if decidePartStorage(at: now) { return ranges.part != nil }
        let decision = Storability.decide(
            request: request, response: response, overrides: obligations.cache, secondary: secondaryKey,
            targets: context.targets, requestTime: upstream.requestTime, responseTime: now)
        trace.storage = StorageTrace(decision)
        guard case .store(let facts, _) = decision else { return false }
        let body = upstream.wholeLength.map { .known($0) } ?? upstream.body
        if let limit = obligations.cache.maximumBodyLength, case .known(let length) = body, length > limit {
            trace.storage = .refused(.bodyTooLarge)
            return false
        }
        cache.facts = facts
        cache.facts?.trust = upstream.trust
        return true
    }

    /// Stores a part that the client requested, if it can be joined with other parts. Joining requires a strong entity tag, the length of
    /// the whole, and a request without If-Range, because a response to If-Range may omit fields (RFC 9110 §15.3.7).
    private mutating func decidePartStorage(at now: Timestamp) -> Bool {
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

    /// Whether the exchange has decided not to store the response.
    package var isStorageRefused: Bool {
        if case .refused = trace.storage { true } else { false }
    }

    /// The maximum length that rules allow for a stored body, in bytes; `nil` for no limit. Applies to a body of unknown length as it
    /// arrives.
    package var keptBodyLength: UInt64? { obligations.cache.maximumBodyLength }

    /// The stored response that is made from the origin's response and this body; `nil` if the response is not to be stored.
    package func makeStoredResponse(body: StoredBody, trailers: Fields = Fields()) -> StoredResponse? {
        guard let facts = cache.facts,
            let prepared = StoredFields.prepare(ranges.wholeHead ?? response, to: request, facts: facts, secondaryKey)
        else { return nil }
        // The key is copied, because the exchange reuses its own array. If the stored response shared that array, the exchange would have
        // to allocate another array, at least as large.
        let key = key.withUnsafeBufferPointer { Array($0) }
        return StoredResponse(
            key: key, nominatedFields: prepared.nominatedFields, facts: facts, head: prepared.head,
            requestTime: upstream.requestTime,
            body: body, trailers: StoredHead.held(trailers), tags: matched.tags, chain: upstream.chain,
            variantLimit: obligations.cache.variantLimit ?? Vary.variantLimit)
    }

    /// The part to cut from a response that is about to be stored: the origin ignored the range (RFC 9110 §14.2). Later range requests get
    /// parts from the store, and a client that requests several ranges at once gets the complete response.
    package var partToCut: Range<UInt64>? {
        guard directives.contains(.range), case .known(let whole) = upstream.body, response.status.code == 200,
            case .one(let part)? = Delivery.choice(of: whole, validators: response.fields, for: request)
        else { return nil }
        return part
    }

    /// Stores the complete response; the client reads its part from the store.
    mutating func cut(_ part: Range<UInt64>) {
        guard case .known(let whole) = upstream.body else { return }
        upstream.wholeLength = whole
        delivery.cut(part)
        trace.status = delivery.status.code
    }

    /// The destination of the content of a response that is to be stored.
    package var storagePlan: StoragePlan {
        StoragePlan(
            body: upstream.body, part: ranges.part, cutsPart: partToCut != nil, gatheredLength: context.limits.gatheredBodyLength)
    }

    /// Whether content of this length is short enough to be buffered. Longer content is streamed.
    package func gathers(_ count: Int) -> Bool { count <= context.limits.gatheredBodyLength }

    /// Checks content of unknown length that has reached this length.
    /// - Returns: why it is not stored; `nil` if rules allow it to be stored.
    package func rejection(ofLength count: Int) -> StorageRejection? {
        guard let limit = keptBodyLength, UInt64(count) > limit else { return nil }
        return .tooLarge
    }
}

// MARK: Freshening

/// A 304 to our own condition, or a 200 to HEAD, freshens stored responses (RFC 9111 §4.3.4, §4.3.5).
extension Exchange {
    /// Updates the responses that the 304 identifies, and delivers the newest.
    mutating func freshen(_ asked: StoredResponse, at now: Timestamp, into commands: inout CommandBuffer) {
        commands.append(.discardUpstreamBody)
        let identified = Freshening.identified(by: response, among: selectable(asked), asked: asked)
        guard let newest = identified.first else { return fetchAgain(at: now, into: &commands) }
        // The newest response is freshened last: if two freshened responses become the same variant, the newest is found first.
        for stored in identified.reversed() {
            switch outcome(for: stored, at: now) {
            case .freshened(let new):
                changes.freshened.append(StoreChanges.Freshened(old: stored, new: new))
                if stored === newest { cache.selected = new }
            case .usedOnce(let once, let refusal):
                if stored === newest { use(once, keptOutBy: refusal) }
            case .usedAndRemoved(let once, let refusal):
                changes.removed.append(stored)
                if stored === newest { use(once, keptOutBy: refusal) }
            }
        }
        freshenPartials(at: now)
        changeStored(into: &commands)
        if cache.isLeading { commands.append(.releaseJoined) }
        deliverSelected(outcome: .revalidated, into: &commands)
    }

    /// Handles a 304 that is for another representation than the stored one: sends the request again, without our conditions. The origin
    /// server does not have the stored response, so that response cannot replace an error. A failure counts as a failed validation (RFC
    /// 9111 §5.2.2.2).
    private mutating func fetchAgain(at now: Timestamp, into commands: inout CommandBuffer) {
        cache.selected = nil
        cache.isValidating = false
        cache.failsValidation = true
        fetch(at: now, into: &commands)
    }

    private mutating func use(_ once: StoredResponse, keptOutBy refusal: StorageRefusal) {
        trace.storage = .refused(refusal)
        cache.selected = once
    }

    /// Updates stored parts after the origin has responded with 304 to the client's own condition.
    mutating func updateByNotModified(at now: Timestamp, into commands: inout CommandBuffer) {
        freshenPartials(at: now)
        changeStored(into: &commands)
    }

    private mutating func freshenPartials(at now: Timestamp) {
        for partial in selectablePartials where Freshening.identifies(response, partial) {
            switch outcome(for: partial.response, at: now) {
            case .freshened(let new): changes.freshened.append(StoreChanges.Freshened(old: partial.response, new: new))
            case .usedAndRemoved: changes.removed.append(partial.response)
            case .usedOnce: break
            }
        }
    }

    /// Applies a 200 to HEAD to each stored GET response that could be selected for the request.
    mutating func updateByHEAD(at now: Timestamp, into commands: inout CommandBuffer) {
        for stored in selectable(nil).reversed() + selectablePartials.map(\.response) {
            let effect = Freshening.effect(
                ofHEAD: response, on: stored, request: request, overrides: obligations.cache, secondary: secondaryKey,
                targets: context.targets, requestTime: upstream.requestTime, responseTime: now)
            switch effect {
            case .freshened(let new):
                // A response to HEAD has no body, so the stored response keeps the trust policy under which its body was received.
                changes.freshened.append(
                    StoreChanges.Freshened(old: stored, new: new.withTrust(policyMark: stored.facts.trust, chain: stored.chain)))
            case .outdated: changes.removed.append(stored)
            case .none: break
            }
        }
        changeStored(into: &commands)
    }

    /// The responses that match this request, newest first.
    ///
    /// Always includes the validated response, even if it does not match: a background validation omits fields of the request.
    private func selectable(_ asked: StoredResponse?) -> [StoredResponse] {
        found.siblings.filter { $0 === asked || Vary.matches($0.nominatedFields, request.fields, secondaryKey) }
    }

    private var selectablePartials: [PartialResponse] {
        found.partials.filter { Vary.matches($0.response.nominatedFields, request.fields, secondaryKey) }
    }

    func outcome(for stored: StoredResponse, at now: Timestamp) -> FresheningOutcome {
        let outcome = Freshening.freshened(
            stored, by: response, request: request, overrides: obligations.cache, secondary: secondaryKey,
            targets: context.targets, requestTime: upstream.requestTime, responseTime: now)
        // The server that sent the 304 was just verified, so the freshened response gets the active trust policy.
        return switch outcome {
        case .freshened(let new): .freshened(withTrust(new))
        case .usedOnce(let once, let refusal): .usedOnce(withTrust(once), refusal)
        case .usedAndRemoved(let once, let refusal): .usedAndRemoved(withTrust(once), refusal)
        }
    }

    private func withTrust(_ response: StoredResponse) -> StoredResponse {
        response.withTrust(policyMark: upstream.trust, chain: upstream.chain)
    }

    private func changeStored(into commands: inout CommandBuffer) {
        if !changes.freshened.isEmpty { commands.append(.freshen) }
        if !changes.removed.isEmpty { commands.append(.remove) }
    }
}

// MARK: Removal

/// Stored responses that are outdated, or must no longer be stored.
extension Exchange {
    /// The stored responses whose representation differs from that of the origin's new response (RFC 9111 §4.3.3).
    var replacedByResponse: [StoredResponse] {
        guard response.isOfAnotherRepresentation else { return [] }
        let replaced = selectablePartials.map(\.response)
        guard let selected = cache.selected else { return replaced }
        return replaced + [selected]
    }

    /// Called if the response is not stored: removes the stored responses that it would have replaced. If only the request forbids storing,
    /// nothing is removed.
    mutating func removeReplaced(into commands: inout CommandBuffer) {
        guard case .refused(let refusal) = trace.storage, !refusal.isOfRequest, refusal != .validation else { return }
        var replaced = replacedByResponse
        // If a part cannot be joined with stored parts of the same representation, those parts are still valid.
        if refusal == .partialContent {
            let tag = BodyResumption.strongTag(of: response.fields)
            replaced.removeAll { $0.strongTag == tag }
        }
        remove(replaced, into: &commands)
    }

    /// Removes whole responses of other representations that are older than the part to be stored, but would be selected before it (RFC
    /// 9111 §4).
    mutating func removeOutlived(into commands: inout CommandBuffer) {
        guard ranges.part != nil, let facts = cache.facts else { return }
        let tag = BodyResumption.strongTag(of: response.fields)
        let outlived = selectable(nil).filter {
            $0.facts.dateValue < facts.dateValue && $0.strongTag != nil && $0.strongTag != tag
        }
        remove(outlived, into: &commands)
    }

    /// Removes responses that are outdated, or must no longer be stored.
    mutating func remove(_ outdated: [StoredResponse], into commands: inout CommandBuffer) {
        let count = changes.removed.count
        noteRemoved(outdated)
        if changes.removed.count > count { commands.append(.remove) }
    }

    mutating func noteRemoved(_ outdated: [StoredResponse]) {
        for stored in outdated where !changes.removed.contains(where: { $0 === stored }) { changes.removed.append(stored) }
    }

    mutating func invalidate(into commands: inout CommandBuffer) {
        noteInvalidatedKeys()
        if !changes.invalidatedKeys.isEmpty { commands.append(.invalidate) }
    }

    /// The keys that the response invalidates (RFC 9111 §4.4), including the keys that rules derive.
    private mutating func noteInvalidatedKeys() {
        // A request whose content is part of its key is a read, and invalidates nothing.
        if isKeyedByContent { return }
        changes.invalidatedKeys = keys(forURIsIn: Invalidation.keys(request: request, response: response))
    }
}

// MARK: The missing bytes of a part

/// The origin has responded to a request for the missing bytes of a stored part.
extension Exchange {
    /// - Returns: `false` if the response is to be handled like any other response.
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
            // The response answers a condition that Larder added, not the client: forwards the client's own request.
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

    /// Called if the store accepts no body now: forwards the client's own request.
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
}

// MARK: Background validation

/// A background validation (RFC 5861 §3): a response was served stale, and the client's request is used to validate it. The response is
/// only for the store.
///
///     idle ──validates──▶ counting (a rule has a limit) ──requestCounted──▶ fetching, or finished (the limit is reached)
///     idle ──validates──▶ fetching ──upstreamHead──▶ delivering (the response is stored) ──deliveryEnded──▶ finished
///                            └─── a 304, a failure, or no storage ────────────────────────────────────────▶ finished
extension Exchange {
    /// Prepares the exchange to validate the response that `served` has delivered, under the same rules.
    ///
    /// The request is the client's, so that it selects the same response, but without conditions, range and cache directives. HEAD becomes
    /// GET, because a response to HEAD has no body to store.
    package mutating func begin(id: UInt64, validating served: borrowing Exchange) {
        begin(id: id, context: served.context)
        isBackground = true
        incoming.sender = served.incoming.sender
        request = served.request
        request.becomeWholeGET()
        directives = RequestDirectives(request)
        directives.trust = served.directives.trust
        obligations = served.obligations
        matched = served.matched
        key = served.key
        secondaryKey = served.secondaryKey
        cache.selected = served.cache.selected
        found.siblings = served.found.siblings
        found.partials = served.found.partials
    }

    /// Begins a background fetch. It counts once under the limits of the rules that its client's request matched, for the same client,
    /// user or host.
    mutating func startBackground(at now: Timestamp, into commands: inout CommandBuffer) {
        cache.isLeading = true
        if obligations.limits { return countRequest(at: now, into: &commands) }
        fetchInBackground(at: now, into: &commands)
    }

    mutating func fetchInBackground(at now: Timestamp, into commands: inout CommandBuffer) {
        ranges.completion == nil ? validate(at: now, into: &commands) : startFill(at: now, into: &commands)
    }

    private mutating func validate(at now: Timestamp, into commands: inout CommandBuffer) {
        guard let selected = cache.selected else { preconditionFailure("nothing to validate") }
        cache.isValidating = selected.facts.canBeValidated
        trace.reuse = cache.isValidating ? .validate(.stale) : .forward(.stale)
        fetch(at: now, into: &commands)
    }

    /// Ends a background exchange, which has no client to notify.
    mutating func endBackground(_ outcome: DecisionTrace.Outcome, into commands: inout CommandBuffer) {
        trace.outcome = outcome
        trace.status = 0
        state = .finished
        commands.append(.finish)
    }

    /// An error from the origin leaves the stored response unchanged (RFC 9111 §4.3.3).
    mutating func leaveStored(into commands: inout CommandBuffer) {
        commands.append(.discardUpstreamBody)
        commands.append(.releaseJoined)
        endBackground(.failed, into: &commands)
    }

    /// If this background fetch has failed, the time that must pass before the next background fetch of its key, in milliseconds.
    package var backgroundRetryDelay: Int64 { max(context.limits.backgroundRetryDelay, upstream.retryAfter ?? 0) }
}

// MARK: The rest of a stored part

/// A fetch of the bytes missing between stored parts (`Fill`), only for the store.
///
///     idle ──fills──▶ fetching ──upstreamHead──▶ delivering (the bytes go into the store) ──deliveryEnded──▶ finished
///                        └──── a failure, or anything but these bytes of the same representation ────────▶ finished
extension Exchange {
    /// The fetch of missing bytes that follows this exchange; `nil` if no rule requires such a fetch.
    package var fill: Fill? {
        guard obligations.cache.fillsParts == true else { return nil }
        var request = request
        if !isBackground { request.becomeWholeGET() }
        return Fill(
            key: key, context: context, sender: incoming.sender, request: request, obligations: obligations, matched: matched,
            secondaryKey: secondaryKey,
            trust: directives.trust, start: isBackground ? (ranges.completion?.missing.upperBound ?? .max) : 0)
    }

    /// Prepares the exchange to fetch missing bytes.
    package mutating func begin(id: UInt64, fill: Fill, completion: RangeCompletion) {
        begin(id: id, context: fill.context)
        isBackground = true
        incoming.sender = fill.sender
        request = fill.request
        directives = RequestDirectives(request)
        directives.trust = fill.trust
        obligations = fill.obligations
        matched = fill.matched
        key = fill.key
        secondaryKey = fill.secondaryKey
        ranges.completion = completion
    }

    private mutating func startFill(at now: Timestamp, into commands: inout CommandBuffer) {
        trace.reuse = .forward(.fill)
        fetch(at: now, into: &commands)
    }
}
