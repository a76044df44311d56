import HTTPCaching
import HTTPMessage

/// What becomes of a request that goes to the origin: the fetch, its response, its failure.
extension Exchange {
    mutating func fetch(at now: Timestamp, into commands: inout CommandBuffer) {
        requestTime = now
        state = .fetching
        commands.append(.fetch)
    }

    mutating func receiveResponse(at now: Timestamp, into commands: inout CommandBuffer) {
        if !request.method.isSafe { invalidate(into: &commands) }
        if isValidating, response.status == .notModified, let stored = selected {
            return freshen(stored, at: now, into: &commands)
        }
        trace.findings = validateHead()
        if !trace.findings.isEmpty, !finishValidation(at: now, into: &commands) { return }
        if checksBody, !trace.findings.contains(.unacceptableContentType) {
            state = .checking
            return commands.append(.checkBody)
        }
        deliverRelayed(at: now, isChecked: false, mayStore: trace.findings.isEmpty, into: &commands)
    }

    mutating func deliverRelayed(
        at now: Timestamp, isChecked: Bool, mayStore: Bool, into commands: inout CommandBuffer
    ) {
        let stores = decideStorage(mayStore: mayStore, at: now)
        if isLeading, !stores { commands.append(.releaseJoined) }
        trace.outcome = outcomeOfForwarding
        if isChecked, let gatheredLength {
            delivery.chooseGathered(response, whole: gatheredLength, for: request)
        } else {
            delivery.chooseRelayed(response, body: responseBody)
        }
        trace.status = delivery.status.code
        selected = nil
        state = .delivering
        commands.append(isChecked ? .sendChecked(store: stores) : .relay(store: stores))
    }

    private mutating func decideStorage(mayStore: Bool, at now: Timestamp) -> Bool {
        guard mayStore else {
            trace.storage = .doNotStore(.validation)
            return false
        }
        let decision = Storability.decide(
            request: request, response: response, overrides: obligations.cache, secondary: secondaryKey, requestTime: requestTime,
            responseTime: now)
        trace.storage = decision
        guard case .store(let facts, _) = decision else { return false }
        let body = gatheredLength.map { .known($0) } ?? responseBody
        if let limit = obligations.cache.maximumBodyLength, case .known(let length) = body, length > limit {
            trace.storage = .doNotStore(.bodyTooLarge)
            return false
        }
        self.facts = facts
        return true
    }

    private mutating func freshen(_ stored: StoredResponse, at now: Timestamp, into commands: inout CommandBuffer) {
        let outcome = Freshening.freshened(
            stored, by: response, request: request, overrides: obligations.cache, secondary: secondaryKey,
            requestTime: requestTime,
            responseTime: now)
        commands.append(.discardUpstreamBody)
        switch outcome {
        case .freshened(let fresh):
            freshenedFrom = stored
            selected = fresh
            commands.append(.freshen)
        case .usedOnce(let once, let refusal):
            trace.storage = .doNotStore(refusal)
            selected = once
        case .usedAndRemoved(let once, let refusal):
            trace.storage = .doNotStore(refusal)
            removed = stored
            selected = once
            commands.append(.remove)
        case .notIdentified:
            // The 304 speaks of another representation: the request goes out again, without conditions of ours.
            selected = nil
            isValidating = false
            return fetch(at: now, into: &commands)
        }
        if isLeading { commands.append(.releaseJoined) }
        deliverSelected(outcome: .revalidated, into: &commands)
    }

    mutating func upstreamFailed(_ fault: Fault, at now: Timestamp, into commands: inout CommandBuffer) {
        // A stored response stands in for an origin that cannot be asked (RFC 9111 §4.2.4), never for one that may not be.
        if fault.permitsStale, let stored = selected,
            let decision = Reuse.staleAfterFailure(stored.facts, for: directives, overrides: obligations.cache, at: now)
        {
            trace.reuse = decision
            trace.fault = fault
            return deliverStale(discardingBody: false, into: &commands)
        }
        fail(fault, at: now, into: &commands)
    }

    mutating func deliverStale(discardingBody: Bool, into commands: inout CommandBuffer) {
        if discardingBody { commands.append(.discardUpstreamBody) }
        if isLeading { commands.append(.releaseJoined) }
        deliverSelected(outcome: .staleHit, into: &commands)
    }

    private mutating func invalidate(into commands: inout CommandBuffer) {
        noteInvalidatedKeys()
        if !invalidatedKeys.isEmpty { commands.append(.invalidate) }
    }

    private var outcomeOfForwarding: DecisionTrace.Outcome {
        if isValidating { return .refreshed }
        guard request.method == .get || request.method == .head || isKeyedByContent else { return .bypass }
        return .miss
    }
}
