import CommandSupport
import Foundation
import ServerTrust

/// What `tls:` says, as it was written and, once its files are read, as it holds.
package struct TrustSettings: Equatable, Sendable {
    package var fallback = Fallback()
    package var hosts = Hosts()
    /// Of a project that the user has not decided about: they hold beside `hosts`, and never in their place.
    var projectHosts: [ProjectHost] = []
    package var connect = Connect()
    /// The folder of further files with hosts.
    var pinsFrom: String?
    var clientCertificates = ClientCertificates()
    package var authority = Authority()
    /// The file for the secrets of connections.
    var keyLog: String?
    /// `nil` where nobody asked for its files to be read.
    package var loaded: LoadedTrust?

    package init() {}

    /// What a person should know now of the policies that were loaded.
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
    /// What holds for hosts that nobody named.
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

    /// How CONNECT to hosts that are not simply reached is dealt with.
    package struct Connect: Equatable, Sendable {
        package var verdictTTL = Duration.seconds(60)
        package var missingName = Permission.allow
        package var encryptedHello = Permission.allow
        var neverIntercept = NeverIntercept.usual
        var otherProtocols = OtherProtocols.tunnel
        var refusalsKept = Duration.zero
    }

    /// What a client gets that speaks no HTTP/1 inside TLS to a host that is intercepted.
    enum OtherProtocols: String, CaseIterable, Sendable { case tunnel, deny }

    /// Whose certificates clients are shown where hosts are intercepted.
    package struct Authority: Equatable, Sendable {
        /// `nil`: the usual one, where `larder ca init` makes it.
        package var folder: String?
        /// A file whose first line is the key's passphrase.
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
