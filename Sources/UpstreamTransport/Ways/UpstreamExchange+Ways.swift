internal import HTTPCaching
import HTTPMessage
import ParentSelection
import ServerTrust

/// How an exchange chooses a parent, and moves to the next parent if that parent fails.
extension UpstreamExchange {
    /// The server for this exchange. If the server is a proxy that forwards requests, the request's target becomes absolute.
    func chooseEndpoint() throws(TransportError) -> Endpoint {
        guard let group = transport.configuration.parents else {
            let endpoint = try transport.use(
                request.origin, isKnownHTTP2: request.isForKnownHTTP2, tunnelsPlaintext: request.tunnelsForSwitch)
            if endpoint.key.isForwardingProxy, let proxy = transport.configuration.proxy { writeAbsoluteForm(for: proxy) }
            return endpoint
        }
        if let member = request.probedParent {
            writeAbsoluteForm(for: group.members[member])
            return try transport.useForwarding(group.members[member])
        }
        let isForwarded = request.origin.scheme == .http || request.verifier == .parent && !request.isForSwitch
        let key =
            isForwarded ? request.parentKey : transport.parentKey(ofHost: request.origin.host, port: request.origin.port)
        guard let attempt = ParentAttempt.begin(group, for: key) else { throw .connectionFailed(code: 0) }
        do throws(TransportError) {
            let endpoint = try transport.use(request.origin, through: attempt.proxy, isForwarded: isForwarded)
            if isForwarded { writeAbsoluteForm(for: attempt.proxy) }
            parent = attempt
            metrics.parentMember = attempt.member
            return endpoint
        } catch {
            group.ended(attempt.member)
            throw error
        }
    }

    /// The certificate chain of the exchange's server, as it is recorded.
    var recordedChain: RecordedChain? { isToProxy ? nil : connection?.recordedChain }

    /// The verdict on the exchange's server.
    var verdict: TrustVerdict? { isToProxy ? nil : connection?.verdict }

    /// Whether the connection is with a proxy that forwards requests, so that its certificate is not the origin's.
    var isToProxy: Bool { endpoint?.key.isForwardingProxy == true }

    /// Whether HTTP permits to send the request again (RFC 9110 §9.2.2): it is idempotent, and has no body that would be needed again.
    var isRepeatable: Bool {
        request.isRetryable && request.method.isIdempotent && (request.body == .none || request.body == .length(0))
    }

    private func writeAbsoluteForm(for proxy: UpstreamProxy) {
        request.head = AbsoluteForm.head(from: request.head, origin: request.origin, authorization: proxy.authorization)
    }

    /// The mark of the policy under which the response counts as verified. The certificate of a proxy is not the origin's.
    func trustMark(on connection: some RequestCarrier) -> UInt64 {
        guard endpoint?.key.isForwardingProxy == true else { return connection.trustMark }
        return parent == nil ? 0 : transport.markOfParentVerified(request.origin)
    }

    func noteParentResponse() {
        if let parent { parent.group.succeeded(parent.member, at: loop.now) }
    }

    func leaveParent() {
        if let parent { parent.group.ended(parent.member) }
        parent = nil
    }

    /// Sends the request to another parent after a failure of this one. A request that the parent may have received is sent again only if
    /// HTTP allows that (RFC 9110 §9.2.2), and only once.
    /// - Returns: whether the exchange goes on.
    func movesToAnotherParent(after error: TransportError) -> Bool {
        guard let endpoint, var next = parent, !isAnswered else { return false }
        let isForwarded = endpoint.key.isForwardingProxy
        guard let failure = error.failure(of: next.proxy, isToParent: isForwarded) else { return false }
        // The origin, and not the parent, ended a connection inside a tunnel.
        if failure == .brokenOff, !isForwarded { return false }
        guard failure == .unreachable || isRepeatable && next.tried.isEmpty else {
            next.group.failed(next.member, by: failure)
            return false
        }
        guard next.moveOn(after: failure) else {
            parent = nil
            return false
        }
        parent = next
        metrics.parentMember = next.member
        metrics.isRetried = true
        if failure == .brokenOff { forgetSending() }
        leave(endpoint)
        do throws(TransportError) {
            let other = try transport.use(request.origin, through: next.proxy, isForwarded: isForwarded)
            self.endpoint = other
            obtainConnection(to: other)
        } catch {
            refuse(error)
        }
        return true
    }
}
