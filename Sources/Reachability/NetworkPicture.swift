import CLarderLinux

enum AddressFamily: UInt8, Hashable {
    case ipv4, ipv6

    init?(_ family: UInt8) {
        switch Int32(family) {
        case AF_INET: self = .ipv4
        case AF_INET6: self = .ipv6
        default: return nil
        }
    }
}

/// One of the machine's links.
struct Link: Equatable {
    let index: Int32
    let name: String
    /// The hardware type, an `ARPHRD_…` constant.
    let hardware: UInt16
    /// The kind of link that the kernel created (`veth`, `bridge`); empty for a link from a device driver.
    let making: String
    let isLoopback: Bool
    /// Whether the link is up, with a peer at the other end.
    let isRunning: Bool

    var canLeadOut: Bool { isRunning && !isLoopback }
}

/// An address that is valid beyond its link.
struct InterfaceAddress: Hashable {
    let family: AddressFamily
    let link: Int32
    /// Whether duplicate address detection found no conflict.
    let isUsable: Bool
}

/// A default route: used for destinations that no more specific route covers.
struct DefaultRoute: Equatable {
    let family: AddressFamily
    var table: UInt32
    var metric: UInt32 = 0
    /// The links that the route uses, without dead links.
    private(set) var links: [Int32] = []

    init(family: AddressFamily, table: UInt32) {
        self.family = family
        self.table = table
    }

    /// Only this many next hops of a route are used.
    static let linkLimit = 64

    mutating func add(link: Int32) {
        if links.count < Self.linkLimit { links.append(link) }
    }
}

/// The links, addresses and default routes of the machine at one moment.
struct NetworkPicture: Equatable {
    /// How many entries of each kind are kept; further ones are ignored. A machine usually has a few entries; a machine with thousands of
    /// containers has some thousands.
    static let linkLimit = 16_384
    static let routeLimit = 1024

    private var links: [Int32: Link] = [:]
    /// The addresses that can be used as a source, each with its link.
    private var addresses: Set<InterfaceAddress> = []
    private var routes: [DefaultRoute] = []

    /// Adds an entry that the kernel reported.
    mutating func add(_ message: NetlinkMessage) {
        switch message {
        case .link(let link):
            if links.count < Self.linkLimit { links[link.index] = link }
        case .address(let address):
            if address.isUsable, addresses.count < Self.linkLimit { addresses.insert(address) }
        case .route(let route):
            if routes.count < Self.routeLimit, !routes.contains(route) { routes.append(route) }
        case .linkGone, .addressGone, .routeGone, .nextHopChanged, .done, .failed, .malformed: break
        }
    }

    /// Whether a reported change may alter this picture.
    func mayBeAltered(by change: NetlinkMessage) -> Bool {
        switch change {
        case .link(let link): links[link.index] != link
        case .linkGone(let index): links[index] != nil
        case .address(let address): !addresses.contains(address)
        case .route(let route): !routes.contains(route)
        case .addressGone, .routeGone, .nextHopChanged, .malformed: true
        case .done, .failed: false
        }
    }

    /// The status of the network in this picture.
    func status(kindOf: (Link) -> InterfaceKind) -> ReachabilityStatus {
        let ways = self.ways
        guard let best = ways.min(by: isBetter), let link = links[best.link] else { return .offline(whyNoWay) }
        let kind = kindOf(link)
        return .online(
            NetworkPath(
                interfaceName: link.name, kind: kind, isMetered: kind == .cellular ? true : nil,
                supportsIPv4: ways.contains { $0.route.family == .ipv4 }, supportsIPv6: ways.contains { $0.route.family == .ipv6 }
            ))
    }

    // MARK: Parts

    private typealias Way = (route: DefaultRoute, link: Int32)

    private var ways: [Way] {
        routes.flatMap { route in route.links.lazy.filter { leadsOut(route.family, by: $0) }.map { (route, $0) } }
    }

    /// Routes of the main table come first, because most outgoing traffic uses them; then routes with a lower metric.
    private func isBetter(_ left: Way, _ right: Way) -> Bool {
        rank(left) < rank(right)
    }

    private func rank(_ way: Way) -> (Int, UInt32, UInt8, Int32) {
        (way.route.table == UInt32(RT_TABLE_MAIN.rawValue) ? 0 : 1, way.route.metric, way.route.family.rawValue, way.link)
    }

    private func leadsOut(_ family: AddressFamily, by index: Int32) -> Bool {
        guard let link = links[index], link.canLeadOut else { return false }
        return hasAddress(family, on: index) || links.values.contains { $0.isLoopback && hasAddress(family, on: $0.index) }
    }

    private func hasAddress(_ family: AddressFamily, on link: Int32) -> Bool {
        addresses.contains(InterfaceAddress(family: family, link: link, isUsable: true))
    }

    private var whyNoWay: OfflineReason {
        let leading = links.values.filter(\.canLeadOut)
        if leading.isEmpty { return .noLink }
        return leading.contains { hasAddress(.ipv4, on: $0.index) || hasAddress(.ipv6, on: $0.index) } ? .noRoute : .noAddress
    }
}
