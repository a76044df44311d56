import HTTPMessage
import ProxyPolicy

/// Why the rules deny a request that may get a recorded or stored response.
package final class Denial: Sendable {
    package let fault: Fault
    /// The rules that matched, with the one that denies.
    let matched: MatchedRules

    init(_ fault: Fault, _ matched: MatchedRules) {
        self.fault = fault
        self.matched = matched
    }
}

/// Requests that the rules deny, with `stored: serve`: they are answered as in a mode that forwards nothing, and where neither a
/// recording nor the store has a response, by the denial.
extension Exchange {
    /// Continues a denied request without forwarding it, if the settings or the rule that denies it allow that.
    mutating func servesOnlyStored(insteadOf fault: Fault) -> Bool {
        let use = matched.denyingRule?.deniedUse ?? (context.rules.egress.servesStored ? .serve : .deny)
        if case .deny = use { return false }
        // No tunnel can be stored. A switch of protocols would have to be forwarded, so it is denied later.
        if case .connect = request.method { return false }
        incoming.denial = Denial(fault, matched)
        if case .allow(let entailed) = context.rules.match(request, facts(for: context.rules), into: &matched, ignoresDenials: true) {
            obligations = entailed
        }
        context.complete(&obligations.cache)
        let isReplayed = mode == .replay || mode == .recordMissing
        obligations.mode = isReplayed ? .replay : .offline
        applyMode()
        return true
    }

    /// The fault for the client: the denial, if no response was found for a denied request.
    mutating func faultOfDenied(_ fault: Fault) -> Fault {
        guard let denial = incoming.denial else { return fault }
        switch fault {
        case .offlineMiss, .onlyIfCachedMiss: break
        default: return fault
        }
        matched = denial.matched
        trace.reuse = nil
        return denial.fault
    }
}
