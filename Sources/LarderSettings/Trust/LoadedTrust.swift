import CertificateAuthority
import CommandSupport
import ServerTrust
import UpstreamTransport

/// Whom to believe, as `tls:` says it: the policies, what CONNECT gets, and what is worth a warning. A value that is replaced as a
/// whole when the settings are read again.
package struct LoadedTrust: Sendable {
    package let policies: TrustPolicySet
    /// Who we are, for hosts that ask.
    package let identities: HostTable<ClientIdentity>
    /// Where the secrets of connections are written.
    package let keyLog: KeyLog?
    /// The hosts with pins, in the order of the settings.
    package let pinned: [PinnedHost]
    /// Where the policies of hosts are written, in the order of the settings.
    package let sites: [SettingsLocation]
    package let fallbackSite: SettingsLocation
    /// The folder of `tls.pins_from`.
    package let pinsFolder: String?
    /// What CONNECT gets.
    package let connect: ConnectPolicy
    /// By which hosts are intercepted; `nil` where none is.
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

    /// Where the policy is written that holds for a host, be it for this host alone or for more.
    package func site(host: String, port: UInt16) -> SettingsLocation {
        var table = HostTable<SettingsLocation>()
        for site in sites {
            if let scope = site.entry?.scope { _ = table.insert(site, for: scope) }
        }
        return table.value(host: host, port: port) ?? fallbackSite
    }

    /// What a person should know at a time: which policies are weakened and until when, and whose pins' time is over.
    package func warnings(at now: POSIXTime) -> [String] { remarks.compactMap { $0.sentence(at: now) } }
}

/// Something about a policy that is worth a warning, now or at some time.
struct TrustWarning: Sendable {
    enum Kind: Sendable {
        case weakened(meanings: [String], until: CalendarDay)
        case pinsExpire(CalendarDay, PinSet.Expiry)
        case noSystemAnchors
        case keyLog
    }

    /// The entry and its place: `tls.hosts.old.example (larder.yaml:12:5)`.
    let subject: String
    let matter: Kind

    /// - Returns: `nil` where there is nothing to warn of then.
    func sentence(at now: POSIXTime) -> String? {
        switch matter {
        case .weakened(let meanings, let until):
            now > until.lastSecond
                ? "\(subject): the weakening of this policy ended on \(until); remove it"
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
