/// Hosts that always name this machine.
package enum LoopbackHost {
    /// Whether the host always names this machine: `localhost` or a name below it (RFC 6761 §6.3), or a loopback or unspecified address
    /// in any spelling that a name lookup accepts. The host is given without brackets.
    package static func isMeant(by host: Span<UInt8>) -> Bool {
        var end = host.count
        if end > 1, host[end - 1] == UInt8(ascii: ".") { end -= 1 }
        let name = host.extracting(0..<end)
        if let address = IPAddress(asLookedUp: name) { return address.isLoopback || address.isUnspecified }
        let start = name.count - localhost.utf8CodeUnitCount
        guard start >= 0, name.extracting(start..<name.count).equalsIgnoringCase(localhost) else { return false }
        return start == 0 || start > 1 && name[start - 1] == UInt8(ascii: ".")
    }

    private static let localhost: StaticString = "localhost"
}
