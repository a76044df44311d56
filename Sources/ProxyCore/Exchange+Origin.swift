import HTTPCaching
import HTTPMessage

/// What becomes of a request that goes to the origin: the fetch, its response, its failure.
extension Exchange {
    mutating func fetch(at now: Timestamp, into commands: inout CommandBuffer) {
        upstream.requestTime = now
        trace.sentConditions.formUnion(ownConditions)
        state = .fetching
        commands.append(.fetch)
    }

    /// What `writeForwardedHead` adds to the client's request, or puts in place of what stands there.
    private var ownConditions: RequestConditions {
        if ranges.completion != nil { return [.range, .ifRange] }
        guard cache.isValidating, let stored = cache.selected else { return [] }
        return RequestConditions(validating: stored)
    }

    mutating func receiveResponse(at now: Timestamp, into commands: inout CommandBuffer) {
        if !request.method.isSafe { invalidate(into: &commands) }
        if mode.records { return deliverRecorded(into: &commands) }
        if receiveMissing(at: now, into: &commands) { return }
        if cache.isValidating, response.status == .notModified, let stored = cache.selected {
            return freshen(stored, at: now, into: &commands)
        }
        if isUnaskedNotModified {
            commands.append(.discardUpstreamBody)
            return upstreamFailed(.unexpectedNotModified, at: now, into: &commands)
        }
        if isBackground, response.status.code >= 500 || Reuse.isError(response.status) {
            upstream.retryAfter = RetryAfter.milliseconds(response.fields, at: now)
            return leaveStored(into: &commands)
        }
        if Reuse.isError(response.status), standsIn(for: .error, at: now) {
            return deliverStale(discardingBody: true, into: &commands)
        }
        trace.findings = validateHead()
        if !trace.findings.isEmpty, !finishValidation(at: now, into: &commands) { return }
        guard decideTransform(at: now, into: &commands) else { return }
        if wantsBodyCheck || transformsBody {
            state = .checking
            return commands.append(.checkBody)
        }
        if request.method == .head, response.status == .ok, trace.findings.isEmpty { updateByHEAD(at: now, into: &commands) }
        if request.method == .get, response.status == .notModified { updateByNotModified(at: now, into: &commands) }
        deliverRelayed(
            at: now, isChecked: false, keptOutBy: trace.findings.isEmpty ? nil : .validation, into: &commands)
    }

    mutating func deliverRelayed(
        at now: Timestamp, isChecked: Bool, keptOutBy refusal: StorageRefusal?, into commands: inout CommandBuffer
    ) {
        let stores = decideStorage(unless: refusal, at: now)
        if stores {
            removeOutlived(into: &commands)
            if ranges.part == nil { changes.replaced = replacedByResponse }
        } else {
            removeReplaced(into: &commands)
        }
        if cache.isLeading, !stores { commands.append(.releaseJoined) }
        if isBackground, !stores {
            commands.append(.discardUpstreamBody)
            return endBackground(.background, into: &commands)
        }
        trace.outcome = outcomeOfForwarding
        if let variantHead = transform.head {
            if case .made(let content) = transform.end { upstream.wholeLength = UInt64(content.body.count) }
            delivery.chooseTransformed(variantHead, whole: request.method == .head ? nil : upstream.wholeLength, for: request)
        } else if isChecked, let wholeLength = upstream.wholeLength {
            delivery.chooseGathered(response, whole: wholeLength, for: request)
        } else {
            delivery.chooseRelayed(response, body: upstream.body)
        }
        trace.status = delivery.status.code
        cache.selected = nil
        state = .delivering
        commands.append(isChecked ? .sendChecked(store: stores) : .relay(store: stores))
        if ranges.part != nil { fillRest(into: &commands) }
    }

    /// The origin has answered with another representation: what was stored before is no longer what the origin has (RFC 9111 §4.3.3).
    private var replacedByResponse: [StoredResponse] {
        guard response.isOfAnotherRepresentation else { return [] }
        let replaced = selectablePartials.map(\.response)
        guard let selected = cache.selected else { return replaced }
        return replaced + [selected]
    }

    /// The response is not to be stored. What only this one request keeps out of the store tells nothing of what is in it.
    private mutating func removeReplaced(into commands: inout CommandBuffer) {
        guard case .refused(let refusal) = trace.storage, !refusal.isOfRequest, refusal != .validation else { return }
        var replaced = replacedByResponse
        // A part that comes of the same, in a form that is not joined, says nothing against those that are stored.
        if refusal == .partialContent {
            let tag = BodyResumption.strongTag(of: response.fields)
            replaced.removeAll { $0.strongTag == tag }
        }
        remove(replaced, into: &commands)
    }

    /// A part that is kept is newer than what is stored whole of another representation, which would be selected before it (RFC 9111 §4).
    private mutating func removeOutlived(into commands: inout CommandBuffer) {
        guard ranges.part != nil, let facts = cache.facts else { return }
        let tag = BodyResumption.strongTag(of: response.fields)
        let outlived = selectable(nil).filter {
            $0.facts.dateValue < facts.dateValue && $0.strongTag != nil && $0.strongTag != tag
        }
        remove(outlived, into: &commands)
    }

    /// What is stored no longer holds, or may not be stored any more.
    mutating func remove(_ outdated: [StoredResponse], into commands: inout CommandBuffer) {
        let count = changes.removed.count
        noteRemoved(outdated)
        if changes.removed.count > count { commands.append(.remove) }
    }

    mutating func noteRemoved(_ outdated: [StoredResponse]) {
        for stored in outdated where !changes.removed.contains(where: { $0 === stored }) { changes.removed.append(stored) }
    }

    private mutating func decideStorage(unless known: StorageRefusal?, at now: Timestamp) -> Bool {
        // Nobody asks whether: it was an answer to more than the request.
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

    mutating func upstreamFailed(_ fault: Fault, at now: Timestamp, into commands: inout CommandBuffer) {
        // The gate is closed: a tunnel, which is no reading of the store, would have gone out.
        if case .offlineMiss = fault, state == .connecting {
            return fail(.offlineMiss(detail: "tunnel"), at: now, into: &commands)
        }
        // A stored response stands in for an origin that cannot be asked (RFC 9111 §4.2.4), never for one that may not be.
        if !isBackground, let failure = fault.failure {
            if standsIn(for: failure, at: now) {
                trace.fault = fault
                return deliverStale(discardingBody: false, into: &commands)
            }
            if judgesRecordedChain(of: cache.selected, insteadOf: fault, at: now, into: &commands) { return }
        }
        fail(fault, at: now, into: &commands)
    }

    /// Whether the stored response takes the place of the answer that the origin server owes.
    private mutating func standsIn(for failure: OriginFailure, at now: Timestamp) -> Bool {
        guard let stored = cache.selected,
            let decision = Reuse.staleAfterFailure(failure, stored.facts, for: directives, overrides: obligations.cache, at: now)
        else { return false }
        trace.reuse = decision
        return true
    }

    mutating func deliverStale(discardingBody: Bool, into commands: inout CommandBuffer) {
        if discardingBody { commands.append(.discardUpstreamBody) }
        if cache.isLeading { commands.append(.releaseJoined) }
        deliverSelected(outcome: .staleHit, into: &commands)
    }

    private mutating func invalidate(into commands: inout CommandBuffer) {
        noteInvalidatedKeys()
        if !changes.invalidatedKeys.isEmpty { commands.append(.invalidate) }
    }

    /// A 304 to a request without If-None-Match or If-Modified-Since (RFC 9110 §15.4.5): the client has nothing that it could speak of,
    /// and nothing stored was asked about (T39).
    private var isUnaskedNotModified: Bool {
        response.status == .notModified && (!directives.contains(.cacheCondition) || obligations.transforms)
    }

    private var outcomeOfForwarding: DecisionTrace.Outcome {
        if cache.isValidating { return .refreshed }
        if incoming.isForSwitch { return .bypass }
        guard request.method == .get || request.method == .head || isKeyedByContent else { return .bypass }
        return .miss
    }
}

extension ResponseHead {
    /// It answers for the resource as it is now, or says that it is gone; not for who asks, how often, or with what.
    fileprivate var isOfAnotherRepresentation: Bool {
        switch status.code {
        case 304: false
        case 200...399, 404, 410: true
        default: false
        }
    }
}
