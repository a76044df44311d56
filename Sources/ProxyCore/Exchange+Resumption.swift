import HTTPCaching
import HTTPMessage

/// A body that breaks off on its way from the origin is continued, out of the client's sight (RFC 9111 §3.3, C17).
extension Exchange {
    /// The origin's message has broken off after so many bytes of content.
    /// - Returns: whether to ask for the rest, with `writeContinuedHead`.
    package mutating func continues(after received: UInt64, brokenBy fault: Fault) -> Bool {
        fault.permitsContinuation && beginContinuation(after: received)
    }

    /// The origin's message has come to its end. One that continues another may have brought less than was asked for.
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

    /// The request for the rest, as it leaves for the origin.
    package func writeContinuedHead(into output: inout [UInt8]) {
        guard let continuation = upstream.continuation else { return }
        ForwardedRequest(
            request: request, fields: continuation.fields(from: request.fields), body: .none, context: context,
            asksForWhole: false
        ).write(into: &output)
    }

    /// Whether the answer is the rest of what has come, and of the same representation. Else the message is broken.
    package mutating func acceptsContinuation(_ head: ResponseHead, body: BodyLength) -> Bool {
        upstream.continuation?.accepts(head, body: body, continuing: response) ?? false
    }

    /// The rest is the same representation's, and what its head says holds for the whole (RFC 9111 §3.4).
    /// - Returns: `false` where what was to be kept is for this client alone now.
    package mutating func keepsContinued(by head: ResponseHead, at now: Timestamp) -> Bool {
        guard let kept = keptResponse(at: now) else { return true }
        let refusal = Freshening.refusal(
            of: kept, continuedBy: head, request: request, overrides: obligations.cache, secondary: secondaryKey,
            targets: context.targets, requestTime: upstream.requestTime, responseTime: now)
        guard let refusal else { return true }
        cache.facts = nil
        upstream.continuation?.refusal = refusal
        trace.storage = .refused(refusal)
        // The parts are of the same, and what is not to be stored of it is none of them (RFC 9111 §3.4).
        if !refusal.isOfRequest, let completion = ranges.completion { changes.removed.append(completion.partial.response) }
        return false
    }

    /// What is being kept, or would be once it has been checked, by what has been heard of it so far.
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

extension Fault {
    /// The way upstream broke, and may hold at another try.
    fileprivate var permitsContinuation: Bool {
        switch self {
        case .responseIncomplete, .connectionTerminated, .connectionRefused, .connectionTimeout, .destinationUnroutable,
            .nameLookUpTimeout:
            true
        case .responseTimeout(let phase): phase != "total"
        default: false
        }
    }
}
