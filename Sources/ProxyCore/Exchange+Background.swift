import HTTPCaching
import HTTPMessage

/// A background validation (RFC 5861 §3): a response was served stale, and the client's request is used to validate it. The response is
/// only for the store.
///
///     idle ──validates──▶ fetching ──upstreamHead──▶ delivering (what is stored comes in) ──deliveryEnded──▶ finished
///                            └─── a 304, a failure, or what is not stored ─────────────────────────────────▶ finished
extension Exchange {
    /// Prepares the exchange to validate the response that `served` has delivered, under the same rules.
    ///
    /// The request is the client's, so that it selects the same response, but without conditions, range and cache directives. HEAD becomes
    /// GET, because it brings no body to store.
    package mutating func begin(id: UInt64, validating served: borrowing Exchange) {
        begin(id: id, context: served.context)
        isBackground = true
        request = served.request
        request.becomeWholeGET()
        directives = RequestDirectives(request)
        directives.trust = served.directives.trust
        obligations = served.obligations
        matched = served.matched
        key = served.key
        secondaryKey = served.secondaryKey
        cache.selected = served.cache.selected
        found.siblings = served.found.siblings
        found.partials = served.found.partials
    }

    mutating func validate(at now: Timestamp, into commands: inout CommandBuffer) {
        guard let selected = cache.selected else { preconditionFailure("nothing to validate") }
        cache.isLeading = true
        cache.isValidating = selected.facts.canBeValidated
        trace.reuse = cache.isValidating ? .validate(.stale) : .forward(.stale)
        fetch(at: now, into: &commands)
    }

    /// Ends the exchange; no client is notified.
    mutating func endBackground(_ outcome: DecisionTrace.Outcome, into commands: inout CommandBuffer) {
        trace.outcome = outcome
        trace.status = 0
        state = .finished
        commands.append(.finish)
    }

    /// An error from the origin leaves the stored response unchanged (RFC 9111 §4.3.3).
    mutating func leaveStored(into commands: inout CommandBuffer) {
        commands.append(.discardUpstreamBody)
        commands.append(.releaseJoined)
        endBackground(.failed, into: &commands)
    }

    /// The time before the key's next background fetch, after this one has failed, in milliseconds.
    package var backgroundRetryDelay: Int64 { max(context.limits.backgroundRetryDelay, upstream.retryAfter ?? 0) }
}

// MARK: The rest of a stored part

/// A fetch of the bytes missing between stored parts (`Fill`), only for the store.
///
///     idle ──fills──▶ fetching ──upstreamHead──▶ delivering (the bytes go into the store) ──deliveryEnded──▶ finished
///                        └──── a failure, or anything but these bytes of the same representation ────────▶ finished
extension Exchange {
    /// The fill that follows this exchange; `nil` if no rule requires one.
    package var fill: Fill? {
        guard obligations.cache.fillsParts == true else { return nil }
        var request = request
        if !isBackground { request.becomeWholeGET() }
        return Fill(
            key: key, context: context, request: request, obligations: obligations, matched: matched, secondaryKey: secondaryKey,
            trust: directives.trust, start: isBackground ? (ranges.completion?.missing.upperBound ?? .max) : 0)
    }

    /// Prepares the exchange to fetch missing bytes.
    package mutating func begin(id: UInt64, fill: Fill, completion: RangeCompletion) {
        begin(id: id, context: fill.context)
        isBackground = true
        request = fill.request
        directives = RequestDirectives(request)
        directives.trust = fill.trust
        obligations = fill.obligations
        matched = fill.matched
        key = fill.key
        secondaryKey = fill.secondaryKey
        ranges.completion = completion
    }

    mutating func startFill(at now: Timestamp, into commands: inout CommandBuffer) {
        cache.isLeading = true
        trace.reuse = .forward(.fill)
        fetch(at: now, into: &commands)
    }
}

extension RequestHead {
    /// Removes from the client's request what does not apply to the store.
    fileprivate mutating func becomeWholeGET() {
        if method == .head {
            methodName = fields.appendBytes(Array("GET".utf8).span)
            method = .get
        }
        fields.remove { _, line in
            switch line.known {
            case .range, .ifRange, .ifNoneMatch, .ifModifiedSince, .cacheControl, .pragma, .contentLength: true
            default: false
            }
        }
    }
}
