import HTTPMessage
import ProxyPolicy

// MARK: Stored responses of denied requests

/// How Larder answers requests that the rules deny, if `stored: serve` is set. It answers them as in a mode that forwards nothing. If
/// neither a recording nor the store has a response, the denial is the answer.
extension Exchange {
    /// Continues a denied request without forwarding it, if the settings or the rule that denies it allow that.
    mutating func servesOnlyStored(insteadOf fault: Fault) -> Bool {
        let rule = fault == .deniedByRule ? matched.denyingRule : nil
        let use = rule?.deniedUse ?? (context.rules.egress.servesStored ? .serve : .deny)
        if case .deny = use { return false }
        // A denied CONNECT is not continued, because no tunnel can be stored. A switch of protocols would have to be forwarded, so it is
        // denied later.
        if case .connect = request.method { return false }
        var others = MatchedRules()
        let verdict = context.rules.match(request, facts(for: context.rules), into: &others, ignoresDenials: true)
        if case .allow(let entailed) = verdict {
            // A response that is stored for the https URL is not a response of a denied http URL.
            if entailed.upgradesToTLS, case .http = request.target.scheme, !matched.isOfUpgradedURL { return false }
            obligations = entailed
        }
        incoming.denial = Denial(fault, matched)
        matched = others
        context.complete(&obligations.cache)
        let isReplayed = mode == .replay || mode == .recordMissing
        obligations.mode = isReplayed ? .replay : .offline
        applyMode()
        return true
    }

    /// The fault to report to the client. If no response was found for a denied request, this is the denial.
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

// MARK: Tunnels

/// The rules' decision about a tunnel, after a CONNECT or a switch of protocols. Settings may be reloaded after the request, before or
/// while its tunnel is open.
extension Exchange {
    /// Why the rules permit no connection for a tunnel, even if the active mode forwards requests; `nil` if they permit one.
    package var tunnelFault: Fault? {
        if obligations.tunnel == .inspectedOnly, !reportsUnlisted { return .egressDenied }
        if needsApproval { return .approvalDenied(reason: "tunnel") }
        if obligations.limitsContent { return .contentHidden }
        return obligations.mode != nil && mode.isClosed ? .offlineMiss(detail: "tunnel") : nil
    }

    /// Whether the ClientHello in the tunnel must name the host, because the rules allow a tunnel to this host only.
    package var tunnelNeedsName: Bool { obligations.tunnel == .named && !reportsUnlisted }

    /// Whether a rule allows a tunnel for any protocol (`tunnel: any`).
    package var tunnelIsForAnyProtocol: Bool { obligations.tunnel == .any && context.rules.egress.default == .deny }

    /// Evaluates the request again if these settings differ from those under which it was evaluated. From then on, `tunnelFault` and
    /// `tunnelNeedsName` follow the new settings.
    /// - Returns: why the new settings deny the request; `nil` if they do not.
    package mutating func renewVerdict(under active: ExchangeContext) -> Fault? {
        if active === context { return nil }
        if trace.isUpgraded {
            // The request was upgraded, so the connection is to its https URL. The rules also decide on the URL that the client sent.
            if case .allow = active.rules.match(request, facts(for: active.rules), into: &matched) {
            } else {
                return renewedFault(on: request, under: active)
            }
            var sent = request
            _ = sent.target.downgrade()
            return renewedFault(on: sent, under: active)
        }
        if case .connect = request.method, !active.tunnelPorts.allows(request.target.port) { return .portNotAllowed }
        return renewedFault(on: request, under: active)
    }

    private mutating func renewedFault(on request: RequestHead, under active: ExchangeContext) -> Fault? {
        switch active.rules.match(request, facts(for: active.rules), into: &matched) {
        case .allow(let entailed):
            obligations.tunnel = entailed.tunnel
            obligations.mode = entailed.mode
            obligations.limitsContent = entailed.limitsContent
            obligations.asks = entailed.asks
            return nil
        case .deny: return .deniedByRule
        case .unlisted: return .egressDenied
        case .ambiguousPath: return .ambiguousPath
        }
    }
}

// MARK: Limits

/// The limits of the rules that match a request. The driver keeps the counts, which all loops share, and reports the requests that a limit
/// refuses.
extension Exchange {
    mutating func countRequest(at now: Timestamp, into commands: inout CommandBuffer) {
        if case .known(let length) = incoming.body, let refusal = refusal(of: length, .requestBody) {
            return fail(by: refusal, at: now, into: &commands)
        }
        state = .counting
        commands.append(.countRequest)
    }

    mutating func requestCounted(_ refusal: LimitRefusal?, at now: Timestamp, into commands: inout CommandBuffer) {
        if let refusal { return fail(by: refusal, at: now, into: &commands) }
        if isBackground { return fetchInBackground(at: now, into: &commands) }
        receiveCounted(at: now, into: &commands)
    }

    private mutating func fail(by refusal: LimitRefusal, at now: Timestamp, into commands: inout CommandBuffer) {
        note(refusal)
        fail(.limitReached(refusal.word), at: now, into: &commands)
    }

    /// Notes the limit that ends the request, or that cuts its response.
    mutating func note(_ refusal: LimitRefusal) {
        incoming.limitRefusal = refusal
        // Report mode lists only requests that are forwarded, and this request is not.
        if state != .delivering { trace.reported = nil }
        trace.decidingRule = (0..<matched.count).first { matched[$0].name == refusal.rule }.map { UInt32($0) }
        // A stored response must not replace a response that a rule's limit forbids.
        if state != .delivering { cache.selected = nil }
    }

    /// The amounts that the request counts under the limits of its rules. Empty if no limit needs a count.
    package func limitDemands(client: IPAddress) -> [LimitDemand] {
        matched.limits.filter(\.limit.counts).map { rule, limit in
            let subject: [UInt8] =
                switch limit.scope {
                case .rule, .run: []
                case .client: Self.counted(client)
                case .user: incoming.sender?.user ?? []
                case .host: countedHost
                }
            return LimitDemand(rule: rule, limit: limit, subject: subject)
        }
    }

    /// A host has a /64 of IPv6 addresses to itself, and may send each request from a different address (RFC 7934, RFC 8981). So all
    /// addresses of a /64 share a count.
    private static func counted(_ client: IPAddress) -> [UInt8] {
        let address = client.unmapped
        guard address.family == .ipv6, let network = AddressRange(base: address, prefixLength: 64) else {
            return Array(address.description.utf8)
        }
        return Array(network.description.utf8)
    }

    /// The count does not depend on the spelling: a host has one count with and without a final dot, and an address has one count in all
    /// its forms.
    private var countedHost: [UInt8] {
        var host = originHost
        if let address = IPAddress(asLookedUp: host.span) { return Array(HostPattern.canonical(address).description.utf8) }
        if host.count > 1, host.last == UInt8(ascii: ".") { host.removeLast() }
        return host
    }

    /// Whether content of this length is longer than a rule permits; the refusal names the rule with the lowest limit.
    package func refusal(of length: UInt64, _ word: RuleLimit.Word) -> LimitRefusal? {
        let limits = matched.limits.compactMap { rule, limit in limit.most(word).map { (rule: rule, limit: limit, most: $0) } }
        guard let lowest = limits.min(by: { $0.most < $1.most }), length > lowest.most else { return nil }
        return LimitRefusal(rule: lowest.rule, word: word, limit: lowest.limit)
    }

    /// Whether a matching rule has a limit of this kind.
    package func hasLimit(_ word: RuleLimit.Word) -> Bool { matched.limits.contains { $0.limit.most(word) != nil } }

    /// The limits for a response from the origin also apply to a stored or recorded one. The limits count the content to deliver, which may
    /// be a part.
    /// - Returns: `true` if the request has been answered with an error.
    @inline(never)
    mutating func refusesDelivery(into commands: inout CommandBuffer) -> Bool {
        guard obligations.limits, request.method != .head, case .known(let length) = delivery.length,
            let refusal = refusal(of: length, .responseBody)
        else { return false }
        fail(by: refusal, at: trace.receivedAt, into: &commands)
        return true
    }

    /// The rule whose limit ended the request, or that asked an approver, with the words of the rule, for the error response.
    var limitingRule: (name: String, limit: String)? {
        switch trace.fault {
        case .limitReached: incoming.limitRefusal.map { ($0.rule, "limit: {\($0.limit)}") }
        case .approvalDenied:
            matched.askingRule.map { ($0.name, "ask: {\(question.description)}") }
        case .contentHidden:
            matched.limits.first { $0.limit.needsContent }.map { rule, limit in
                let word = RuleLimit.Word.allCases.first { limit.most($0) != nil } ?? .requestBody
                return (rule, "limit: {\(limit.description(of: word))}")
            }
        default: nil
        }
    }
}

// MARK: Report mode and the shadow policy

extension Exchange {
    /// Evaluates the request by the rules of the shadow policy too. The shadow's verdict is only reported.
    mutating func compareVerdicts(_ active: Verdict, _ shadow: PolicyRuleSet) {
        if isPurge { return }
        var matched = MatchedRules()
        let verdict = shadow.match(request, facts(for: shadow), into: &matched)
        guard case .connect = request.method else { return note(active.word, verdict.word, verdict, matched) }
        note(active.wordOfConnect, verdict.wordOfConnect, verdict, matched)
    }

    private mutating func note(_ active: DenialWord, _ word: DenialWord, _ verdict: Verdict, _ matched: MatchedRules) {
        trace.shadow = nil
        // If both policies let Larder intercept a tunnel, they are compared for each request in it. If Larder does not intercept it,
        // they are compared again when it opens.
        guard word != active, word.isDenied || active.isDenied else { return }
        var index: Int?
        switch verdict {
        case .allow(let obligations): if case .rule(let place) = obligations.reported { index = Int(place) }
        case .deny: index = matched.count - 1
        case .unlisted, .ambiguousPath: break
        }
        trace.shadow = ShadowDifference(
            active: active, shadow: word, shadowRule: index.map { UInt32(matched.number(at: $0)) })
    }

    /// Compares the policies for a CONNECT that Larder does not intercept. A policy that looks at the requests inside a tunnel denies such
    /// a CONNECT.
    private mutating func compareTunnels(_ shadow: PolicyRuleSet) {
        var matched = MatchedRules()
        let verdict = shadow.match(request, facts(for: shadow), into: &matched)
        let active = trace.reported?.word ?? (obligations.tunnel == .inspectedOnly ? .egressDenied : .allowed)
        note(active, verdict.wordOfTunnel, verdict, matched)
    }

    /// The rule that would allow a request that only report mode forwards, as JSON; otherwise empty.
    package var suggestionForReport: String {
        trace.reported == .unlisted && context.rules.egress.suggests ? SuggestedRule.text(allowing: request) : ""
    }

    /// The name of the shadow policy's rule that denies the request; empty if no rule does.
    package var shadowRuleName: String {
        guard let number = trace.shadow?.shadowRule, let shadow = context.shadow else { return "" }
        return shadow.rules[Int(number)].name
    }

    /// Reports the opening of a tunnel, if only report mode allows it or if the shadow policy differs.
    mutating func noteTunnelOpens() {
        if obligations.tunnel == .inspectedOnly, reportsUnlisted, trace.reported == nil { trace.reported = .unlisted }
        if let shadow = context.shadow { compareTunnels(shadow) }
    }

    var reportsUnlisted: Bool { context.rules.egress.enforcement == .report }
}

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

// MARK: - The way to the origin

extension Exchange {
    /// Whether the request has credentials, so that Larder itself verifies the origin that gets them.
    package var hasCredentials: Bool { request.fields.contains(.authorization) || request.fields.contains(.cookie) }

    /// The way on which the request would be sent; `nil` if that is not known.
    package func routeSummary(at now: Timestamp) -> RouteSummary? {
        context.routeSummary?(
            RouteSummary.Question(
                isSecure: request.target.scheme == .https, host: String(decoding: originHost, as: UTF8.self), port: originPort,
                key: routeKey, isTunnel: request.target.form == .authority, hasCredentials: hasCredentials,
                now: now, choice: matched.upstream))
    }

    /// The text by whose hash parents share the requests: the cache key, or the target of a request that has no key.
    package var routeKey: [UInt8] {
        if !key.isEmpty { return key }
        let target = request.span(of: request.rawTarget)
        return (0..<target.count).map { target[$0] }
    }
}
