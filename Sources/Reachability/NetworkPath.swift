/// The way by which most of what leaves this machine goes: the link of the best default route.
public struct NetworkPath: Hashable, Sendable {
    /// The name of the link, such as `eth0`.
    public var interfaceName: String
    /// Of the interface.
    public var kind: InterfaceKind
    /// Whether what passes is paid for by its amount; `nil` where nobody knows. The kernel is not told: it is known of cellular links alone, which are
    /// taken to be so.
    public var isMetered: Bool?
    /// A default route of IPv4 leads out, with an address of IPv4 to send from; not always by this link.
    public var supportsIPv4: Bool
    /// The same of IPv6.
    public var supportsIPv6: Bool

    /// A path, for tests and for forced statuses.
    public init(
        interfaceName: String, kind: InterfaceKind, isMetered: Bool? = nil, supportsIPv4: Bool = true, supportsIPv6: Bool = false
    ) {
        self.interfaceName = interfaceName
        self.kind = kind
        self.isMetered = isMetered
        self.supportsIPv4 = supportsIPv4
        self.supportsIPv6 = supportsIPv6
    }
}

/// What a link is made of, as far as the kernel tells.
public enum InterfaceKind: String, Hashable, Sendable, CaseIterable {
    /// Ethernet, and what passes for it: bridges, bonds, VLANs, the links of containers.
    case wired
    /// Wi-Fi.
    case wireless
    /// A modem's.
    case cellular
    /// Tunnels, and whatever else.
    case other
}

extension NetworkPath: CustomStringConvertible {
    /// As a person reads it: `eth0, wired`.
    public var description: String { "\(interfaceName), \(kind.rawValue)\(isMetered == true ? ", metered" : "")" }
}
