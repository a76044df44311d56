import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// A validation for which no client waits (RFC 5861 §3): what was served stale is asked about at the origin, as the client's
/// request would have been, and the answer goes into the store alone.
///
///     idle ──validates──▶ fetching ──upstreamHead──▶ delivering (what is stored comes in) ──deliveryEnded──▶ finished
///                            └─── a 304, a failure, or what is not stored ─────────────────────────────────▶ finished
extension Exchange {
    /// Makes the exchange ready to ask whether what `served` has delivered still holds, under the same rules.
    ///
    /// The request is the client's, so that the origin is asked for the same; its conditions, its part and its wishes about
    /// caches go, and so does HEAD, which brings no body to store.
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

    /// Whether the answer to a GET in place of the request could be stored: else asking for it would be in vain. A request of which
    /// nothing may be stored (RFC 9111 §5.2.1.5) has nothing fetched for the store either, HEAD too.
    var mayValidateInBackground: Bool {
        let refusal = Storability.refusalWhateverMethod(request, directives, obligations.cache, secondaryKey)
        return refusal == nil && !directives.contains(.onlyIfCached)
    }

    /// The exchange ends with what it has come to: there is nobody to tell.
    mutating func endBackground(_ outcome: DecisionTrace.Outcome, into commands: inout CommandBuffer) {
        trace.outcome = outcome
        trace.status = 0
        state = .finished
        commands.append(.finish)
    }

    /// An error of the origin's leaves what is stored as it is (RFC 9111 §4.3.3).
    mutating func leaveStored(into commands: inout CommandBuffer) {
        commands.append(.discardUpstreamBody)
        commands.append(.releaseJoined)
        endBackground(.failed, into: &commands)
    }
}

extension RequestHead {
    /// The client's request, without what it alone wants: for the store.
    mutating func becomeWholeGET() {
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
