import Foundation
import ServerTrust

/// What `tls:` says, as it was written and, once its files are read, as it holds.
package struct TrustSettings: Equatable, Sendable {
    var fallback = Fallback()
    var hosts = Hosts()
    package var connect = Connect()
    /// The folder of further files with hosts.
    var pinsFrom: String?
    var clientCertificates = ClientCertificates()
    /// The file for the secrets of connections.
    var keyLog: String?
    /// `nil` where nobody asked for its files to be read.
    package var loaded: LoadedTrust?

    package init() {}

    /// What a person should know now of the policies that were loaded.
    func warnings() -> [String] {
        loaded?.warnings(at: .now) ?? []
    }

    package static func == (left: TrustSettings, right: TrustSettings) -> Bool {
        left.fallback.shown == right.fallback.shown && left.hosts.shown == right.hosts.shown && left.pinsFrom == right.pinsFrom
            && left.clientCertificates.shown == right.clientCertificates.shown && left.keyLog == right.keyLog
            && left.connect == right.connect
    }
}

extension TrustSettings {
    /// What holds for hosts that nobody named.
    struct Fallback: Sendable {
        enum Meaning: Sendable {
            case deny
            case policy(TrustTerms)
        }

        var meaning = Meaning.policy(TrustTerms())
        var shown = ShownValue.mapping([("anchors", .plain("system"))])
    }

    struct ClientCertificates: Sendable {
        var entries: [ClientCertificateEntry] = []
        var shown = ShownValue.mapping([])
    }

    /// How CONNECT to hosts that are not simply reached is dealt with.
    package struct Connect: Equatable, Sendable {
        package var verdictsKept = Duration.seconds(60)
        package var missingName = Permission.allow
        package var encryptedHello = Permission.allow
    }

    package enum Permission: String, CaseIterable, Sendable { case allow, deny }

    struct Hosts: Sendable {
        var entries: [TrustEntry] = []
        var shown = ShownValue.mapping([])
    }
}
