import CommandSupport
import ServerTrust

/// The pins of one host, or of the hosts below a name, in the form that pinning programs exchange: digests of keys.
package struct PinnedHost: Equatable, Sendable {
    package enum Scope: Sendable { case itself, oneLabelBelow, below, itselfAndBelow }

    /// The name of the host, or its address without brackets; never with a star.
    package var name: String
    package var breadth = Scope.itself
    /// The port for which the pins apply; `nil` for every port.
    package var port: UInt16?
    package var live: [SHA256Digest]
    package var backup: [SHA256Digest] = []
    /// The last day on which the pins are enforced.
    package var expires: CalendarDay?
    package var onExpiry = PinSet.Expiry.fails
    /// Whether violations are only reported. If `enforcedFrom` is set, they are only reported until that time.
    package var isReportOnly = false
    package var enforcedFrom: CalendarDay?
    /// Whether the settings pin certificates. Here, certificates are represented by their keys.
    package var pinsCertificates = false

    package init(
        name: String, breadth: Scope = .itself, port: UInt16? = nil, live: [SHA256Digest], backup: [SHA256Digest] = [],
        expires: CalendarDay? = nil, onExpiry: PinSet.Expiry = .fails, isReportOnly: Bool = false,
        enforcedFrom: CalendarDay? = nil, pinsCertificates: Bool = false
    ) {
        self.name = name
        self.breadth = breadth
        self.port = port
        self.live = live
        self.backup = backup
        self.expires = expires
        self.onExpiry = onExpiry
        self.isReportOnly = isReportOnly
        self.enforcedFrom = enforcedFrom
        self.pinsCertificates = pinsCertificates
    }

    package var pins: [SHA256Digest] { live + backup }

    /// The host as text for people, in the form of the settings.
    package var title: String {
        let host = name.contains(":") && port != nil ? "[\(name)]" : name
        return (breadth == .itself ? host : "*.\(host)") + (port.map { ":\($0)" } ?? "")
    }

    /// The scope of these pins; `nil` if the name is not a valid host.
    package var scope: HostScope? {
        HostScope(host: breadth == .itself ? name : "*.\(name)", labels: breadth == .oneLabelBelow ? .one : .all, port: port)
    }

    /// The pins as they apply at this time: once `enforcedFrom` is reached, the pins are enforced.
    package func standing(at now: POSIXTime) -> PinnedHost {
        guard let enforcedFrom, now >= enforcedFrom.firstSecond else { return self }
        var host = self
        host.isReportOnly = false
        host.enforcedFrom = nil
        return host
    }

    package func isExpired(at now: POSIXTime) -> Bool { expires.map { now > $0.lastSecond } ?? false }

    /// Splits an entry that applies to a host and all names below it into two entries: one for the host, and one for the names below
    /// it.
    package var parts: [PinnedHost] {
        guard breadth == .itselfAndBelow else { return [self] }
        var parts = [self, self]
        parts[0].breadth = .itself
        parts[1].breadth = .below
        return parts
    }
}

extension PinnedHost {
    /// - Parameter pattern: a host, with or without brackets, or `*.` and a host.
    package init(pattern: String, labels: TrustPolicySet.Entry.Labels = .all, live: [SHA256Digest]) {
        let isPattern = pattern.hasPrefix("*.")
        let host = isPattern ? String(pattern.dropFirst(2)) : pattern
        let isBracketed = !isPattern && host.hasPrefix("[") && host.hasSuffix("]") && host.contains(":")
        self.init(
            name: isBracketed ? String(host.dropFirst().dropLast()) : host,
            breadth: !isPattern ? .itself : labels == .one ? .oneLabelBelow : .below, live: live)
    }
}
