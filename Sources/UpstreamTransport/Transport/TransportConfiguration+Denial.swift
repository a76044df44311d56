import HTTPMessage

/// The requests that the settings refuse before a name is looked up.
extension TransportConfiguration {
    /// Checks an address literal in the host before anything is sent, in every spelling that a resolver accepts. The addresses
    /// of a name are checked when they are connected to.
    func refusalByName(_ origin: Origin) -> TransportError? {
        guard origin.hasPlainHost else { return .malformedHost }
        let host = Array(origin.host.utf8)
        guard let address = IPAddress(asLookedUp: host.span) else { return nil }
        let refusal = addresses.refusal(of: address, port: origin.port)
        // Behind a proxy the address may belong to another machine.
        return leadsThroughProxy && refusal == .ownListener ? nil : refusal
    }

    /// Why the settings for hosts and addresses forbid all traffic to this origin; `nil` if they do not. For a host name,
    /// only the addresses in the setting `resolve` are checked, and the origin is denied only if all of them are denied.
    /// - Parameter byTunnel: whether the client asks for a tunnel. The scheme inside a tunnel is not known.
    package func denial(of origin: Origin, byTunnel: Bool) -> TransportError? {
        let host = origin.judgedHost
        if byTunnel, connect.way(host: host, port: origin.port) == .deny {
            return connect.deniesHost(host, port: origin.port) ? .hostDenied : .connectDenied
        }
        if !byTunnel, origin.scheme == .https, connect.deniesHost(host, port: origin.port) { return .hostDenied }
        if let refusal = refusalByName(origin) { return refusal }
        guard !leadsThroughProxy, let fixed = resolve[origin.host] else { return nil }
        let refusals = fixed.map { addresses.refusal(of: $0, port: origin.port) }
        return refusals.contains { $0 == nil } ? nil : refusals.first ?? nil
    }
}
