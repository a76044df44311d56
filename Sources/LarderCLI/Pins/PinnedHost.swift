import ProxyAdmin
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
    /// Reported only, until `enforcedFrom` if that is given.
    var isReportOnly = false
    var enforcedFrom: CalendarDay?
    /// Certificates are pinned, which are told by their keys.
    var pinsCertificates = false

    var pins: [SHA256Digest] { live + backup }

    /// For people, as settings have it.
    var title: String {
        let host = name.contains(":") && port != nil ? "[\(name)]" : name
        return (breadth == .itself ? host : "*.\(host)") + (port.map { ":\($0)" } ?? "")
    }

    /// `nil` for what is no host.
    var scope: HostScope? {
        HostScope(host: breadth == .itself ? name : "*.\(name)", labels: breadth == .oneLabelBelow ? .one : .all, port: port)
    }

    /// Without a day that is over by then.
    func standing(at now: POSIXTime) -> PinnedHost {
        guard let enforcedFrom, now >= enforcedFrom.firstSecond else { return self }
        var host = self
        host.isReportOnly = false
        host.enforcedFrom = nil
        return host
    }

    func isExpired(at now: POSIXTime) -> Bool { expires.map { now > $0.lastSecond } ?? false }

    /// A host, and what is below it, each for itself.
    var parts: [PinnedHost] {
        guard breadth == .itselfAndBelow else { return [self] }
        var parts = [self, self]
        parts[0].breadth = .itself
        parts[1].breadth = .below
        return parts
    }

    /// Each host once, as settings want it.
    /// - Parameter addsUp: whether a host that stands several times has all their pins; else they have to be the same.
    static func gathered(_ hosts: [PinnedHost], addsUp: Bool) throws(PinFormatFault) -> [PinnedHost] {
        var result: [PinnedHost] = []
        var indices: [HostScope: Int] = [:]
        for host in hosts.flatMap(\.parts) {
            guard let scope = host.scope else { throw PinFormatFault("`\(printable(host.title))` is no host") }
            if host.live.isEmpty { throw PinFormatFault("\(host.title) has no pins") }
            // RFC 7469 §4.3: with the live key a spare that is the same one is lost as well.
            if !Set(host.live).isDisjoint(with: host.backup) {
                throw PinFormatFault("a backup of \(host.title) is one of its other pins")
            }
            guard let index = indices[scope] else {
                indices[scope] = result.count
                result.append(host)
                continue
            }
            var same = result[index]
            same.name = host.name
            if addsUp {
                result[index].live += host.live.filter { !same.live.contains($0) }
            } else if same != host {
                throw PinFormatFault("\(host.title) stands twice, and not with the same pins")
            }
        }
        return joined(result)
    }

    /// A name and everything below it with the same pins are one, for formats that say it in one.
    static func joined(_ hosts: [PinnedHost]) -> [PinnedHost] {
        var result: [PinnedHost] = []
        var indices: [String: Int] = [:]
        for host in hosts {
            var twin = host
            twin.breadth = host.breadth == .below ? .itself : .below
            if [.itself, .below].contains(host.breadth), let index = indices[twin.title], result[index] == twin {
                result[index].breadth = .itselfAndBelow
            } else {
                indices[host.title] = result.count
                result.append(host)
            }
        }
        return result
    }
}

extension PinnedHost {
    /// - Parameter pattern: a host, in brackets or not, or `*.` and a host.
    init(pattern: String, labels: TrustPolicySet.Entry.Labels = .all, live: [SHA256Digest]) {
        let isPattern = pattern.hasPrefix("*.")
        let host = isPattern ? String(pattern.dropFirst(2)) : pattern
        let isBracketed = !isPattern && host.hasPrefix("[") && host.hasSuffix("]") && host.contains(":")
        self.init(
            name: isBracketed ? String(host.dropFirst().dropLast()) : host,
            breadth: !isPattern ? .itself : labels == .one ? .oneLabelBelow : .below, live: live)
    }
}
