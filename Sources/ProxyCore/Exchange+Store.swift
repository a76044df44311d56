import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// What is made of what the store has: delivered, validated, completed, or passed over for the origin.
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
            // The answer may speak of those that only the disk has.
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
            // It may still stand in for an origin that fails, unless only the origin can say whether the request is for it.
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

    /// Nothing stored can be used as it is. Only what may be shared and is asked for as a whole is fetched for several at once
    /// (T24).
    mutating func forward(by decision: ReuseDecision, at now: Timestamp, into commands: inout CommandBuffer) {
        trace.reuse = decision
        if let fault = decision.missFault { return fail(fault, at: now, into: &commands) }
        guard RequestCollapsing.mayJoin(request, directives: directives, obligations: obligations, secondaryKey) else {
            return fetch(at: now, into: &commands)
        }
        state = .joining
        commands.append(.joinFetch)
    }

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

    mutating func deliverSelected(
        outcome: DecisionTrace.Outcome, into commands: inout CommandBuffer, command: ExchangeCommand = .sendStored
    ) {
        guard let selected = cache.selected else { return }
        if isBackground { return endBackground(.background, into: &commands) }
        trace.outcome = outcome
        if transformSelected(selected, into: &commands) { return }
        deliverAsItIs(into: &commands, command: command)
    }

    /// The stored response, or what was made of it.
    mutating func deliverAsItIs(into commands: inout CommandBuffer, command: ExchangeCommand = .sendStored) {
        guard let selected = cache.selected else { return }
        delivery.chooseStored(
            selected, length: cache.selectedLength ?? .known(selected.body.length), directives: directives, for: request,
            ignoresDates: transform.source != nil)
        if delivery.multipart != nil { describeParts(of: selected) }
        trace.status = delivery.status.code
        state = .delivering
        commands.append(command)
    }
}
