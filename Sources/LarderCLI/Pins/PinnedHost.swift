import ServerTrust

/// The pins of a host, or of hosts below a name, as programs that pin pass them on to each other: keys by their digests.
struct PinnedHost: Equatable, Sendable {
    enum Breadth: Sendable { case itself, oneLabelBelow, below, itselfAndBelow }

    /// A name, or an address without brackets; never a star.
    var name: String
    var breadth = Breadth.itself
    /// `nil` for every port.
    var port: UInt16?
    var live: [SHA256Digest]
    var backup: [SHA256Digest] = []
    /// The last day on which the pins bind.
    var expires: CalendarDay?
    var onExpiry = PinSet.Expiry.fails
    var isReportOnly = false

    var pins: [SHA256Digest] { live + backup }

    /// For people, as settings have it.
    var title: String {
        let host = name.contains(":") && port != nil ? "[\(name)]" : name
        return (breadth == .itself ? host : "*.\(host)") + (port.map { ":\($0)" } ?? "")
    }

    /// Hosts that stand several times, with all their pins together.
    static func gathered(_ hosts: [PinnedHost]) -> [PinnedHost] {
        var result: [PinnedHost] = []
        for host in hosts {
            if let index = result.firstIndex(where: { $0.name == host.name && $0.breadth == host.breadth }) {
                result[index].live += host.live.filter { !result[index].live.contains($0) }
            } else {
                result.append(host)
            }
        }
        return result
    }

    /// A name and everything below it with the same pins are one, for formats that say it in one.
    static func joined(_ hosts: [PinnedHost]) -> [PinnedHost] {
        var result: [PinnedHost] = []
        for host in hosts {
            var twin = host
            twin.breadth = host.breadth == .below ? .itself : .below
            if [.itself, .below].contains(host.breadth), let index = result.firstIndex(of: twin) {
                result[index].breadth = .itselfAndBelow
            } else {
                result.append(host)
            }
        }
        return result
    }
}
