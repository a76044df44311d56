import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// Larder forwards the request to the origin, which responds or fails.
///
///     fetching ──upstreamHead──▶ delivering | checking ──bodyChecked──▶ delivering
///     fetching ──upstreamFailed──▶ delivering (an error, or the stored response) | judging
///     fetching ──protocolSwitched──▶ tunnelling
extension Exchange {
    mutating func fetch(at now: Timestamp, into commands: inout CommandBuffer) {
        upstream.isAsked = true
        upstream.requestTime = now
        trace.sentConditions.formUnion(ownConditions)
        state = .fetching
        commands.append(.fetch)
    }

    /// Whether to check memory again: another fetch may have ended and stored its response after the look-up and before this exchange began
    /// its own fetch.
    package var looksAgainWhenLeading: Bool { if case .forward(.uriMiss)? = trace.reuse { true } else { false } }

    /// Whether the fetch continues after its own client has left.
    package func isWanted(by demand: FetchDemand) -> Bool { demand.isThere || isBackground && state != .finished }

    /// The conditions that `writeForwardedHead` adds to the client's request, or with which it replaces the client's.
    private var ownConditions: RequestConditions {
        if ranges.completion != nil { return [.range, .ifRange] }
        guard cache.isValidating, let stored = cache.selected else { return [] }
        return RequestConditions(validating: stored)
    }

    /// The origin's host in lower case, without brackets.
    package var originHost: [UInt8] {
        let span = request.span(of: request.target.host)
        var host: [UInt8] = []
        host.reserveCapacity(span.count)
        for index in 0..<span.count { host.append(ASCII.lowercased(span[index])) }
        return host
    }

    package var originPort: UInt16 { request.target.port }

    /// The value of Via in a CONNECT to an upstream proxy.
    package var tunnelVia: String {
        let own = context.via(for: request.version)
        return request.fields.combinedValue(of: .via).map { $0 + ", " + own } ?? own
    }

    /// The request as sent to the origin, with Larder's conditions.
    package func writeForwardedHead(into output: inout [UInt8]) {
        let start = output.count
        writeUntracedHead(into: &output)
        if context.tracing != nil { traceContext?.writeParent(into: &output, from: start) }
    }

    private func writeUntracedHead(into output: inout [UInt8]) {
        if let completion = ranges.completion {
            return ForwardedRequest(
                request: request, fields: completion.fields(from: request.fields), body: incoming.body, context: context,
                asksForWhole: false
            ).write(into: &output)
        }
        let policy = obligations.cache.effectivePolicy
        guard cache.isValidating || policy == .reloadAll || obligations.transforms || wantsWholeRecorded else {
            return writeForwardedHead(request.fields, into: &output)
        }
        var fields = request.fields
        // The client may have validators of transformed or replayed content that Larder made. The origin server does not know these
        // validators.
        if obligations.transforms || wantsWholeRecorded { fields.removeCacheConditions() }
        if cache.isValidating, let stored = cache.selected { Validation.addPreconditions(of: stored, to: &fields) }
        if policy == .reloadAll { Validation.addReload(to: &fields) }
        writeForwardedHead(fields, into: &output)
    }

    private func writeForwardedHead(_ fields: Fields, into output: inout [UInt8]) {
        ForwardedRequest(
            request: request, fields: fields, body: incoming.body, context: context,
            asksForWhole: obligations.checksBody || obligations.transforms || cache.isValidating || wantsWholeRecorded,
            isBodyAtHand: isKeyedByContent || isRecordedWithContent, isForSwitch: incoming.isForSwitch
        ).write(into: &output)
    }
}

// MARK: The response

extension Exchange {
    mutating func receiveResponse(at now: Timestamp, into commands: inout CommandBuffer) {
        if !request.method.isSafe { invalidate(into: &commands) }
        if mode.records { return deliverRecorded(into: &commands) }
        if receiveMissing(at: now, into: &commands) { return }
        if cache.isValidating, response.status == .notModified, let stored = cache.selected {
            return freshen(stored, at: now, into: &commands)
        }
        if isUnaskedNotModified {
            commands.append(.discardUpstreamBody)
            return upstreamFailed(.unexpectedNotModified, at: now, into: &commands)
        }
        if isBackground, response.status.code >= 500 || Reuse.isError(response.status) {
            upstream.retryAfter = RetryAfter.milliseconds(response.fields, at: now)
            return leaveStored(into: &commands)
        }
        if Reuse.isError(response.status), standsIn(for: .error, at: now) {
            return deliverStale(discardingBody: true, into: &commands)
        }
        trace.findings = validateHead()
        if !trace.findings.isEmpty, !finishValidation(at: now, into: &commands) { return }
        guard decideTransform(at: now, into: &commands) else { return }
        if wantsBodyCheck || transformsBody {
            state = .checking
            return commands.append(.checkBody)
        }
        if request.method == .head, response.status == .ok, trace.findings.isEmpty { updateByHEAD(at: now, into: &commands) }
        if request.method == .get, response.status == .notModified { updateByNotModified(at: now, into: &commands) }
        deliverRelayed(
            at: now, isChecked: false, keptOutBy: trace.findings.isEmpty ? nil : .validation, into: &commands)
    }

    /// Whether this is a 304 to a request without If-None-Match or If-Modified-Since (RFC 9110 §15.4.5). Such a 304 cannot refer to a
    /// response of the client, or to a stored one that Larder validates (T39).
    private var isUnaskedNotModified: Bool {
        response.status == .notModified && (!directives.contains(.cacheCondition) || obligations.transforms)
    }

    mutating func deliverRelayed(
        at now: Timestamp, isChecked: Bool, keptOutBy refusal: StorageRefusal?, into commands: inout CommandBuffer
    ) {
        let stores = decideStorage(unless: refusal, at: now)
        if stores {
            removeOutlived(into: &commands)
            if ranges.part == nil { changes.replaced = replacedByResponse }
        } else {
            removeReplaced(into: &commands)
        }
        if cache.isLeading, !stores { commands.append(.releaseJoined) }
        if isBackground, !stores {
            commands.append(.discardUpstreamBody)
            return endBackground(.background, into: &commands)
        }
        trace.outcome = outcomeOfForwarding
        if let variantHead = transform.head {
            if case .made(let content) = transform.end { upstream.wholeLength = UInt64(content.body.count) }
            delivery.chooseTransformed(variantHead, whole: request.method == .head ? nil : upstream.wholeLength, for: request)
        } else if isChecked, let wholeLength = upstream.wholeLength {
            delivery.chooseGathered(response, whole: wholeLength, for: request)
        } else {
            delivery.chooseRelayed(response, body: upstream.body)
        }
        trace.status = delivery.status.code
        cache.selected = nil
        state = .delivering
        commands.append(isChecked ? .sendChecked(store: stores) : .relay(store: stores))
        if ranges.part != nil { fillRest(into: &commands) }
    }

    private var outcomeOfForwarding: DecisionTrace.Outcome {
        if cache.isValidating { return .refreshed }
        if incoming.isForSwitch { return .bypass }
        guard request.method == .get || request.method == .head || isKeyedByContent else { return .bypass }
        return .miss
    }

    /// Called when the origin has answered 101. An unexpected switch, or one to another protocol, is refused.
    mutating func switchProtocols(at now: Timestamp, into commands: inout CommandBuffer) {
        guard incoming.isForSwitch, ProtocolSwitch.isGranted(by: response) else {
            commands.append(.cancelUpstream)
            return fail(.unexpectedUpgrade, at: now, into: &commands)
        }
        guard ProtocolSwitch.isConfirmed(by: response, for: request) else {
            commands.append(.cancelUpstream)
            return fail(.webSocketAcceptMismatch, at: now, into: &commands)
        }
        state = .tunnelling
        trace.outcome = .tunnel
        trace.status = Status.switchingProtocols.code
        commands.append(.relaySwitched)
    }
}

// MARK: Failures

extension Exchange {
    mutating func upstreamFailed(_ fault: Fault, at now: Timestamp, into commands: inout CommandBuffer) {
        // The offline check refused a request to open a tunnel. The store cannot answer such a request.
        if case .offlineMiss = fault, state == .connecting {
            return fail(.offlineMiss(detail: "tunnel"), at: now, into: &commands)
        }
        // A stored response is used if the origin cannot be reached (RFC 9111 §4.2.4), but not if policy denies the request or the server
        // is not trusted.
        if !isBackground, let failure = fault.failure {
            if standsIn(for: failure, at: now) {
                trace.fault = fault
                return deliverStale(discardingBody: false, into: &commands)
            }
            if judgesRecordedChain(of: cache.selected, insteadOf: fault, at: now, into: &commands) { return }
        }
        fail(fault, at: now, into: &commands)
    }

    /// Whether the stored response replaces the response that the origin failed to send.
    private mutating func standsIn(for failure: OriginFailure, at now: Timestamp) -> Bool {
        guard let stored = cache.selected,
            let decision = Reuse.staleAfterFailure(failure, stored.facts, for: directives, overrides: obligations.cache, at: now)
        else { return false }
        trace.reuse = decision
        return true
    }

    private mutating func deliverStale(discardingBody: Bool, into commands: inout CommandBuffer) {
        if discardingBody { commands.append(.discardUpstreamBody) }
        if cache.isLeading { commands.append(.releaseJoined) }
        deliverSelected(outcome: .staleHit, into: &commands)
    }
}

// MARK: Checks

/// The response checks that rules require, and how Larder continues if a check fails.
extension Exchange {
    /// The response checks that the matching rules require, if any.
    package var validation: ValidationPlan? { matched.validation }

    /// Whether a body that is too long to be gathered is checked by its beginning.
    package var checksBeginning: Bool { validation?.wellformed == .image }

    private func validateHead() -> ValidationFaults {
        // A 304 to the client's own condition has no content to check.
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

    /// Applies the rule's setting for a response with faults.
    /// - Returns: whether the response is still delivered.
    private mutating func finishValidation(at now: Timestamp, into commands: inout CommandBuffer) -> Bool {
        guard let validation, let outermost = trace.findings.outermost else { return true }
        switch validation.onFailure {
        case .pass: return true
        case .annotate:
            delivery.isAnnotated = true
            return true
        case .stale:
            // The rule has precedence over the client's directives, like a rule's cache policy.
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

    /// Whether the body must be checked: rules require it, and the head did not already fail its check.
    package var wantsBodyCheck: Bool { checksBody && !trace.findings.contains(.unacceptableContentType) }

    /// The maximum length of the origin's body that is gathered to be checked or transformed, in bytes.
    package var gatheredLimit: UInt64 {
        max(
            wantsBodyCheck ? validation?.maximumBodyLength ?? 0 : 0,
            transformsBody ? transformPlan?.maximumBodyLength ?? 0 : 0)
    }
}

// MARK: Transforms

/// The origin's content is transformed for the client and stored as received (C9, V15). `TransformState` decides.
extension Exchange {
    /// - Returns: `false` if the request has been answered with an error.
    mutating func decideTransform(at now: Timestamp, into commands: inout CommandBuffer) -> Bool {
        if isBackground || !obligations.transforms { return true }
        // A response to HEAD has the same fields as the response to GET, except those that depend on the content (RFC 9110 §9.3.2).
        let length: BodyLength = request.method == .head ? .unknown : upstream.body == .none ? .known(0) : upstream.body
        let needsTransform = decideTransform(of: response, length: length, isForbidden: false, at: now, into: &commands)
        if needsTransform == true, request.method == .head { transform.makeHead(of: response, by: transformPlan, digest: nil) }
        return needsTransform != nil
    }

    /// Whether the origin's body is gathered to be transformed.
    var transformsBody: Bool { transform.source != nil && request.method != .head }

    /// Delivers the transformed body. Whether the original body is stored is decided as for any other response.
    mutating func deliverTransformed(
        keptOutBy refusal: StorageRefusal?, length: UInt64?, at now: Timestamp, into commands: inout CommandBuffer
    ) {
        switch transform.end {
        case .failed(let fault):
            guard passesUntransformed(fault, at: now, into: &commands) else { return }
            // If the body was not gathered whole, it is relayed but not stored.
            return deliverRelayed(
                at: now, isChecked: true, keptOutBy: refusal ?? (length == nil ? .bodyTooLarge : nil), into: &commands)
        case .made(let content): transform.makeHead(of: response, by: transformPlan, digest: content.digest)
        // This is a dry run, so there is no content.
        case .variant, .refused, .broken, nil: transform.makeHead(of: response, by: transformPlan, digest: nil)
        }
        deliverRelayed(at: now, isChecked: true, keptOutBy: refusal, into: &commands)
    }

    /// The transformed content to deliver in place of the origin's.
    package var transformedBody: [UInt8]? {
        if transform.source != nil, case .made(let content) = transform.end { content.body } else { nil }
    }

    /// Takes the transformed content out of an exchange that has ended, so that the caller holds the last reference.
    package mutating func takeTransformed() -> [UInt8]? {
        defer {
            transform.end = nil
            cache.selected = nil
        }
        switch transform.end {
        case .made(let content): return content.body
        case .variant(let variant): if case .bytes(let body) = variant.body { return body } else { return nil }
        case .failed, .broken, .refused, nil: return nil
        }
    }
}

// MARK: Interrupted bodies

/// If a body is cut off, Larder resumes it, and the client does not notice (RFC 9111 §3.3, C17).
extension Exchange {
    /// Handles an origin's message that was cut off after this many bytes of content.
    /// - Returns: whether to request the rest, with `writeContinuedHead`.
    package mutating func continues(after received: UInt64, brokenBy fault: Fault) -> Bool {
        fault.permitsContinuation && beginContinuation(after: received)
    }

    /// Handles the end of the origin's message. A response to a request for the rest of a body may be shorter than requested.
    package mutating func continuesShortPiece(after received: UInt64) -> Bool {
        guard upstream.continuation?.isUnfinished(after: received) == true else { return false }
        return beginContinuation(after: received)
    }

    private mutating func beginContinuation(after received: UInt64) -> Bool {
        guard case .get = request.method, incoming.body == .none else { return false }
        if upstream.continuation == nil { upstream.continuation = BodyResumption(of: response) }
        guard upstream.continuation?.begin(after: received) == true else { return false }
        trace.continuations &+= 1
        return true
    }

    /// The request for the rest of an interrupted body, as sent to the origin.
    package func writeContinuedHead(into output: inout [UInt8]) {
        guard let continuation = upstream.continuation else { return }
        let start = output.count
        defer { if context.tracing != nil { traceContext?.writeParent(into: &output, from: start) } }
        ForwardedRequest(
            request: request, fields: continuation.fields(from: request.fields), body: .none, context: context,
            asksForWhole: false
        ).write(into: &output)
    }

    /// Whether the response continues the body with bytes of the same representation. If not, the message fails.
    package mutating func acceptsContinuation(_ head: ResponseHead, body: BodyLength) -> Bool {
        upstream.continuation?.accepts(head, body: body, continuing: response) ?? false
    }

    /// Whether the rest of a body comes from the same server as its beginning, under the same trust policy.
    package func isOfSameServer(trust: UInt64, chain: RecordedChain?) -> Bool {
        guard trust == upstream.trust else { return false }
        return upstream.chain == nil || chain?.digest == upstream.chain?.digest
    }

    /// Updates the whole response with the head of the response that brings the rest of its body (RFC 9111 §3.4).
    /// - Returns: `false` if the response was being stored and is now only for this client.
    package mutating func keepsContinued(by head: ResponseHead, at now: Timestamp) -> Bool {
        guard let kept = keptResponse(at: now) else { return true }
        let refusal = Freshening.refusal(
            of: kept, continuedBy: head, request: request, overrides: obligations.cache, secondary: secondaryKey,
            targets: context.targets, requestTime: upstream.requestTime, responseTime: now)
        guard let refusal else { return true }
        cache.facts = nil
        upstream.continuation?.refusal = refusal
        trace.storage = .refused(refusal)
        // The stored part belongs to the same representation, which must no longer be stored (RFC 9111 §3.4).
        if !refusal.isOfRequest, let completion = ranges.completion { changes.removed.append(completion.partial.response) }
        return false
    }

    /// The response that is being stored, or that will be stored after its check, as it results from the heads received so far.
    private mutating func keptResponse(at now: Timestamp) -> StoredResponse? {
        if ranges.completion != nil { return cache.facts == nil ? nil : cache.selected }
        guard state == .checking, upstream.continuation?.refusal == nil else { return makeStoredResponse(body: .bytes([])) }
        let decision = Storability.decide(
            request: request, response: response, overrides: obligations.cache, secondary: secondaryKey,
            targets: context.targets, requestTime: upstream.requestTime, responseTime: now)
        guard case .store(let facts, _) = decision else { return nil }
        cache.facts = facts
        defer { cache.facts = nil }
        return makeStoredResponse(body: .bytes([]))
    }
}

extension Fields {
    /// Removes the client's cache conditions, because they do not apply to the origin's response.
    package mutating func removeCacheConditions() {
        if contains(.ifNoneMatch) { remove(.ifNoneMatch) }
        if contains(.ifModifiedSince) { remove(.ifModifiedSince) }
    }
}

extension Fault {
    /// Whether the connection to the origin failed in a way that a retry may fix.
    fileprivate var permitsContinuation: Bool {
        switch self {
        case .responseIncomplete, .responseReset, .connectionTerminated, .connectionRefused, .connectionTimeout,
            .destinationUnroutable,
            .nameLookUpTimeout:
            true
        case .responseTimeout(let phase): phase != "total"
        default: false
        }
    }
}
