import CLarderLinux

/// The parts of a kernel message that Larder uses.
enum NetlinkMessage: Equatable {
    case link(Link)
    case linkGone(index: Int32)
    case address(InterfaceAddress)
    case addressGone(InterfaceAddress)
    case route(DefaultRoute)
    case routeGone(DefaultRoute)
    /// A next hop changed. Routes that use it may disappear without a message of their own.
    case nextHopChanged
    /// The answer is complete.
    case done
    /// The kernel refused the request, or did not send the whole answer.
    case failed
    /// An invalid header or attribute.
    case malformed

    /// The table that the message is about; `nil` for messages about the request itself.
    var subject: NetlinkRequest.Subject? {
        switch self {
        case .link, .linkGone: .links
        case .address, .addressGone: .addresses
        case .route, .routeGone, .nextHopChanged: .routes
        case .done, .failed, .malformed: nil
        }
    }
}

extension NetlinkMessage {
    /// - Returns: `nil` for messages that do not matter: a route with a prefix other than the default, an address that is only valid on its
    ///   link, a family other than IPv4 and IPv6.
    init?(_ head: NetlinkHead, _ payload: Span<UInt8>) {
        switch Int(head.type) {
        case Int(NLMSG_DONE): self = Self.result(payload, ifMissing: 0) < 0 ? .failed : .done
        case Int(NLMSG_ERROR):
            // A result of 0 is an acknowledgment, which Larder does not request.
            guard Self.result(payload, ifMissing: -1) != 0 else { return nil }
            self = .failed
        case Int(RTM_NEWLINK): self.init(link: payload, isGone: false)
        case Int(RTM_DELLINK): self.init(link: payload, isGone: true)
        case Int(RTM_NEWADDR): self.init(address: payload, isGone: false)
        case Int(RTM_DELADDR): self.init(address: payload, isGone: true)
        case Int(RTM_NEWROUTE): self.init(route: payload, isGone: false)
        case Int(RTM_DELROUTE): self.init(route: payload, isGone: true)
        case Int(RTM_NEWNEXTHOP), Int(RTM_DELNEXTHOP): self = .nextHopChanged
        default: return nil
        }
    }

    private static func result(_ payload: Span<UInt8>, ifMissing: Int32) -> Int32 {
        payload.number32.map { Int32(bitPattern: $0) } ?? ifMissing
    }

    /// `struct ifinfomsg`: family, type, index, flags, change.
    private init?(link payload: Span<UInt8>, isGone: Bool) {
        guard payload.count >= 16 else {
            self = .malformed
            return
        }
        // A bridge reports its ports under its own family; a port may be removed from the bridge while its link stays.
        guard payload[0] == UInt8(AF_UNSPEC) else { return nil }
        let index = Int32(bitPattern: payload.number32(at: 4))
        if isGone {
            self = .linkGone(index: index)
            return
        }
        var name: String?
        var making = ""
        var isWhole = true
        let isRead = NetlinkReader.readAttributes(payload.extracting(16...)) { type, value in
            switch type {
            case Int(IFLA_IFNAME): name = value.text
            case Int(IFLA_LINKINFO):
                isWhole = NetlinkReader.readAttributes(value) { type, value in
                    if type == Int(IFLA_INFO_KIND) { making = value.text }
                }
            default: break
            }
        }
        guard isRead, isWhole else {
            self = .malformed
            return
        }
        // A message without a name is a Wi-Fi driver's event without other information.
        guard let name else { return nil }
        let flags = payload.number32(at: 8)
        self = .link(
            Link(
                index: index, name: name, hardware: payload.number16(at: 2), making: making,
                isLoopback: flags & UInt32(IFF_LOOPBACK) != 0,
                isRunning: flags & UInt32(IFF_UP) != 0 && flags & UInt32(IFF_RUNNING) != 0))
    }

    /// `struct ifaddrmsg`: family, length of the prefix, flags, scope, index.
    private init?(address payload: Span<UInt8>, isGone: Bool) {
        guard payload.count >= 8 else {
            self = .malformed
            return
        }
        guard let family = AddressFamily(payload[0]), payload[3] < UInt8(RT_SCOPE_LINK.rawValue) else { return nil }
        var flags = UInt32(payload[2])
        let isRead = NetlinkReader.readAttributes(payload.extracting(8...)) { type, value in
            if type == Int(IFA_FLAGS), let number = value.number32 { flags = number }
        }
        guard isRead else {
            self = .malformed
            return
        }
        let isTentative = flags & UInt32(IFA_F_TENTATIVE) != 0 && flags & UInt32(IFA_F_OPTIMISTIC) == 0
        let address = InterfaceAddress(
            family: family, link: Int32(bitPattern: payload.number32(at: 4)),
            isUsable: !isTentative && flags & UInt32(IFA_F_DADFAILED) == 0)
        self = isGone ? .addressGone(address) : .address(address)
    }

    /// `struct rtmsg`: family, lengths of destination and source, type of service, table, protocol, scope, type, flags.
    private init?(route payload: Span<UInt8>, isGone: Bool) {
        guard payload.count >= 12 else {
            self = .malformed
            return
        }
        guard let family = AddressFamily(payload[0]), payload[1] == 0, payload[2] == 0, payload[7] == UInt8(RTN_UNICAST) else {
            return nil
        }
        var route = DefaultRoute(family: family, table: UInt32(payload[4]))
        let flags = payload.number32(at: 8)
        var isWhole = true
        let isRead = NetlinkReader.readAttributes(payload.extracting(12...)) { type, value in
            switch type {
            case Int(RTA_TABLE.rawValue): route.table = value.number32 ?? route.table
            case Int(RTA_PRIORITY.rawValue): route.metric = value.number32 ?? route.metric
            case Int(RTA_OIF.rawValue):
                if let link = value.number32, flags & Self.deadFlags == 0 { route.add(link: Int32(bitPattern: link)) }
            case Int(RTA_MULTIPATH.rawValue):
                isWhole = NetlinkReader.readNextHops(value) { flags, link in
                    if UInt32(flags) & Self.deadFlags == 0 { route.add(link: link) }
                }
            default: break
            }
        }
        guard isRead, isWhole else {
            self = .malformed
            return
        }
        self = isGone ? .routeGone(route) : .route(route)
    }

    private static let deadFlags = UInt32(RTNH_F_DEAD | RTNH_F_LINKDOWN)
}
