internal import CLinux

/// Addresses as text, in the spelling that the kernel's own functions read: no octal, no short forms (T03).
enum IPText {
    /// The usual spelling of an IPv4 or IPv6 address, or `nil`.
    static func normalized(_ text: String) -> String? {
        normalized(text, family: AF_INET) ?? normalized(text, family: AF_INET6)
    }

    /// An address, or one with the length of a prefix.
    static func isAddressRange(_ text: String) -> Bool {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = normalized(String(parts[0])) else { return false }
        guard parts.count == 2 else { return true }
        guard parts[1].utf8.allSatisfy({ $0 &- 0x30 < 10 }), let length = Int(parts[1]) else { return false }
        return (0...(address.contains(":") ? 128 : 32)).contains(length)
    }

    private static func normalized(_ text: String, family: Int32) -> String? {
        var address = in6_addr()
        guard inet_pton(family, text, &address) == 1 else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            inet_ntop(family, &address, buffer.baseAddress, socklen_t(buffer.count)).map { String(cString: $0) }
        }
    }
}
