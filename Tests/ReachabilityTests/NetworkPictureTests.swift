import Testing

@testable import Reachability

@Suite("The network status from links, addresses and routes")
struct NetworkPictureTests {
    private static func link(_ name: String, _ index: Int32, isLoopback: Bool = false, isRunning: Bool = true) -> NetlinkMessage {
        .link(Link(index: index, name: name, hardware: 1, making: "", isLoopback: isLoopback, isRunning: isRunning))
    }

    private static func address(_ family: AddressFamily, _ link: Int32, isUsable: Bool = true) -> NetlinkMessage {
        .address(InterfaceAddress(family: family, link: link, isUsable: isUsable))
    }

    private static func route(_ family: AddressFamily, _ links: Int32..., metric: UInt32 = 0, table: UInt32 = 254)
        -> NetlinkMessage
    {
        var route = DefaultRoute(family: family, table: table)
        route.metric = metric
        for link in links { route.add(link: link) }
        return .route(route)
    }

    private static let loopback = link("lo", 1, isLoopback: true)

    private static func status(_ messages: [NetlinkMessage], kind: InterfaceKind = .wired) -> ReachabilityStatus {
        var picture = NetworkPicture()
        for message in messages { picture.add(message) }
        return picture.status { _ in kind }
    }

    @Test("The reason for being offline is the first missing part: link, address or route")
    func reasons() {
        #expect(Self.status([]) == .offline(.noLink))
        #expect(Self.status([Self.loopback, Self.address(.ipv4, 1), Self.route(.ipv4, 1)]) == .offline(.noLink))
        let down = Self.link("e0", 2, isRunning: false)
        #expect(Self.status([Self.loopback, down, Self.address(.ipv4, 2), Self.route(.ipv4, 2)]) == .offline(.noLink))
        let up = Self.link("e0", 2)
        #expect(Self.status([Self.loopback, up, Self.route(.ipv4, 2)]) == .offline(.noAddress))
        #expect(
            Self.status([Self.loopback, up, Self.address(.ipv4, 2, isUsable: false), Self.route(.ipv4, 2)])
                == .offline(.noAddress))
        #expect(Self.status([Self.loopback, up, Self.address(.ipv4, 2)]) == .offline(.noRoute))
        #expect(Self.status([Self.loopback, up, Self.address(.ipv4, 2), Self.route(.ipv6, 2)]) == .offline(.noRoute))
        #expect(
            Self.status([Self.loopback, up, Self.address(.ipv4, 2), Self.route(.ipv4, 2)])
                == .online(NetworkPath(interfaceName: "e0", kind: .wired)))
    }

    @Test("An address on the loopback link counts for every link")
    func addressOnLoopback() {
        let status = Self.status([Self.loopback, Self.link("e0", 2), Self.address(.ipv4, 1), Self.route(.ipv4, 2)])
        #expect(status == .online(NetworkPath(interfaceName: "e0", kind: .wired)))
    }

    @Test("The main table's route with the lowest metric is chosen; a link that is down is skipped, and both families count")
    func choosesTheBest() {
        let all = [
            Self.loopback, Self.link("wg0", 4), Self.link("w0", 3), Self.link("e0", 2), Self.address(.ipv4, 2),
            Self.address(.ipv4, 3),
            Self.address(.ipv6, 3), Self.address(.ipv4, 4), Self.route(.ipv4, 4, table: 51_820),
            Self.route(.ipv4, 2, metric: 100),
            Self.route(.ipv4, 3, metric: 600), Self.route(.ipv6, 3, metric: 1024),
        ]
        #expect(
            Self.status(all) == .online(NetworkPath(interfaceName: "e0", kind: .wired, supportsIPv4: true, supportsIPv6: true)))
        let pulled = all + [Self.link("e0", 2, isRunning: false)]
        #expect(
            Self.status(pulled, kind: .cellular)
                == .online(NetworkPath(interfaceName: "w0", kind: .cellular, isMetered: true, supportsIPv6: true)))
    }

    @Test("The number of links and routes is limited")
    func isBounded() {
        var picture = NetworkPicture()
        for index in 1...Int32(NetworkPicture.linkLimit) + 1 { picture.add(Self.link("l", index)) }
        #expect(!picture.mayBeAltered(by: Self.link("l", Int32(NetworkPicture.linkLimit))))
        #expect(picture.mayBeAltered(by: Self.link("l", Int32(NetworkPicture.linkLimit) + 1)))
        for metric in 1...UInt32(NetworkPicture.routeLimit) + 1 { picture.add(Self.route(.ipv4, 1, metric: metric)) }
        #expect(!picture.mayBeAltered(by: Self.route(.ipv4, 1, metric: UInt32(NetworkPicture.routeLimit))))
        #expect(picture.mayBeAltered(by: Self.route(.ipv4, 1, metric: UInt32(NetworkPicture.routeLimit) + 1)))
        var route = DefaultRoute(family: .ipv4, table: 254)
        for link in 0...Int32(DefaultRoute.linkLimit) { route.add(link: link) }
        #expect(route.links.count == DefaultRoute.linkLimit)
    }

    @Test("The description of a status is plain text")
    func describes() {
        #expect(ReachabilityStatus.offline(.noRoute).description == "offline: no route")
        #expect(
            Self.status([Self.link("m0", 2), Self.address(.ipv4, 2), Self.route(.ipv4, 2)], kind: .cellular).description
                == "online: m0, cellular, metered")
    }
}
