import HTTPMessage
import ProxyPolicy

/// Requests that wait for an approver, because a rule has `ask`. The driver has the question, which all loops share, and brings the answer.
///
///     idle, counting ──▶ awaitingApproval ──allowed──▶ as from idle
///     connecting (a tunnel that is not intercepted) ──▶ awaitingApproval ──allowed──▶ connecting
///     lookingUpRecording (mode record_missing, not recorded) ──▶ awaitingApproval ──allowed──▶ fetching
///     awaitingApproval ──refused, overruled──▶ delivering (403)
///
/// An answer replaces no other decision: trust, pins and the address policy apply to an allowed request like to any other.
extension Exchange {
    /// Whether an approver has to allow the request before it is forwarded.
    package var needsApproval: Bool { obligations.asks && incoming.approval != .given }

    /// Counts the request, or asks an approver. Called for a request that has to wait for one of them.
    @inline(never)
    mutating func hold(at now: Timestamp, into commands: inout CommandBuffer) {
        if obligations.limits { return countRequest(at: now, into: &commands) }
        receiveCounted(at: now, into: &commands)
    }

    /// Continues with a request that the limits permit.
    mutating func receiveCounted(at now: Timestamp, into commands: inout CommandBuffer) {
        if asksAtOnce { return askApprover(at: now, into: &commands) }
        receivePermitted(at: now, into: &commands)
    }

    /// Whether an approver is asked now. A tunnel is held only if it is not intercepted, which is not known yet. A mode that forwards
    /// nothing needs no approver, and a mode that forwards only what is not recorded asks after the look-up.
    private var asksAtOnce: Bool {
        guard needsApproval else { return false }
        if case .connect = request.method { return false }
        if mode == .recordMissing { return asksForSwitch() }
        if !mode.isClosed { return true }
        // In mode `auto`, requests to this machine are forwarded even without a network.
        return context.sparesThisMachine && obligations.mode == nil
            && LoopbackHost.isMeant(by: request.span(of: request.target.host))
    }

    /// Whether an approver is asked before a request is forwarded because it is not recorded.
    var asksBeforeFetch: Bool { mode == .recordMissing && needsApproval }

    mutating func askApprover(beforeFetch isContentHeld: Bool? = nil, at now: Timestamp, into commands: inout CommandBuffer) {
        if let isContentHeld { incoming.approval = isContentHeld ? .beforeFetch : .beforeStreamedFetch }
        trace.decidingRule = matched.askingIndex.map { UInt32($0) }
        state = .awaitingApproval
        commands.append(.askApprover)
    }

    mutating func approvalAnswered(_ answer: ApprovalAnswer, at now: Timestamp, into commands: inout CommandBuffer) {
        switch answer {
        case .refused(let reason): return fail(.approvalDenied(reason: reason), at: now, into: &commands)
        case .overruled(let fault):
            trace.decidingRule = nil
            return fail(fault, at: now, into: &commands)
        case .allowed: break
        }
        let asked = incoming.approval
        incoming.approval = .given
        if case .connect = request.method {
            state = .connecting
            return commands.append(.openTunnel)
        }
        switch asked {
        case .beforeFetch, .beforeStreamedFetch:
            fetchRecorded(isContentHeld: asked == .beforeFetch, at: now, into: &commands)
        case .none, .given: receivePermitted(at: now, into: &commands)
        }
    }

    /// How long the request waits, and what happens then.
    package var question: RuleQuestion { matched.askingRule?.question ?? RuleQuestion() }

    /// The name of the rule that asks.
    package var askingRuleName: String { matched.askingRule?.name ?? "" }

    /// Why other settings, which became active while the request waited, deny it; `nil` if they do not.
    package func fault(under active: ExchangeContext) -> Fault? {
        if active === context { return nil }
        var matched = MatchedRules()
        if case .connect = request.method, !active.tunnelPorts.allows(request.target.port) { return .portNotAllowed }
        var sent = request
        // Larder also evaluated the URL that the client sent, before a rule upgraded it.
        if trace.isUpgraded { _ = sent.target.downgrade() }
        switch active.rules.match(sent, facts(for: active.rules), into: &matched) {
        case .allow: return nil
        case .deny: return .deniedByRule
        case .unlisted: return .egressDenied
        case .ambiguousPath: return .ambiguousPath
        }
    }

    /// What earlier answers of approvers, as rules, say about the request: whether it is allowed; `nil` if they say nothing.
    package func answer(by remembered: PolicyRuleSet) -> Bool? {
        var matched = MatchedRules()
        switch remembered.match(request, facts(for: remembered), into: &matched) {
        case .allow: return true
        case .deny: return false
        case .unlisted, .ambiguousPath: return nil
        }
    }

    /// The rules that an answer for more than this request makes.
    package var answerScopes: ApprovalScopes { ApprovalScopes(request, user: incoming.sender?.user ?? []) }
}
