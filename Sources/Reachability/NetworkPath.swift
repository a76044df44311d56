/// The route of most outgoing traffic: the link of the best default route.
public struct NetworkPath: Hashable, Sendable {
    /// The name of the link, such as `eth0`.
    public var interfaceName: String
    /// The kind of the link.
    public var kind: InterfaceKind
    /// Whether traffic is charged by volume; `nil` if unknown. The kernel does not know this; only cellular links are assumed
    /// to be metered.
    public var isMetered: Bool?
    /// Whether there is an IPv4 default route and an IPv4 source address; not necessarily on this link.
    public var supportsIPv4: Bool
    /// Whether there is an IPv6 default route and an IPv6 source address; not necessarily on this link.
    public var supportsIPv6: Bool

    /// A path, for tests and forced statuses.
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

/// The kind of a link, as far as the kernel knows it.
public enum InterfaceKind: String, Hashable, Sendable, CaseIterable {
    /// Ethernet, and links that look like it: bridges, bonds, VLANs, links of containers.
    case wired
    /// Wi-Fi.
    case wireless
    /// A modem for a mobile network.
    case cellular
    /// Tunnels, and all other links.
    case other
}

extension NetworkPath: CustomStringConvertible {
    /// The path as text for people: `eth0, wired`.
    public var description: String { "\(interfaceName), \(kind.rawValue)\(isMetered == true ? ", metered" : "")" }
}
