import CertificateAuthority
import CommandSupport
import ServerTrust
import UpstreamTransport

/// The trust settings under `tls:` after their files are read: the policies, how CONNECT is handled, and warnings. A reload replaces
/// this value as a whole.
package struct LoadedTrust: Sendable {
    package let policies: TrustPolicySet
    /// Larder's client certificates, for hosts that request one.
    package let identities: HostTable<ClientIdentity>
    /// The file to which the secrets of TLS connections are written.
    package let keyLog: KeyLog?
    /// The hosts with pins, in the order of the settings.
    package let pinned: [PinnedHost]
    /// The places in the settings of the hosts' policies, in the order of the settings.
    package let sites: [SettingsLocation]
    package let fallbackSite: SettingsLocation
    /// The folder that `tls.pins_from` names.
    package let pinsFolder: String?
    /// How CONNECT is handled.
    package let connect: ConnectPolicy
    /// The CA for interception; `nil` if no host is intercepted.
    package let authority: LocalAuthority?
    private let remarks: [TrustWarning]

    init(
        policies: TrustPolicySet, identities: HostTable<ClientIdentity>, keyLog: KeyLog?, pinned: [PinnedHost],
        sites: [SettingsLocation], fallbackSite: SettingsLocation, pinsFolder: String?, connect: ConnectPolicy,
        authority: LocalAuthority?,
        remarks: [TrustWarning]
    ) {
        self.policies = policies
        self.identities = identities
        self.keyLog = keyLog
        self.pinned = pinned
        self.sites = sites
        self.fallbackSite = fallbackSite
        self.pinsFolder = pinsFolder
        self.connect = connect
        self.authority = authority
        self.remarks = remarks
    }

    /// The place of the policy that applies to a host, even if the policy also covers other hosts.
    package func site(host: String, port: UInt16) -> SettingsLocation {
        var table = HostTable<SettingsLocation>()
        for site in sites {
            if let scope = site.entry?.scope { _ = table.insert(site, for: scope) }
        }
        return table.value(host: host, port: port) ?? fallbackSite
    }

    /// Warnings that apply at this time: about policies that are weakened, with the end date, and about pins that expired.
    package func warnings(at now: POSIXTime) -> [String] { remarks.compactMap { $0.sentence(at: now) } }
}

/// A warning about a policy, which applies now or from a later time on.
struct TrustWarning: Sendable {
    enum Kind: Sendable {
        case weakened(meanings: [String], until: CalendarDay)
        case pinsExpire(CalendarDay, PinSet.Expiry)
        case noSystemAnchors
        case keyLog
    }

    /// The policy's entry and the place of the entry: `tls.hosts.old.example (larder.yaml:12:5)`.
    let subject: String
    let matter: Kind

    /// - Returns: `nil` if there is nothing to warn about at that time.
    func sentence(at now: POSIXTime) -> String? {
        switch matter {
        case .weakened(let meanings, let until):
            now > until.lastSecond
                ? "\(subject): `until` passed on \(until): the exceptions of this policy no longer apply; remove them"
                : "\(subject): this policy is weakened until \(until): \(meanings.joined(separator: ", "))"
        case .pinsExpire(let day, let onExpiry):
            if now <= day.lastSecond {
                nil
            } else if onExpiry == .fails {
                "\(subject): the pins expired on \(day), so Larder rejects the host's connections"
            } else {
                "\(subject): the pins expired on \(day), so a wrong key is only reported"
            }
        case .keyLog:
            "\(subject): Larder writes the secrets of TLS connections to this file; anyone who can read it can decrypt the traffic"
        case .noSystemAnchors:
            "\(subject): this system has no CA certificates, so Larder trusts no server that is not in tls.hosts"
        }
    }
}
