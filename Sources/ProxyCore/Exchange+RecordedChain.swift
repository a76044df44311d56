import HTTPCaching
import HTTPMessage

/// What a trust policy says of a chain that was recorded with a stored response.
package enum ChainJudgement: Sendable {
    case accepted
    case refused(TrustRefusal)
    /// Nobody could judge it now.
    case unjudged
}

/// What came under another trust policy than the active one, where the origin cannot be asked: this policy judges the chain that
/// was recorded with it, by the time now. Where the origin can be asked, it is asked (`trustChanged`).
///
///     fetching ──a failure before any head──▶ judging ──accepted──▶ delivering (what is stored, if nothing else is against it)
///     lookingUp ──may not go forward────────▶    └────refused─────▶ delivering (an error that tells why)
extension Exchange {
    /// - Parameters:
    ///   - stored: what would be used, but for its trust policy.
    ///   - fault: what is told where it cannot be used.
    /// - Returns: whether its chain is judged first. It is not where the response could not be used either way.
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
            // In a cache that is disconnected by its settings nothing has failed.
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
}

extension Exchange {
    private func decision(byRecordedChainOf stored: StoredResponse, insteadOf fault: Fault, at now: Timestamp) -> ReuseDecision {
        Reuse.decideByRecordedChain(
            stored.facts, for: directives, overrides: obligations.cache, insteadOf: fault.failure, at: now)
    }
}

extension ReuseDecision {
    fileprivate var isFresh: Bool { if case .fresh = self { true } else { false } }
}
