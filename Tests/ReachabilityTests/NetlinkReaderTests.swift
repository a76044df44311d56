import TestSupport
import Testing

@testable import Reachability

/// The messages in a datagram that reachability depends on.
func messages(in datagram: [UInt8]) -> [NetlinkMessage] {
    var messages: [NetlinkMessage] = []
    _ = NetlinkReader.readMessages(datagram.span) { head, payload in
        if let message = NetlinkMessage(head, payload) { messages.append(message) }
    }
    return messages
}

@Suite("Netlink: reading recorded kernel messages")
struct NetlinkReaderTests {
    @Test("Links are read with their names, hardware and state")
    func links() {
        let links = Recorded.links.flatMap(messages(in:)).compactMap { message in
            if case .link(let link) = message { link } else { nil }
        }
        #expect(links.map(\.name).sorted() == ["lo", "v0", "v1"])
        for link in links {
            #expect(link.isLoopback == (link.name == "lo") && link.isRunning)
            #expect(link.hardware == (link.name == "lo" ? 772 : 1) && link.making == (link.name == "lo" ? "" : "veth"))
        }
    }

    @Test("Only addresses valid beyond their link are read, and only default routes")
    func addressesAndRoutes() {
        let addresses = Recorded.addresses.flatMap(messages(in:))
        let v0 = Self.index(of: "v0")
        #expect(
            addresses == [
                .address(InterfaceAddress(family: .ipv4, link: v0, isUsable: true)),
                .address(InterfaceAddress(family: .ipv6, link: v0, isUsable: true)), .done,
            ])
        var ipv4 = DefaultRoute(family: .ipv4, table: 254)
        ipv4.metric = 100
        ipv4.add(link: v0)
        var ipv6 = DefaultRoute(family: .ipv6, table: 254)
        ipv6.metric = 1024
        ipv6.add(link: v0)
        #expect(Recorded.routes.flatMap(messages(in:)) == [.route(ipv4), .route(ipv6), .done])
        #expect(Recorded.routeGone.flatMap(messages(in:)) == [.routeGone(ipv4)])
    }

    @Test("A route with several next hops has the link of each")
    func nextHops() {
        let v0 = Self.index(of: "v0")
        var route = DefaultRoute(family: .ipv4, table: 254)
        route.add(link: v0)
        route.add(link: v0)
        #expect(Recorded.routeOfTwoHops.flatMap(messages(in:)) == [.route(route)])
    }

    @Test("The kernel reports that a link goes down, but not that its IPv4 route is removed")
    func linkDown() {
        let said = Recorded.linkDown.flatMap(messages(in:))
        #expect(said.contains { if case .link(let link) = $0 { link.name == "v0" && !link.isRunning } else { false } })
        #expect(!said.contains { if case .routeGone(let route) = $0 { route.family == .ipv4 } else { false } })
        #expect(Recorded.linkGone.flatMap(messages(in:)).contains(.linkGone(index: Self.index(of: "v0"))))
    }

    @Test("A request has a head and a body of zeros, as the `ip` tool sends it", arguments: NetlinkRequest.Subject.allCases)
    func requests(subject: NetlinkRequest.Subject) {
        let request = NetlinkRequest.octets(askingFor: subject, sequence: 7)
        var heads: [NetlinkHead] = []
        let isWhole = NetlinkReader.readMessages(request.span) { head, payload in
            heads.append(head)
            for index in 0..<payload.count { #expect(payload[index] == 0) }
        }
        // The types of RTM_GETLINK, RTM_GETADDR and RTM_GETROUTE, with NLM_F_REQUEST and NLM_F_DUMP.
        let type: UInt16 = [.links: 18, .addresses: 22, .routes: 26][subject] ?? 0
        #expect(isWhole && heads == [NetlinkHead(type: type, flags: 0x301, sequence: 7, port: 0)])
    }

    @Test(
        "An impossible length ends the reading and is reported",
        arguments: [
            (length: UInt8(15), count: 20), (length: 21, count: 20), (length: 0, count: 16), (length: 16, count: 15),
            (length: 255, count: 20),
        ])
    func refusesLengths(length: UInt8, count: Int) {
        var octets = [UInt8](repeating: 0, count: count)
        octets[0] = length
        #expect(!NetlinkReader.readMessages(octets.span) { _, _ in Issue.record("read") })
    }

    @Test("An attribute that extends beyond its message makes the message malformed", arguments: [16, 20, 24])
    func refusesAttributes(type: UInt8) {
        // A head, a body of 16 bytes (fewer for a route and an address), and an attribute whose announced 200 bytes are missing.
        let bodyLength = [16: 16, 20: 8, 24: 12][Int(type)] ?? 0
        var body = [UInt8](repeating: 0, count: bodyLength)
        if type != 16 { body[0] = 2 }
        if type == 24 { body[7] = 1 }
        let length = UInt8(16 + bodyLength + 4)
        let message = [length, 0, 0, 0, type, 0, 0, 0] + [UInt8](repeating: 0, count: 8) + body + [200, 0, 3, 0]
        #expect(messages(in: message) == [.malformed])
    }

    @Test("Changed, truncated and concatenated datagrams are read without a crash", arguments: 1...8 as ClosedRange<UInt64>)
    func readsAnything(seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        let recordings =
            Recorded.links + Recorded.addresses + Recorded.routes + Recorded.linkDown + Recorded.linkUp + Recorded.routeOfTwoHops
            + Recorded.addressGone + Recorded.linkGone
        var conversation = NetlinkConversation(port: Recorded.port)
        var sequence: UInt32 = 0
        var counts = (messages: 0, pictures: 0)
        func carryOut(_ action: NetlinkConversation.Action) {
            switch action {
            case .none: return
            case .send(_, let next): sequence = next
            case .beginAgain: carryOut(conversation.begin())
            case .tell:
                counts.pictures += 1
                _ = conversation.picture.status { _ in .wired }
                _ = conversation.lose()
                carryOut(conversation.begin())
            }
        }
        carryOut(conversation.begin())
        for _ in 0..<4000 {
            var octets = chance.one(of: recordings)
            if chance.chance(60) {
                for _ in 0..<chance.below(12) { octets[chance.below(octets.count)] = Self.octet(&chance) }
                // Most changes hit lengths: at the start of a message, and of its first attributes.
                octets[chance.below(min(octets.count, 64))] = Self.octet(&chance)
            }
            if chance.chance(30) { octets.removeLast(chance.below(octets.count)) }
            if chance.chance(10) { octets += chance.one(of: recordings) }
            var length = 0
            _ = NetlinkReader.readMessages(octets.span) { head, payload in
                length += payload.count + NetlinkReader.headLength
                guard let message = NetlinkMessage(head, payload) else { return }
                counts.messages += 1
                // Half of the messages are given as answers to the last request.
                let answer = NetlinkHead(type: head.type, flags: head.flags, sequence: sequence, port: Recorded.port)
                let isInterrupted = head.flags & 0x10 != 0
                carryOut(conversation.receive(chance.chance(50) ? answer : head, message, isInterrupted: isInterrupted))
            }
            #expect(length <= octets.count)
        }
        #expect(counts.messages > 1000 && counts.pictures > 1)
    }

    private static func octet(_ chance: inout SeededGenerator) -> UInt8 {
        chance.chance(50) ? chance.one(of: [0, 1, 3, 4, 8, 15, 16, 17, 127, 128, 254, 255]) : UInt8(chance.below(256))
    }

    static func index(of name: String) -> Int32 {
        for case .link(let link) in Recorded.links.flatMap(messages(in:)) where link.name == name { return link.index }
        return -1
    }
}
