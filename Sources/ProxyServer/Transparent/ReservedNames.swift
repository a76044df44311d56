import EventLoop
import HTTPMessage
import ProxyPolicy

/// The names that were looked up in a command's network namespace. Each name has its own reserved addresses, so a connection to such an
/// address identifies the name.
///
/// 198.18.0.0/15 is for tests of network devices (RFC 2544), and the IPv6 addresses are local ones (RFC 4193): no server has one of these
/// addresses. Names keep their addresses for the life of the namespace, since programs may keep them too.
package final class ReservedNames: Sendable {
    /// The answer to a query for a name.
    package enum Resolution: Equatable, Sendable {
        case addresses(ipv4: IPAddress, ipv6: IPAddress)
        /// No rule allows a request to this host, or it is not the name of a host.
        case denied
        /// The limit of names is reached, so this name gets no addresses.
        case full
    }

    /// Names for which no rule allows a request, in the order of their first query.
    package struct Denied: Equatable, Sendable {
        package fileprivate(set) var names: [String] = []
        /// Whether there were more than `deniedLimit` names.
        package fileprivate(set) var isCut = false
    }

    private struct State {
        var numbers: [[UInt8]: UInt32] = [:]
        var names: [[UInt8]] = []
        var denied = Denied()
    }

    package static let nameLimit = 16_384
    package static let deniedLimit = 100
    /// The maximum lengths of a name and of a label, in bytes (RFC 1035 §2.3.4).
    private static let lengthLimit = 253
    private static let labelLimit = 63

    /// The address of the name with number 0. The first address of the range has no name.
    private static let firstIPv4: UInt32 = 0xC612_0001
    private static let rangeIPv4: UInt32 = 0xC612_0000
    private static let maskIPv4: UInt32 = 0xFFFE_0000
    private static let prefixIPv6: UInt64 = 0xFD6C_6172_6465_7200
    private static let firstIPv6: UInt64 = 1

    private let state = Guarded(State())

    package init() {}

    /// - Parameter name: the labels, with dots between them and none at the end.
    package func resolve(_ name: [UInt8], under rules: PolicyRuleSet) -> Resolution {
        let name = name.map(ASCII.lowercased)
        guard Self.isHostName(name) else { return .denied }
        let isAllowed = rules.mayAllow(name: name)
        return state.withLock { state in
            guard isAllowed else {
                state.denied.insert(String(decoding: name, as: UTF8.self))
                return .denied
            }
            if let number = state.numbers[name] { return Self.addresses(number) }
            guard state.names.count < Self.nameLimit else { return .full }
            let number = UInt32(state.names.count)
            state.names.append(name)
            state.numbers[name] = number
            return Self.addresses(number)
        }
    }

    /// Whether `resolve` would return addresses for the name. This function answers queries about records other than addresses. Such a
    /// query is no attempt to connect, so it reserves no address and does not count as denied.
    package func exists(_ name: [UInt8], under rules: PolicyRuleSet) -> Bool {
        let name = name.map(ASCII.lowercased)
        return Self.isHostName(name) && rules.mayAllow(name: name)
    }

    package var denied: Denied { state.withLock { $0.denied } }

    /// - Returns: `nil` if the address is reserved, but belongs to no name.
    func origin(at destination: PeerAddress) -> TransparentOrigin? {
        let address = destination.address.unmapped
        let number: UInt64
        switch address.family {
        case .ipv4 where UInt32(truncatingIfNeeded: address.low) & Self.maskIPv4 == Self.rangeIPv4:
            number = address.low &- UInt64(Self.firstIPv4)
        case .ipv6 where address.high == Self.prefixIPv6: number = address.low &- Self.firstIPv6
        case .ipv4, .ipv6:
            let kind: RequestTarget.HostKind = address.family == .ipv4 ? .ipv4 : .ipv6
            return TransparentOrigin(host: Array("\(address)".utf8), hostKind: kind, port: destination.port)
        }
        let name = state.withLock { state in number < UInt64(state.names.count) ? state.names[Int(number)] : nil }
        return name.map { TransparentOrigin(host: $0, hostKind: .name, port: destination.port) }
    }

    private static func addresses(_ number: UInt32) -> Resolution {
        .addresses(
            ipv4: IPAddress(ipv4: firstIPv4 + number), ipv6: IPAddress(ipv6High: prefixIPv6, low: firstIPv6 + UInt64(number)))
    }

    /// Whether the name can be a host name in a URL, so that it cannot change the meaning of a request that contains it. A name whose last
    /// label begins with a digit could be read as an address.
    private static func isHostName(_ name: [UInt8]) -> Bool {
        guard (1...lengthLimit).contains(name.count) else { return false }
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let first = labels.last?.first, !ASCII.isDigit(first) else { return false }
        return labels.allSatisfy { label in
            (1...labelLimit).contains(label.count)
                && label.allSatisfy {
                    ASCII.isAlpha($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
                }
        }
    }
}

extension ReservedNames.Denied {
    /// A line for the summary of a run; `nil` if no name was denied.
    package var remark: String? {
        if names.isEmpty { return nil }
        return "no rule allows requests to these hosts: " + names.joined(separator: ", ") + (isCut ? " and more" : "")
    }

    fileprivate mutating func insert(_ name: String) {
        if names.contains(name) { return }
        if names.count < ReservedNames.deniedLimit { names.append(name) } else { isCut = true }
    }
}
