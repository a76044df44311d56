import HTTPWire
import UpstreamTransport

extension LarderSettings {
    /// The configuration of connections to origin servers.
    package var transport: TransportConfiguration {
        var result = TransportConfiguration()
        result.timeouts.connect = Self.milliseconds(timeouts.connect)
        result.timeouts.firstByte = Self.milliseconds(timeouts.firstByte)
        result.timeouts.idle = Self.milliseconds(timeouts.idle)
        result.timeouts.total = timeouts.total.map(Self.milliseconds) ?? 0
        result.timeouts.queue = Self.milliseconds(upstream.queueWait)
        result.limits = parseLimits
        result.resolve = resolve
        result.addresses = AddressPolicy(
            denied: egress.addresses.deny, allowed: egress.addresses.allow, deniesPrivate: egress.deniesPrivateAddresses)
        // If the files that `tls:` names were not read, no server is trusted.
        result.trust = tls.loaded?.policies
        if let identities = tls.loaded?.identities { result.identities = identities }
        if let connect = tls.loaded?.connect { result.connect = connect }
        if let keyLog = tls.loaded?.keyLog { result.writeKeys = { keyLog.write($0) } }
        return result.through(upstream.usual(among: upstream.allWays))
    }

    package var parseLimits: ParseLimits {
        var result = ParseLimits()
        result.requestLineLength = Int(clamping: limits.requestLineLength)
        result.headLength = Int(clamping: limits.headLength)
        result.fieldCount = limits.fieldCount
        return result
    }

    private static func milliseconds(_ duration: Duration) -> Int { Int(clamping: duration.wholeMilliseconds) }
}
