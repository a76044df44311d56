import CommandSupport
import Foundation
import ServerTrust

/// The settings under `tls:`, both as written and, once the files are read, as loaded.
package struct TrustSettings: Equatable, Sendable {
    package var fallback = Fallback()
    package var hosts = Hosts()
    /// The hosts in the settings of a project about which the user has not decided. They are used in addition to `hosts` and never
    /// override them.
    var projectHosts: [ProjectHost] = []
    package var connect = Connect()
    /// The folder that `tls.pins_from` names, with files of further hosts.
    var pinsFrom: String?
    var clientCertificates = ClientCertificates()
    package var authority = Authority()
    /// The file to which the secrets of TLS connections are written.
    var keyLog: String?
    /// The loaded policies; `nil` if the files were not read.
    package var loaded: LoadedTrust?

    package init() {}

    /// Whether the settings contain a trust policy for at least one host, or for all other hosts.
    package var hasPolicies: Bool {
        let usual = TrustSettings()
        return fallback.shown != usual.fallback.shown || hosts.shown != usual.hosts.shown || pinsFrom != nil
    }

    /// Warnings that apply now to the loaded policies.
    package func warnings() -> [String] {
        loaded?.warnings(at: .now) ?? []
    }

    package static func == (left: TrustSettings, right: TrustSettings) -> Bool {
        left.fallback.shown == right.fallback.shown && left.hosts.shown == right.hosts.shown && left.pinsFrom == right.pinsFrom
            && left.clientCertificates.shown == right.clientCertificates.shown && left.keyLog == right.keyLog
            && left.connect == right.connect && left.authority == right.authority
    }
}

extension TrustSettings {
    /// The policy for hosts that are not listed.
    package struct Fallback: Sendable {
        package enum Meaning: Sendable {
            case deny
            case policy(TrustTerms)
        }

        package var meaning = Meaning.policy(TrustTerms())
        var shown = ShownValue.mapping([("anchors", .plain("system"))])
    }

    struct ClientCertificates: Sendable {
        var entries: [ClientCertificateEntry] = []
        var shown = ShownValue.mapping([])
    }

    /// How Larder handles a CONNECT that it checks or intercepts: the settings under `tls.connect`.
    package struct Connect: Equatable, Sendable {
        package var verdictTTL = Duration.seconds(60)
        package var missingName = Permission.allow
        package var encryptedHello = Permission.allow
        var neverIntercept = NeverIntercept.usual
        package var http2 = HTTP2Offer.auto
        package var altSvc = AltSvc.remove
        var otherProtocols = OtherProtocols.tunnel
        var refusalsKept = Duration.zero
    }

    /// Whether Larder offers HTTP/2 to a client or an origin.
    package enum HTTP2Offer: String, CaseIterable, Sendable { case auto, off }

    /// What happens to the Alt-Svc field of responses.
    package enum AltSvc: String, CaseIterable, Sendable { case remove, keep }

    /// What happens if a client offers only protocols that Larder does not intercept.
    enum OtherProtocols: String, CaseIterable, Sendable { case tunnel, deny }

    /// The CA that issues the certificates for intercepted hosts.
    package struct Authority: Equatable, Sendable {
        /// The folder of the CA; `nil` for the default folder, in which `larder ca init` creates the CA.
        package var folder: String?
        /// A file whose first line is the passphrase of the CA's key.
        package var passphraseFile: String?
    }

    package enum Permission: String, CaseIterable, Sendable { case allow, deny }

    struct ProjectHost: Sendable {
        let entry: TrustEntry
        let origin: SettingsReader.Origin
    }

    package struct Hosts: Sendable {
        package var entries: [TrustEntry] = []
        var shown = ShownValue.mapping([])
    }
}
