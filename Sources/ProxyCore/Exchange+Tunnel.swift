import HTTPMessage
import ProxyPolicy

/// The rules' decision about a tunnel, after a CONNECT or a switch of protocols. A tunnel may begin, and last, under later settings than
/// its request.
extension Exchange {
    /// Why no connection may be made for a tunnel: a rule prevents connections to its host, even if the gate is open. `nil` if
    /// one may be made.
    package var tunnelFault: Fault? {
        if obligations.tunnel == .inspectedOnly, !reportsUnlisted { return .egressDenied }
        if obligations.limitsContent { return .contentHidden }
        return obligations.mode != nil && mode.isClosed ? .offlineMiss(detail: "tunnel") : nil
    }

    /// Whether the ClientHello in the tunnel must name the host, because the rules allow a tunnel to this host only.
    package var tunnelNeedsName: Bool { obligations.tunnel == .named && !reportsUnlisted }

    /// Whether a rule allows a tunnel for any protocol (`tunnel: any`).
    package var tunnelIsForAnyProtocol: Bool { obligations.tunnel == .any && context.rules.egress.default == .deny }

    /// Evaluates the request again if these settings are others than those that it was evaluated under. `tunnelFault` and
    /// `tunnelNeedsName` follow them from then on.
    /// - Returns: why they deny the request.
    package mutating func renewVerdict(under active: ExchangeContext) -> Fault? {
        if active === context { return nil }
        var request = request
        // The rules matched it before one of them changed its scheme.
        if trace.isUpgraded { _ = request.target.downgrade() }
        let verdict = active.rules.match(request, facts(for: active.rules), into: &matched)
        if case .connect = request.method, !active.tunnelPorts.allows(request.target.port) { return .portNotAllowed }
        switch verdict {
        case .allow(let entailed):
            obligations.tunnel = entailed.tunnel
            obligations.mode = entailed.mode
            obligations.limitsContent = entailed.limitsContent
            return nil
        case .deny: return .deniedByRule
        case .unlisted: return .egressDenied
        case .ambiguousPath: return .ambiguousPath
        }
    }
}
