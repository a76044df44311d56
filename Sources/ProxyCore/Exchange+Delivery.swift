import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// A stored response is delivered: as it is, or as rules transform its content. The content that comes from the origin is transformed
/// beside being stored as it came (C9, V15).
///
///     any ──a stored response is to be delivered──▶ transforming ──transformed──▶ delivering (its variant, itself, or an error)
extension Exchange {
    mutating func deliverSelected(
        outcome: DecisionTrace.Outcome, into commands: inout CommandBuffer, command: ExchangeCommand = .sendStored
    ) {
        guard let selected = cache.selected else { return }
        if isBackground { return endBackground(.background, into: &commands) }
        trace.outcome = outcome
        if transformSelected(selected, into: &commands) { return }
        deliverAsItIs(into: &commands, command: command)
    }

    /// The stored response, or what was made of it.
    mutating func deliverAsItIs(into commands: inout CommandBuffer, command: ExchangeCommand = .sendStored) {
        guard let selected = cache.selected else { return }
        delivery.chooseStored(
            selected, length: cache.selectedLength ?? .known(selected.body.length), directives: directives, for: request,
            ignoresDates: transform.source != nil)
        if delivery.multipart != nil { describeParts(of: selected) }
        trace.status = delivery.status.code
        state = .delivering
        commands.append(command)
    }
}

// MARK: Transforms

extension Exchange {
    /// What the rules want made of this response's content, where they say so.
    package var transformPlan: TransformPlan? { obligations.transforms ? matched.transform : nil }

    private enum TransformStep {
        case leave
        case make
        case fault(TransformFault)
    }

    /// Decides by the head alone, and says so in the trace.
    private mutating func transformStep(for head: ResponseHead, length: BodyLength, isForbidden: Bool) -> TransformStep {
        transform.source = nil
        trace.transform = nil
        guard let plan = transformPlan, head.status.code >= 200, head.status.code != 204, head.status != .notModified,
            length != .known(0)
        else { return .leave }
        if isForbidden || head.fields.forbidTransforming { return skip(.noTransform) }
        if request.fields.forbidTransforming { return skip(.requestNoTransform) }
        guard let source = plan.source(for: head.fields) else { return skip(.contentType) }
        trace.transform = .made(source)
        if head.status == .partialContent || head.fields.contains(.contentRange) { return .fault(.partialContent) }
        if case .known(let length) = length, length > plan.maximumBodyLength { return .fault(.bodyTooLarge) }
        transform.source = source
        return .make
    }

    private mutating func skip(_ reason: TransformSkip) -> TransformStep {
        trace.transform = .skipped(reason)
        return .leave
    }

    /// - Returns: whether the content is delivered as it came.
    private mutating func passes(_ fault: TransformFault, at now: Timestamp, into commands: inout CommandBuffer) -> Bool {
        trace.transform = .failed(fault)
        transform.source = nil
        if transformPlan?.onError == .pass { return true }
        // What came from the origin may still be coming.
        if state == .fetching || state == .checking { commands.append(.discardUpstreamBody) }
        fail(.transformFailed(fault), at: now, into: &commands)
        return false
    }

    /// - Returns: whether the stored response is delivered by other means than as it is: something is made of it, or it was an error.
    private mutating func transformSelected(_ stored: StoredResponse, into commands: inout CommandBuffer) -> Bool {
        guard obligations.transforms else { return false }
        let length = cache.selectedLength ?? .known(stored.body.length)
        switch transformStep(for: stored.head, length: length, isForbidden: stored.facts.flags.contains(.noTransform)) {
        case .leave: return false
        case .fault(let fault): return !passes(fault, at: trace.receivedAt, into: &commands)
        case .make:
            state = .transforming
            commands.append(.transform)
            return true
        }
    }

    mutating func transformed(at now: Timestamp, into commands: inout CommandBuffer) {
        switch transform.end {
        case .variant(let variant): use(variant)
        case .made(let content): if let selected = cache.selected { use(variant(of: selected, content)) }
        case .failed(let fault): guard passes(fault, at: now, into: &commands) else { return }
        case .refused: return fail(.checkQueueFull, at: now, into: &commands)
        case .broken(let fault): return fail(fault, at: now, into: &commands)
        // It is thought through, and nothing is known of the content.
        case nil: if let selected = cache.selected { use(variant(of: selected, digest: nil, body: selected.body)) }
        }
        deliverAsItIs(into: &commands)
    }

    private mutating func use(_ variant: StoredResponse?) {
        guard let variant else { return }
        cache.selected = variant
        cache.selectedLength = nil
    }

    /// The response that takes the place of the stored one for those who are under the same rules.
    package func variant(of stored: StoredResponse, _ content: TransformedContent) -> StoredResponse? {
        variant(of: stored, digest: content.digest, body: .bytes(content.body))
    }

    private func variant(of stored: StoredResponse, digest: [UInt8]?, body: StoredBody) -> StoredResponse? {
        guard let plan = transformPlan, let source = transform.source else { return nil }
        let head = TransformedHead.make(of: stored.head, by: plan, from: source, digest: digest)
        var facts = stored.facts
        facts.flags.remove([.strongETag, .weakETag, .lastModified])
        if let line = head.fields.entityTagLine, let tag = EntityTag(head.fields.value(of: line)) {
            facts.flags.insert(tag.isWeak ? .weakETag : .strongETag)
        }
        return StoredResponse(
            key: stored.key, nominatedFields: stored.nominatedFields, facts: facts, head: head, requestTime: stored.requestTime,
            body: body, tags: stored.tags, chain: stored.chain, row: stored.row)
    }

    /// - Returns: `false` where the request has been answered with an error.
    mutating func decideTransform(at now: Timestamp, into commands: inout CommandBuffer) -> Bool {
        if isBackground || !obligations.transforms { return true }
        // HEAD tells of what GET would be given, as far as that is known without it (RFC 9110 §9.3.2).
        let length: BodyLength = request.method == .head ? .unknown : upstream.body == .none ? .known(0) : upstream.body
        switch transformStep(for: response, length: length, isForbidden: false) {
        case .leave: return true
        case .fault(let fault): return passes(fault, at: now, into: &commands)
        case .make:
            if request.method == .head { transform.head = transformedHead(digest: nil) }
            return true
        }
    }

    /// Its body is to be gathered for that.
    var transformsBody: Bool { transform.source != nil && request.method != .head }

    private func transformedHead(digest: [UInt8]?) -> ResponseHead? {
        guard let plan = transformPlan, let source = transform.source else { return nil }
        return TransformedHead.make(of: response, by: plan, from: source, digest: digest)
    }

    /// The body has been gathered, and may be delivered; whether it was stored is decided by what came.
    mutating func deliverTransformed(
        keptOutBy refusal: StorageRefusal?, length: UInt64?, at now: Timestamp, into commands: inout CommandBuffer
    ) {
        switch transform.end {
        case .failed(let fault):
            guard passes(fault, at: now, into: &commands) else { return }
            // What has not come whole passes and is not kept.
            return deliverRelayed(
                at: now, isChecked: true, keptOutBy: refusal ?? (length == nil ? .bodyTooLarge : nil), into: &commands)
        case .made(let content): transform.head = transformedHead(digest: content.digest)
        // It is thought through, and nothing has come.
        case .variant, .refused, .broken, nil: transform.head = transformedHead(digest: nil)
        }
        deliverRelayed(at: now, isChecked: true, keptOutBy: refusal, into: &commands)
    }

    /// What was made of the origin's body, where that is delivered in its place.
    package var transformedBody: [UInt8]? {
        if transform.source != nil, case .made(let content) = transform.end { content.body } else { nil }
    }

    /// Takes what was made out of the exchange, which is over: whoever takes it is the last to let go of it.
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
