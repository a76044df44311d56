import AuditLog
import EventLoop
import HTTPMessage
import ProxyCore
import ProxyPolicy
import ServerTrust
import TextCoding

/// The requests that wait for an approver, on all loops, and the answers that apply until Larder stops.
///
/// A request is removed under the lock by the first of: an answer, its deadline, its client's end, and the stop of the server. Only the
/// side that has removed it reports an outcome, so each request has one outcome.
package final class Approvals: Sendable {
    /// How a request stopped waiting, for metrics and for the audit log.
    package enum Ending: String, CaseIterable, Sendable {
        case allowed, denied
        case timedOut = "timed_out"
        case clientGone = "client_gone"
        case stopped
        /// The request did not wait, because too many others did.
        case queueFull = "queue_full"
        /// The request did not wait, because an earlier answer applies.
        case remembered
        /// The request did not wait, because nobody can answer for this Larder.
        case noApprover = "no_approver"
    }

    /// Whether a request waits.
    enum Start {
        case waits
        case answered(ApprovalAnswer)
    }

    private struct Entry: Sendable {
        let request: HeldRequest
        let reply: Reply<ApprovalAnswer>
    }

    private struct State: Sendable {
        var entries: [UInt64: Entry] = [:]
        /// The number of requests that are about to be added, and the bytes of these and of `entries`.
        var startingCount = 0
        var byteCount = 0
        /// Earlier answers by the name of the rule that asked.
        var remembered: [String: [PolicyRule]] = [:]
        var compiled: [String: PolicyRuleSet] = [:]
        var endings: [Ending: UInt64] = [:]
        var isStopped = false
        var listener: (@Sendable (HeldRequest) -> Void)?

        mutating func note(_ ending: Ending) { endings[ending, default: 0] += 1 }

        mutating func remove(_ id: UInt64, _ ending: Ending) -> Entry? {
            guard let entry = entries.removeValue(forKey: id) else { return nil }
            byteCount -= entry.request.byteCount
            note(ending)
            return entry
        }
    }

    private let state = Guarded(State())
    private let auditLog: AuditLog?

    init(_ auditLog: AuditLog?) { self.auditLog = auditLog }

    /// Calls `listener` with each new question, on any thread. The listener must return at once.
    package func tell(_ listener: @escaping @Sendable (HeldRequest) -> Void) { state.withLock { $0.listener = listener } }

    // MARK: Waiting

    /// The rules that earlier answers to questions of this rule have made; `nil` if there are none.
    func remembered(of rule: String) -> PolicyRuleSet? { state.withLock { $0.compiled[rule] } }

    /// Notes a request that did not wait.
    func noteUnasked(_ ending: Ending) { state.withLock { $0.note(ending) } }

    /// Adds a request, if it may wait. `reply` gets the answer.
    func ask(_ request: HeldRequest, _ limits: ProxyLimits, _ reply: Reply<ApprovalAnswer>) -> Start {
        let size = request.byteCount
        let refusal = state.withLock { state -> StaticToken? in
            if state.isStopped {
                state.note(.stopped)
                return "stopping"
            }
            guard state.entries.count + state.startingCount < limits.heldRequests, state.byteCount + size <= limits.heldBytes
            else {
                state.note(.queueFull)
                return "queue_full"
            }
            state.startingCount += 1
            state.byteCount += size
            return nil
        }
        if let refusal { return .answered(.refused(reason: refusal)) }
        // The question is noted before an approver can see the request, so that its line precedes the line of the answer.
        noteAsked(request)
        let (isStopped, listener) = state.withLock { state in
            state.startingCount -= 1
            if state.isStopped {
                state.byteCount -= size
                state.note(.stopped)
            } else {
                state.entries[request.id] = Entry(request: request, reply: reply)
            }
            return (state.isStopped, state.listener)
        }
        if isStopped {
            noteEnded(request, .stopped)
            return .answered(.refused(reason: "stopping"))
        }
        listener?(request)
        return .waits
    }

    /// Ends the wait of a request without an answer.
    /// - Returns: whether the request was waiting. If not, its answer is already on its way.
    func end(_ id: UInt64, _ ending: Ending) -> Bool {
        guard let entry = state.withLock({ $0.remove(id, ending) }) else { return false }
        noteEnded(entry.request, ending)
        return true
    }

    /// Denies all requests that wait, and all later ones.
    func stop() {
        let entries = state.withLock { state in
            state.isStopped = true
            return Array(state.entries.keys).compactMap { state.remove($0, .stopped) }
        }
        for entry in entries.sorted(by: { $0.request.askedAt < $1.request.askedAt }) {
            noteEnded(entry.request, .stopped)
            entry.reply.send(.refused(reason: "stopping"))
        }
    }

    /// Forgets the answers to questions of rules that no longer exist.
    func keepOnly(rulesOf ruleSet: PolicyRuleSet) {
        let names = Set(ruleSet.rules.lazy.filter { $0.asks }.map(\.name))
        state.withLock { state in
            state.remembered = state.remembered.filter { names.contains($0.key) }
            state.compiled = state.compiled.filter { names.contains($0.key) }
        }
    }

    // MARK: Approvers

    /// The requests that wait, in the order of their questions.
    package var waiting: [HeldRequest] {
        state.withLock { $0.entries.values.map(\.request) }
            .sorted { ($0.askedAt.milliseconds, $0.id) < ($1.askedAt.milliseconds, $1.id) }
    }

    package func waiting(_ id: UInt64) -> HeldRequest? { state.withLock { $0.entries[id]?.request } }

    /// How requests stopped waiting, since the start.
    package var counts: (waiting: Int, endings: [Ending: UInt64]) { state.withLock { ($0.entries.count, $0.endings) } }

    /// Applies an answer to a request that waits. The first answer counts.
    package func answer(_ id: UInt64, _ answer: ApproverAnswer, _ limits: ProxyLimits) -> ApproverAnswer.Outcome {
        let (outcome, entry) = state.withLock { state -> (ApproverAnswer.Outcome, Entry?) in
            guard let request = state.entries[id]?.request else { return (.notHeld, nil) }
            if answer.lifetime != .once {
                guard let match = request.scopes[answer.scope] else { return (.onlyOnce, nil) }
                guard state.remembered.values.reduce(0, { $0 + $1.count }) < limits.rememberedAnswers else {
                    return (.tooMany, nil)
                }
                let rules = state.remembered[request.rule, default: []] + [match.rule(named: request.rule, allows: answer.allows)]
                state.remembered[request.rule] = rules
                state.compiled[request.rule] = PolicyRuleSet(rules: rules).under(EgressTerms(.deny))
            }
            return (.done(request), state.remove(id, answer.allows ? .allowed : .denied))
        }
        guard let entry else { return outcome }
        noteEnded(
            entry.request, answer.allows ? .allowed : .denied,
            [
                ("approver", .string(answer.approver)), ("for", .string(answer.lifetime.rawValue)),
                ("scope", .string(answer.scope.rawValue)),
            ])
        entry.reply.send(answer.allows ? .allowed : .refused(reason: "denied"))
        return outcome
    }

    // MARK: The audit log

    private func noteAsked(_ request: HeldRequest) {
        guard let auditLog else { return }
        var members: [(String, JSONText)] = [
            ("id", .string(Hexadecimal.encode(padded: request.id))), ("client", .string(request.client)),
            ("method", .string(request.method)), ("url", .string(request.url)), ("rule", .string(request.rule)),
            ("until", .string(RFC3339Time.text(request.deadline))),
        ]
        if !request.user.isEmpty { members.append(("user", .string(request.user))) }
        auditLog.note(.asked, at: request.askedAt, members)
    }

    private func noteEnded(_ request: HeldRequest, _ ending: Ending, _ members: [(String, JSONText)] = []) {
        guard let auditLog else { return }
        let allows = ending == .allowed || ending == .timedOut && request.question.allowsOtherwise
        auditLog.note(
            .answered,
            [
                ("id", .string(Hexadecimal.encode(padded: request.id))), ("rule", .string(request.rule)),
                ("verdict", .string(allows ? "allowed" : "denied")), ("ending", .string(ending.rawValue)),
            ] + members)
    }
}

extension ProxyServer {
    /// The requests that wait for an approver.
    package var approvals: Approvals { shared.approvals }

    /// Whether a rule asks an approver.
    package var asksApprovers: Bool { shared.current.context.rules.asks }

    package func answer(_ id: UInt64, _ answer: ApproverAnswer) -> ApproverAnswer.Outcome {
        shared.approvals.answer(id, answer, shared.current.settings.proxyLimits)
    }
}
