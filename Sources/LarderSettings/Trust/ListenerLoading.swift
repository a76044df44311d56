import CertificateAuthority
import CommandSupport
import Foundation
import ProxyPolicy
import ServerTrust
import TLSChannel
import TextCoding

/// The content of the files that a listener's `tls:` names.
package struct LoadedListener: Sendable {
    /// The listener's own certificate; `nil` if the listener sends certificates that the CA issues.
    package let identity: ClientIdentity?
    package let names: [LeafName]
    /// The root certificates to which clients' certificates must chain; empty if clients need no certificate.
    package let clientRoots: [Certificate]
}

/// The content for all listeners, in the order of `listen`. Comparisons of settings ignore it, because it is derived from the written
/// settings.
package struct LoadedListeners: Equatable, Sendable {
    /// An element is `nil` for plain HTTP. The array is empty if the files were not read.
    package var all: [LoadedListener?] = []

    package static func == (left: LoadedListeners, right: LoadedListeners) -> Bool { true }
}

/// Reads the files that the listeners' `tls:` names.
struct ListenerLoading {
    private let origin: SettingsReader.Origin
    private var located: [LocatedProblem] = []

    /// - Returns: the problems. If there are none, `loadedListeners` is set, in the order of `listen`.
    static func load(
        _ settings: inout LarderSettings, origins: [String: SettingsReader.Origin]
    ) -> [LocatedProblem] {
        var loading = ListenerLoading(origin: origins["listen"] ?? SettingsReader.Origin(layer: "settings", place: .none))
        let loaded = settings.listen.map { address in address.tls.flatMap { loading.load($0, of: address) } }
        if loading.located.isEmpty { settings.loadedListeners.all = loaded }
        return loading.located
    }

    private init(origin: SettingsReader.Origin) { self.origin = origin }

    private mutating func report(_ message: String, of address: ListenAddress) {
        located.append(
            LocatedProblem(
                source: origin.layer, problem: SettingsProblem("\(address): \(message)", path: "listen", at: origin.place)))
    }

    private mutating func load(_ terms: ListenerTerms, of address: ListenAddress) -> LoadedListener? {
        var clientRoots: [Certificate] = []
        if let file = terms.clients {
            guard let bytes = bytes(file, of: address, isSecret: false) else { return nil }
            guard let read = Certificate.reading(pem: bytes) else {
                report("\(printable(file)) contains no PEM certificate, or a certificate that cannot be read", of: address)
                return nil
            }
            clientRoots = read
        }
        switch terms.certificate {
        case .authority(let names):
            let read = names.compactMap { try? LeafName($0) }  // invalid names are reported below
            if read.count < names.count { report("`names` contains a name that is not a host name", of: address) }
            return LoadedListener(identity: nil, names: read + ownNames(address), clientRoots: clientRoots)
        case .files(let certificate, let key):
            guard let text = bytes(certificate, of: address, isSecret: false),
                let secret = bytes(key, of: address, isSecret: true)
            else { return nil }
            let identity: ClientIdentity
            do throws(ClientIdentity.Fault) {
                identity = try ClientIdentity(pem: text, key: secret)
            } catch {
                report(Self.sentence(error, certificate: certificate, key: key), of: address)
                return nil
            }
            guard let context = ServerTLSContext(), TLSSession(context, showing: identity, scope: []) != nil else {
                report("TLS cannot use \(printable(certificate)): its key may be too weak", of: address)
                return nil
            }
            return LoadedListener(identity: identity, names: [], clientRoots: clientRoots)
        }
    }

    /// This machine's host name, and also `localhost` for a loopback address.
    private func ownNames(_ address: ListenAddress) -> [LeafName] {
        let own = [ProcessInfo.processInfo.hostName] + (address.isLoopback ? ["localhost"] : [])
        return own.compactMap { try? LeafName($0) }  // a machine's name need not be a valid host name
    }

    private mutating func bytes(_ file: String, of address: ListenAddress, isSecret: Bool) -> [UInt8]? {
        let path = origin.path(of: file)
        do throws(LocalFile.Unreadable) {
            return isSecret
                ? try LocalFile.secretBytes(at: path, atMost: TrustFiles.pinFileLimit)
                : try LocalFile.bytes(at: path, atMost: TrustFiles.bundleLimit)
        } catch {
            report("cannot read \(printable(path, limit: 4096)): \(error.reason)", of: address)
            return nil
        }
    }

    private static func sentence(_ fault: ClientIdentity.Fault, certificate: String, key: String) -> String {
        switch fault {
        case .unreadableCertificate, .unreadableArchive:
            "\(printable(certificate)) contains no certificate, or a certificate that cannot be read"
        case .unreadableKey: "\(printable(key)) contains no private key, or a key that cannot be read"
        case .passphraseMissing, .passphraseWrong: "\(printable(key)) is encrypted; a listener's key must not be encrypted"
        case .keyOfAnother: "\(printable(key)) does not belong to \(printable(certificate))"
        }
    }
}
