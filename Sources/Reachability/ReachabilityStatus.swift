/// Whether this machine has a network that leads out of it.
///
/// It says what the kernel knows of links, addresses and routes. It does not say that anything answers at the other end: what attempts have
/// shown of one host is in `HostHealth`.
public enum ReachabilityStatus: Hashable, Sendable {
    /// Nobody knows: the kernel has not been asked yet, or cannot be.
    case unknown
    /// Nothing leads out. A machine with loopback alone is offline.
    case offline(OfflineReason)
    /// A default route leads out by this path.
    case online(NetworkPath)

    /// Whether it is known that nothing leads out.
    public var isOffline: Bool { if case .offline = self { true } else { false } }

    /// Whether it is known that something leads out.
    public var isOnline: Bool { if case .online = self { true } else { false } }
}

/// What is missing first, from the bottom.
public enum OfflineReason: String, Hashable, Sendable, CaseIterable {
    /// No link but loopback is up and running.
    case noLink = "no_link"
    /// No such link has an address that means something beyond it.
    case noAddress = "no_address"
    /// No default route leads out by such a link.
    case noRoute = "no_route"
    /// Somebody has said so, with `ReachabilityMonitor.force(_:)`.
    case forced
}

extension ReachabilityStatus: CustomStringConvertible {
    /// As a person reads it: `online: eth0, wired`, `offline: no route`.
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
