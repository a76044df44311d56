import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// What the rules want checked of a response, and what follows when it is found wanting.
extension Exchange {
    /// What the rules want checked of this response, where one says so.
    package var validation: ValidationPlan? { matched.validation }

    func validateHead() -> ValidationFaults {
        // A 304 to the client's own condition brings nothing: what the client has is not judged again.
        guard let validation, response.status != .notModified else { return ValidationFaults() }
        return validation.headChecks.faults(of: response, to: request.method, hasBody: hasResponseContent)
    }

    var checksBody: Bool { obligations.checksBody && hasResponseContent }

    private var hasResponseContent: Bool {
        request.method != .head && upstream.body != .none && upstream.body != .known(0)
    }

    mutating func bodyChecked(
        _ outcome: BodyCheckOutcome, length: UInt64?, at now: Timestamp, into commands: inout CommandBuffer
    ) {
        upstream.wholeLength = length
        let passesOversize = outcome == .tooLarge && validation?.oversize == .pass
        if outcome != .passed, !passesOversize {
            trace.findings.insert(outcome)
            guard finishValidation(at: now, into: &commands) else { return }
        }
        let refusal: StorageRefusal? = outcome == .passed && trace.findings.isEmpty ? nil : .validation
        if transformsBody { return deliverTransformed(keptOutBy: refusal, length: length, at: now, into: &commands) }
        deliverRelayed(at: now, isChecked: true, keptOutBy: refusal, into: &commands)
    }

    /// Carries out what the rule says about a response that was found wanting.
    /// - Returns: whether the response is passed on all the same.
    mutating func finishValidation(at now: Timestamp, into commands: inout CommandBuffer) -> Bool {
        guard let validation, let outermost = trace.findings.outermost else { return true }
        switch validation.onFailure {
        case .pass: return true
        case .annotate:
            delivery.isAnnotated = true
            return true
        case .stale:
            // The rule's word holds before the client's, as it does for a policy.
            if let stored = cache.selected,
                let decision = Reuse.staleInsteadOfRefused(
                    stored.facts, for: directives, overrides: obligations.cache, at: now)
            {
                trace.reuse = decision
                trace.fault = Fault(outermost)
                deliverStale(discardingBody: true, into: &commands)
                return false
            }
        case .block: break
        }
        commands.append(.discardUpstreamBody)
        fail(Fault(outermost), at: now, into: &commands)
        return false
    }
}
