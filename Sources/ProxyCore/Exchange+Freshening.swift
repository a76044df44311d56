import HTTPCaching
import HTTPMessage

/// What a 304 to a condition of ours, or a 200 to HEAD, says of what is stored (RFC 9111 §4.3.4, §4.3.5).
extension Exchange {
    /// Brings up to date what the 304 speaks of, and answers with it.
    mutating func freshen(_ asked: StoredResponse, at now: Timestamp, into commands: inout CommandBuffer) {
        commands.append(.discardUpstreamBody)
        let identified = Freshening.identified(by: response, among: selectable(asked), asked: asked)
        guard let newest = identified.first else { return fetchAgain(at: now, into: &commands) }
        // Last, so that it stands before the others where two have come to the same variant.
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

    /// The origin has answered a condition of the client's with 304: what is stored in part is brought up to date by it.
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

    /// What a 200 to HEAD tells of each stored response to GET that could have been selected for it.
    mutating func updateByHEAD(at now: Timestamp, into commands: inout CommandBuffer) {
        for stored in selectable(nil).reversed() + selectablePartials.map(\.response) {
            let effect = Freshening.effect(
                ofHEAD: response, on: stored, request: request, overrides: obligations.cache, secondary: secondaryKey,
                targets: context.targets, requestTime: upstream.requestTime, responseTime: now)
            switch effect {
            case .freshened(let new):
                // Its body came under the policy that it came under, whoever spoke of it now.
                changes.freshened.append(
                    StoreChanges.Freshened(old: stored, new: new.withTrust(policyMark: stored.facts.trust, chain: stored.chain)))
            case .outdated: changes.removed.append(stored)
            case .none: break
            }
        }
        changeStored(into: &commands)
    }

    /// Those that this request could be answered with, newest first.
    ///
    /// The one that was asked about is among them whatever became of the request since: a validation for nobody leaves fields out.
    func selectable(_ asked: StoredResponse?) -> [StoredResponse] {
        found.siblings.filter { $0 === asked || Vary.matches($0.nominatedFields, request.fields, secondaryKey) }
    }

    var selectablePartials: [PartialResponse] {
        found.partials.filter { Vary.matches($0.response.nominatedFields, request.fields, secondaryKey) }
    }

    func outcome(for stored: StoredResponse, at now: Timestamp) -> FresheningOutcome {
        let outcome = Freshening.freshened(
            stored, by: response, request: request, overrides: obligations.cache, secondary: secondaryKey,
            targets: context.targets, requestTime: upstream.requestTime, responseTime: now)
        // Whoever has just been judged says that it holds.
        return switch outcome {
        case .freshened(let new): .freshened(withTrust(new))
        case .usedOnce(let once, let refusal): .usedOnce(withTrust(once), refusal)
        case .usedAndRemoved(let once, let refusal): .usedAndRemoved(withTrust(once), refusal)
        }
    }

    private func withTrust(_ response: StoredResponse) -> StoredResponse {
        response.withTrust(policyMark: upstream.trust, chain: upstream.chain)
    }

    private mutating func use(_ once: StoredResponse, keptOutBy refusal: StorageRefusal) {
        trace.storage = .refused(refusal)
        cache.selected = once
    }

    private func changeStored(into commands: inout CommandBuffer) {
        if !changes.freshened.isEmpty { commands.append(.freshen) }
        if !changes.removed.isEmpty { commands.append(.remove) }
    }

    /// The 304 speaks of another representation: the request goes out again, without conditions of ours. What is stored is not what the
    /// origin server has, so it stands in for nothing, and a failure is one to validate it (RFC 9111 §5.2.2.2).
    private mutating func fetchAgain(at now: Timestamp, into commands: inout CommandBuffer) {
        cache.selected = nil
        cache.isValidating = false
        cache.failsValidation = true
        fetch(at: now, into: &commands)
    }
}
