import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// What an exchange asks of the origin, and what it keeps of the answer.
extension Exchange {
    /// The origin's host in lower case, without brackets.
    package var originHost: [UInt8] {
        let span = request.span(of: request.target.host)
        var host: [UInt8] = []
        host.reserveCapacity(span.count)
        for index in 0..<span.count { host.append(ASCII.lowercased(span[index])) }
        return host
    }

    package var originPort: UInt16 { request.target.port }

    /// The value of Via with which an upstream proxy is asked for a tunnel.
    package var tunnelVia: String {
        let own = context.via(for: request.version)
        return request.fields.combinedValue(of: .via).map { $0 + ", " + own } ?? own
    }

    /// The request as it leaves for the origin, our conditions in it.
    package func writeForwardedHead(into output: inout [UInt8]) {
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
        // What the client has was made here: the origin server knows nothing of it.
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

    /// The response as it is kept, with a body that is complete or on its way; `nil` where it was decided not to keep it.
    package func makeStoredResponse(body: StoredBody, trailers: Fields = Fields()) -> StoredResponse? {
        guard let facts = cache.facts,
            let prepared = StoredFields.prepare(ranges.wholeHead ?? response, to: request, facts: facts, secondaryKey)
        else { return nil }
        // The exchange's array is used again and again, and its capacity grows: each one that is shared is replaced by one at least as large.
        let key = key.withUnsafeBufferPointer { Array($0) }
        return StoredResponse(
            key: key, nominatedFields: prepared.nominatedFields, facts: facts, head: prepared.head,
            requestTime: upstream.requestTime,
            body: body, trailers: StoredHead.held(trailers), tags: matched.tags, chain: upstream.chain,
            variantLimit: obligations.cache.variantLimit ?? Vary.variantLimit)
    }

    /// How long others' fetch of the same may be waited for, in milliseconds; `nil`: as long as it takes.
    package var longestWait: Int64? {
        if case .within(let milliseconds) = obligations.cache.collapsing { milliseconds } else { nil }
    }

    /// The client asks for bytes of a representation rather than for all of it.
    package var isForPart: Bool { directives.contains(.range) }

    /// It was decided not to keep the response.
    package var isStorageRefused: Bool {
        if case .refused = trace.storage { true } else { false }
    }

    /// The longest body that the rules let be kept, in bytes; `nil`: any. For one whose length no head has told.
    package var keptBodyLength: UInt64? { obligations.cache.maximumBodyLength }
}

extension Fields {
    /// What the client has of the response says nothing any more.
    package mutating func removeCacheConditions() {
        if contains(.ifNoneMatch) { remove(.ifNoneMatch) }
        if contains(.ifModifiedSince) { remove(.ifModifiedSince) }
    }
}

extension Exchange {
    /// Lends both heads to who writes of them, for the log. Mutating, so that nothing is copied to be lent.
    package mutating func withHeads(_ body: (_ request: borrowing RequestHead, _ response: borrowing ResponseHead) -> Void) {
        body(request, response)
    }

    /// Lends the trace, the request's head and its key to who keeps them, in the same way.
    package mutating func withTraced(
        _ body: (_ trace: borrowing DecisionTrace, _ request: borrowing RequestHead, _ key: Span<UInt8>) -> Void
    ) {
        body(trace, request, key.span)
    }

    /// The rule that denied the request, else the last one that matched; empty where none did. For the log.
    package var decidingRuleName: String { matched.isEmpty ? "" : matched[matched.count - 1].name }
}
