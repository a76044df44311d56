import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// What is made of a request's head: refused, answered here, denied by a rule, or looked up.
extension Exchange {
    mutating func receiveRequest(at now: Timestamp, into commands: inout CommandBuffer) {
        let options = delivery.readConnection(of: request)
        if let fault = refusal() { return fail(fault, at: now, into: &commands) }
        if incoming.sender?.needsCredentials == true, !isForUs { return askForCredentials(at: now, into: &commands) }
        receiveAdmitted(options, at: now, into: &commands)
    }

    /// The client may ask.
    mutating func receiveAdmitted(_ options: ConnectionOptions, at now: Timestamp, into commands: inout CommandBuffer) {
        // For us alone: nothing that selects, stores or tells anything gets to see it.
        if request.fields.contains(.proxyAuthorization) { request.fields.remove(.proxyAuthorization) }
        if isAnsweredHere() {
            trace.outcome = .local
            delivery.chooseGenerated(.ok, closes: false)
            trace.status = 200
            state = .delivering
            return commands.append(.sendLocal)
        }
        // What the origin does not get to see selects nothing (T18), and before a rule could add to it.
        if options.hasNominations { request.fields.removeNominated() }
        if context.rules.mayConcern(request), !matchRules() { return fail(.deniedByRule, at: now, into: &commands) }
        if context.sparesThisMachine, obligations.mode == nil { spareThisMachine() }
        if case .connect = request.method { return receiveConnect(at: now, into: &commands) }
        // What a rule writes counts as the client's: it comes before the key and the directives.
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

    /// - Returns: `false` where one of them denies the request.
    private mutating func matchRules() -> Bool {
        guard case .allow(let entailed) = context.rules.match(request, into: &matched) else { return false }
        if matched.isEmpty { return true }
        obligations = entailed
        context.complete(&obligations.cache)
        applyMode()
        return true
    }

    /// Without a network this machine is there all the same.
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

    /// A head in the making holds places without their bytes: nothing of it may be read but the method.
    mutating func forgetUnreadRequest() {
        let method = request.method
        request.removeAll()
        request.method = method
    }

    /// Of what is asked of us as a server only our own pages get so far. They are for everybody, and who asks a server has no credentials for a
    /// proxy (RFC 9110 §11.7.2).
    private var isForUs: Bool { if case .origin = request.target.form { true } else { false } }

    // The next two only read, and are mutating so that they are given the exchange's address: what may only be read is handed
    // over as a copy of all its seven hundred bytes. By patterns, since == of an enum of another module is a generic call.

    /// What makes a request unusable before any rule is asked.
    private mutating func refusal() -> Fault? {
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

    /// So are our own pages, and OPTIONS for the server as a whole (RFC 9110 §9.3.7); with Max-Forwards at 0 we are the final recipient
    /// of OPTIONS and TRACE (RFC 9110 §7.6.2).
    private mutating func isAnsweredHere() -> Bool {
        switch request.target.form {
        case .asterisk, .origin: return true
        case .absolute, .authority: break
        }
        switch request.method {
        case .options, .trace: return MaxForwards.value(in: request.fields) == 0
        default: return false
        }
    }
}
