import CLarderLinux

/// A request for one of the kernel's tables.
enum NetlinkRequest {
    /// The tables, in the order in which they are requested.
    enum Subject: UInt8, Comparable, CaseIterable {
        case links, addresses, routes

        static func < (left: Subject, right: Subject) -> Bool { left.rawValue < right.rawValue }

        var next: Subject? { Subject(rawValue: rawValue + 1) }
    }

    /// The bytes of the request, for all address families.
    static func octets(askingFor subject: Subject, sequence: UInt32) -> [UInt8] {
        let (type, bodyLength) =
            switch subject {
            case .links: (RTM_GETLINK, MemoryLayout<ifinfomsg>.size)
            case .addresses: (RTM_GETADDR, MemoryLayout<ifaddrmsg>.size)
            case .routes: (RTM_GETROUTE, MemoryLayout<rtmsg>.size)
            }
        var head = nlmsghdr()
        head.nlmsg_len = UInt32(NetlinkReader.headLength + bodyLength)
        head.nlmsg_type = UInt16(type)
        head.nlmsg_flags = UInt16(NLM_F_REQUEST | larder_netlink_dump)
        head.nlmsg_seq = sequence
        return withUnsafeBytes(of: &head) { Array($0) } + [UInt8](repeating: 0, count: bodyLength)
    }
}
