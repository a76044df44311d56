/// Whether this machine has a network that leads out of it.
///
/// The status reflects the links, addresses and routes that the kernel has. It does not say whether hosts respond; `HostHealth`
/// tracks that for each host.
public enum ReachabilityStatus: Hashable, Sendable {
    /// The kernel has not reported its state yet, or cannot be queried.
    case unknown
    /// No default route leads out of the machine. A machine with only a loopback link is offline.
    case offline(OfflineReason)
    /// A default route leads out of the machine on this path.
    case online(NetworkPath)

    /// Whether the machine is known to be offline.
    public var isOffline: Bool { if case .offline = self { true } else { false } }

    /// Whether the machine is known to be online.
    public var isOnline: Bool { if case .online = self { true } else { false } }
}

/// The first missing requirement, from the lowest layer up.
public enum OfflineReason: String, Hashable, Sendable, CaseIterable {
    /// No link except loopback is up and running.
    case noLink = "no_link"
    /// No running link except loopback has an address that is valid beyond the link.
    case noAddress = "no_address"
    /// No default route uses a running link that has an address valid beyond the link.
    case noRoute = "no_route"
    /// `ReachabilityMonitor.force(_:)` has set this status.
    case forced
}

extension ReachabilityStatus: CustomStringConvertible {
    /// The status as text for people: `online: eth0, wired`, `offline: no route`.
    public var description: String {
        switch self {
        case .unknown: "unknown"
        case .offline(let reason): "offline: \(reason.words)"
        case .online(let path): "online: \(path)"
        }
    }
}

extension OfflineReason {
    fileprivate var words: StaticString {
        switch self {
        case .noLink: "no link"
        case .noAddress: "no address"
        case .noRoute: "no route"
        case .forced: "forced"
        }
    }
}
