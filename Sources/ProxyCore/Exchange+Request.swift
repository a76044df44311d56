import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// The request's head has arrived: Larder refuses it, answers it locally, denies it by a rule, or continues with recordings, store or
/// origin.
///
///     idle ──requestHead──▶ authenticating ──accepted──▶ as from idle
///       │                       └──refused, or none that can be read──▶ delivering (407)
///       ├──▶ counting (a rule has a limit) ──requestCounted──▶ as from idle, or delivering (413, 429)
///       ├──▶ awaitingApproval (Exchange+Policy) ──approvalAnswered──▶ as from idle, or delivering (403)
///       ├──▶ gathering (the content is part of the key) ──▶ lookingUp
///       ├──▶ lookingUpRecording (Exchange+Replay)   ├──▶ lookingUp (Exchange+LookUp)
///       └──▶ connecting (CONNECT)   purging (PURGE)   fetching (Upgrade)   delivering (OPTIONS, TRACE, our own pages, errors)
extension Exchange {
    mutating func receiveRequest(at now: Timestamp, into commands: inout CommandBuffer) {
        let options = delivery.readConnection(of: request)
        if let fault = refusal() { return fail(fault, at: now, into: &commands) }
        if incoming.sender?.needsCredentials == true, !isForUs { return askForCredentials(at: now, into: &commands) }
        receiveAdmitted(options, at: now, into: &commands)
    }

    /// Checks whether the request is unusable, before any rule is evaluated.
    ///
    /// The code uses patterns here and in `isAnsweredHere`, because `==` on an enum of another module is a generic call.
    private func refusal() -> Fault? {
        if LoopDetection.isLoop(request, in: context) { return .loop }
        switch request.target.form {
        case .origin: return refusalOfDirectRequest()
        case .absolute, .authority, .asterisk: break
        }
        if context.hostMismatch == .deny, !request.hostFieldMatchesTarget { return .hostMismatch }
        if request.fields.contains(.expect), request.version.isAtLeast11, !Expectation.isContinueOnly(request.fields) {
            return .unknownExpectation
        }
        if let limit = context.limits.requestBodyLength, case .known(let length) = incoming.body, length > limit {
            return .requestBodyTooLarge
        }
        return nil
    }

    /// Whether the request is for Larder's own pages. These need no credentials, and a client that addresses a server sends no proxy
    /// credentials (RFC 9110 §11.7.2).
    private var isForUs: Bool { if case .origin = request.target.form { true } else { false } }

    /// Removes everything but the method from an incomplete head, because the rest consists of offsets into bytes that have not arrived.
    mutating func forgetUnreadRequest() {
        let method = request.method
        request.removeAll()
        request.method = method
    }
}

// MARK: Credentials

/// The client authenticates before anything else happens (RFC 9110 §11.7, RFC 7617).
extension Exchange {
    /// Whether the client's address is needed: for a method that `HTTPMessage` does not know, such as PURGE, or because rules look at the
    /// client.
    package var asksForClient: Bool {
        if context.rules.looksAtClients { return true }
        return if case .other = request.method { true } else { false }
    }

    private mutating func askForCredentials(at now: Timestamp, into commands: inout CommandBuffer) {
        switch request.fields.lineCount(of: .proxyAuthorization) {
        case 0: return fail(.credentialsRequired(reason: "missing"), at: now, into: &commands)
        case 1: break
        // If the request has more than one Proxy-Authorization field, programs may disagree on which field is valid.
        default: return fail(.credentialsRequired(reason: "malformed"), at: now, into: &commands)
        }
        let value = request.fields.first(.proxyAuthorization)?.value ?? .empty
        guard let read = BasicCredentials(request.span(of: value)) else {
            return fail(.credentialsRequired(reason: "malformed"), at: now, into: &commands)
        }
        incoming.credentials = read
        state = .authenticating
        commands.append(.judgeCredentials)
    }

    mutating func credentialsJudged(
        _ judgement: CredentialsJudgement, at now: Timestamp, into commands: inout CommandBuffer
    ) {
        let judged = incoming.credentials
        incoming.credentials = nil
        switch judgement {
        case .accepted:
            if let judged { incoming.sender?.client.user = Array(judged.name) }
            receiveAdmitted(ConnectionOptions(of: request.fields), at: now, into: &commands)
        case .refused: fail(.credentialsRequired(reason: "refused"), at: now, into: &commands)
        case .tooManyAttempts: fail(.tooManyAttempts, at: now, into: &commands)
        case .queueFull: fail(.credentialsQueueFull, at: now, into: &commands)
        }
    }
}

// MARK: Admitted requests

/// The handling of requests of a client that has been admitted.
extension Exchange {
    private mutating func receiveAdmitted(_ options: ConnectionOptions, at now: Timestamp, into commands: inout CommandBuffer) {
        // Proxy-Authorization is only for this proxy: Larder removes it before matching, storing and forwarding.
        if request.fields.contains(.proxyAuthorization) { request.fields.remove(.proxyAuthorization) }
        if isAnsweredHere() {
            trace.outcome = .local
            delivery.chooseGenerated(.ok, closes: false)
            trace.status = 200
            state = .delivering
            return commands.append(.sendLocal)
        }
        // Fields that Connection nominates are not forwarded, so they must not select a response (T18). They are removed before a rule can
        // add fields.
        if options.hasNominations { request.fields.removeNominated() }
        if context.rules.mayConcern(request) || context.shadow != nil, let fault = matchRules(),
            !servesOnlyStored(insteadOf: fault)
        {
            return fail(fault, at: now, into: &commands)
        }
        if obligations.waits, !isPurge { return hold(at: now, into: &commands) }
        receivePermitted(at: now, into: &commands)
    }

    /// Continues with a request that the rules and their limits permit.
    @inline(__always)
    mutating func receivePermitted(at now: Timestamp, into commands: inout CommandBuffer) {
        if context.sparesThisMachine, obligations.mode == nil { spareThisMachine() }
        if case .connect = request.method { return receiveConnect(at: now, into: &commands) }
        // Larder sets a rule's request fields before it computes the key and the directives, so it treats them like the client's fields.
        if obligations.editsRequest { matched.editRequest(&request.fields) }
        directives = RequestDirectives(request)
        if obligations.upgradesToTLS { upgradeToTLS() }
        if case .https = request.target.scheme { requireActiveTrust(at: now) }
        makeKey()
        if case .other = request.method, isPurge { return receivePurge(at: now, into: &commands) }
        if let rule = context.plaintextRule, goesPastPins(rule, at: now) {
            return fail(.plaintextToPinnedHost, at: now, into: &commands)
        }
        if asksForSwitch() { return fetchForSwitch(at: now, into: &commands) }
        if usesRecordings { return gatherForRecordings(at: now, into: &commands) }
        if obligations.rewritesKey, isToBeKeyedByContent {
            if incoming.body != .none, incoming.body != .known(0) {
                state = .gathering
                return commands.append(.gatherRequestBody)
            }
            keyByContent([])
        }
        lookUp(at: now, into: &commands)
    }

    /// Whether Larder itself answers the request. It answers requests for its own pages, and OPTIONS for the server as a whole (RFC 9110
    /// §9.3.7). With Max-Forwards 0, Larder is the final recipient of OPTIONS and TRACE (RFC 9110 §7.6.2).
    private func isAnsweredHere() -> Bool {
        switch request.target.form {
        case .asterisk, .origin: return true
        case .absolute, .authority: break
        }
        switch request.method {
        case .options, .trace: return MaxForwards.value(in: request.fields) == 0
        default: return false
        }
    }

    /// - Returns: why the request is denied; `nil` if it is not.
    private mutating func matchRules() -> Fault? {
        let verdict = context.rules.match(request, facts(for: context.rules), into: &matched)
        if let shadow = context.shadow { compareVerdicts(verdict, shadow) }
        switch verdict {
        case .allow(let entailed):
            if let reported = entailed.reported, !isPurge { trace.reported = reported }
            if matched.isEmpty {
                obligations.tunnel = entailed.tunnel
                return nil
            }
            obligations = entailed
            context.complete(&obligations.cache)
            applyMode()
            return nil
        case .deny: return .deniedByRule
        // A PURGE is not forwarded, so no rule has to allow its host. It also removes stored responses of a host that is no longer allowed.
        case .unlisted: return isPurge ? nil : .egressDenied
        case .ambiguousPath: return isPurge ? nil : .ambiguousPath
        }
    }

    /// The facts about the request, besides its head, that rules can match.
    func facts(for rules: PolicyRuleSet) -> RequestFacts {
        var facts = RequestFacts()
        switch incoming.body {
        case .none: break
        case .known(let length): facts.contentLength = length
        case .unknown: facts.contentLength = nil
        }
        guard rules.looksAtClients else { return facts }
        if let sender = incoming.sender { facts.client = sender.client }
        facts.client.run = context.runName
        return facts
    }

    /// Treats the cache as disconnected, unless the request is for this machine itself, which is reachable even without a network.
    private mutating func spareThisMachine() {
        obligations.cache.isDisconnected = !LoopbackHost.isMeant(by: request.span(of: request.target.host))
    }

    mutating func lookUp(at now: Timestamp, into commands: inout CommandBuffer) {
        if let decision = Reuse.decideBeforeLookUp(for: directives, overrides: obligations.cache) {
            return forward(by: decision, at: now, into: &commands)
        }
        state = .lookingUp
        commands.append(.lookUp(onDisk: false))
    }

    private mutating func receiveConnect(at now: Timestamp, into commands: inout CommandBuffer) {
        guard context.tunnelPorts.allows(request.target.port) else {
            return fail(.portNotAllowed, at: now, into: &commands)
        }
        state = .connecting
        commands.append(.openTunnel)
    }
}

// MARK: Trust

/// Applies the trust policy for the origin, before the key is made.
extension Exchange {
    /// Changes the target to https before the key is made: a response stored for one scheme never answers the other (T19). A PURGE keeps
    /// the URL that it names.
    mutating func upgradeToTLS() {
        if case .other = request.method, isPurge { return }
        trace.isUpgraded = request.target.upgradeToTLS()
    }

    /// Whether this plain-text request, and responses stored from plain text, are forbidden because the host's keys are pinned (T49).
    private mutating func goesPastPins(_ rule: ExchangeContext.PlaintextLookUp, at now: Timestamp) -> Bool {
        guard case .http = request.target.scheme else { return false }
        if let plaintextMemo = memos.plaintext, isFor(plaintextMemo, at: now) { return false }
        let host = originHost
        switch rule(String(decoding: host, as: UTF8.self), originPort, now) {
        case .refused(let refusal):
            upstream.trustRefusal = refusal
            return true
        case .allowed(let until):
            memos.plaintext = OriginMemo(host: host, port: originPort, until: until)
            return false
        }
    }

    private mutating func requireActiveTrust(at now: Timestamp) {
        guard let activeTrust = context.activeTrust else { return }
        if let trustMemo = memos.trust, isFor(trustMemo.origin, at: now) {
            directives.trust = trustMemo.mark
            return
        }
        let host = originHost
        let found = activeTrust(String(decoding: host, as: UTF8.self), originPort, now)
        memos.trust = (OriginMemo(host: host, port: originPort, until: found.until), found.mark)
        directives.trust = found.mark
    }

    /// Whether the remembered origin is the origin of this request. Clients often send several requests to the same origin: this comparison
    /// is then enough, and allocates nothing.
    private func isFor(_ memo: OriginMemo, at now: Timestamp) -> Bool {
        let target = request.target
        return memo.port == target.port && now <= memo.until
            && memo.host.span.equalsIgnoringCase(request.span(of: target.host))
    }
}

// MARK: The key

/// The cache keys of the request, as rewritten by rules.
extension Exchange {
    private mutating func makeKey() {
        guard obligations.rewritesKey, let rewriting = matched.keyRewriting else { return CacheKey.write(request, into: &key) }
        CacheKey.write(request, rewriting, into: &key)
        if let fields = rewriting.fields { secondaryKey = fields }
        if rewriting.changesURI { secondaryKey.rules = context.rules.keyDigest }
    }

    /// Whether a rule makes the request's content part of the key, and whether the content is short enough.
    private var isToBeKeyedByContent: Bool {
        guard let methods = matched.keyRewriting?.bodyMethods else { return false }
        switch request.method {
        case .query where methods.contains(.query): break
        case .post where methods.contains(.post): break
        default: return false
        }
        // Conditional and range requests depend on more than target and content: they are forwarded.
        let isConditional =
            directives.contains(.cacheCondition) || directives.contains(.originCondition) || directives.contains(.range)
        if case .known(let length) = incoming.body, length > UInt64(context.limits.keyedBodyLength) { return false }
        return !isConditional
    }

    mutating func keyByContent(_ content: [UInt8]) {
        directives.keyByContent()
        CacheKey.appendMethod(request.method.name, to: &key)
        secondaryKey.contentDigest = ContentDigest.make(of: content.span, describedBy: request.fields)
    }

    package var isKeyedByContent: Bool { secondaryKey.contentDigest != nil }

    /// Whether the client waits for 100 (Continue) before it sends the content to be gathered (RFC 9110 §10.1.1).
    package var awaitsContinue: Bool { request.fields.contains(.expect) && request.version.isAtLeast11 }

    /// Every key under which the active rules may store responses for these URIs.
    ///
    /// The rules that match a write may differ from those that match the reads whose responses are stored. So the rules are applied to a
    /// read of each URI.
    func keys(forURIsIn plain: [[UInt8]]) -> [[UInt8]] {
        guard context.rules.rewritesKeys || context.rules.upgradesToTLS else { return plain }
        // Responses of a host that is no longer allowed are removed too.
        let rules = context.rules.under(EgressTerms())
        var keys = plain
        for plain in plain {
            for method in [Method.get, .query, .post] {
                guard let request = RequestHead(uri: plain.span, method: method) else { continue }
                var asked = [request]
                // If a rule upgrades plain-text requests, Larder stores their responses under the https URL.
                var plaintext = request
                if rules.upgradesToTLS, plaintext.target.downgrade() { asked.append(plaintext) }
                for key in asked.compactMap({ Self.storingKey(of: $0, by: rules) }) where !keys.contains(key) { keys.append(key) }
            }
        }
        return keys.flatMap(CacheKey.withContentKeys)
    }

    /// The key under which the response is stored because of rules; `nil` if it is the URI.
    private static func storingKey(of asked: RequestHead, by rules: PolicyRuleSet) -> [UInt8]? {
        var request = asked
        var matched = MatchedRules()
        guard case .allow(let obligations) = rules.match(request, into: &matched) else { return nil }
        let isUpgraded = obligations.upgradesToTLS && request.target.upgradeToTLS()
        var key: [UInt8] = []
        if let rewriting = matched.keyRewriting {
            CacheKey.write(request, rewriting, into: &key)
        } else if isUpgraded {
            CacheKey.write(request, into: &key)
        } else {
            return nil
        }
        return key
    }
}

// MARK: Switch of protocols

/// A request to switch protocols (RFC 9110 §7.8) is forwarded to the origin even if a response is stored, and its response is not stored.
extension Exchange {
    func asksForSwitch() -> Bool {
        request.fields.contains(.upgrade) && ProtocolSwitch.isAsked(by: request, body: incoming.body)
    }

    private mutating func fetchForSwitch(at now: Timestamp, into commands: inout CommandBuffer) {
        let decision = Reuse.decideMiss(.upgrade, for: directives, overrides: obligations.cache)
        trace.reuse = decision
        if let fault = decision.missFault { return fail(fault, at: now, into: &commands) }
        if obligations.limitsContent { return fail(.contentHidden, at: now, into: &commands) }
        incoming.isForSwitch = true
        fetch(at: now, into: &commands)
    }
}

// MARK: Purging

/// The method PURGE: an allowed client purges the stored responses of a URL, with all variants, under all keys that rules give it.
extension Exchange {
    /// Whether the method is PURGE. No RFC defines this method; other caches use the same name.
    var isPurge: Bool { request.span(of: request.methodName).equals("PURGE") }

    private mutating func receivePurge(at now: Timestamp, into commands: inout CommandBuffer) {
        if context.purgeClients.isEmpty { return fail(.purgeOff, at: now, into: &commands) }
        guard let clientAddress = incoming.sender?.client.address,
            context.purgeClients.contains(where: { $0.contains(clientAddress) })
        else {
            return fail(.purgeNotAllowed, at: now, into: &commands)
        }
        incoming.purge = RequestState.Purge(keys: keys(forURIsIn: [CacheKey(of: request).bytes]))
        state = .purging
        commands.append(.purge)
    }

    mutating func purged(_ count: Int?, at now: Timestamp, into commands: inout CommandBuffer) {
        guard let count else { return fail(.overloaded, at: now, into: &commands) }
        incoming.purge?.count = count
        trace.outcome = .local
        trace.status = 200
        delivery.chooseGenerated(.ok, closes: false)
        state = .delivering
        commands.append(.sendLocal)
    }
}

// MARK: Our own pages

/// Requests in origin form address the proxy as a server. The proxy has a few pages for programs that are being set up, and no pages that
/// web pages may use.
extension Exchange {
    /// Why a request that addresses the proxy as a server is refused; `nil` if Larder answers it (`OwnPage`).
    private func refusalOfDirectRequest() -> Fault? {
        guard let page = OwnPage(request) else { return .notForAProxy }
        // A host that is not one of our own may be a DNS name that an attacker has pointed to this address (T05).
        guard let host = request.hostField, context.isOwn(host, in: request) else { return .foreignHost }
        if comesFromAPage { return .crossSite }
        return page.isCertificate && context.rootCertificate == nil ? .noAuthority : nil
    }

    /// Whether a page of another site made the request (T06). Of requests from browsers, only those typed by the user or from the same
    /// origin are accepted.
    private var comesFromAPage: Bool {
        for line in request.fields.lines {
            let name = request.span(of: line.name)
            if name.equalsIgnoringCase("origin") { return true }
            guard name.equalsIgnoringCase("sec-fetch-site") else { continue }
            let site = request.fields.value(of: line)
            if !site.equals("none"), !site.equals("same-origin") { return true }
        }
        return false
    }
}

extension ExchangeContext {
    /// Reads an HTTP/2 request whose target is one of our listeners as a request for Larder's own pages, because HTTP/2 has no origin form
    /// (RFC 9113 §8.3.1).
    package func readOwnTarget(of request: inout RequestHead) {
        guard case .absolute = request.target.form, let host = request.hostField, isOwn(host, in: request) else { return }
        request.target.form = .origin
        request.target.host = .empty
    }

    /// Whether a Host field names one of our listeners. A listener on all addresses accepts any IP address, since DNS cannot redirect a
    /// client that uses an address (T05).
    fileprivate func isOwn(_ host: Authority, in request: borrowing RequestHead) -> Bool {
        let port = host.port ?? 80
        if isOwnAddress(host: request.span(of: host.host), port: port) { return true }
        return host.hostKind != .name && ownAddresses.contains { $0.port == port && $0.isAnyAddress }
    }
}
