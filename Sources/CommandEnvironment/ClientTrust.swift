import CertificateAuthority
import CommandSupport
import Foundation
import LarderSettings
import ServerTrust

/// The certificates that programs behind a Larder must trust: the system's CA certificates, Larder's own root, and the CA
/// certificates that its settings name. The last are needed because programs verify the servers of tunnels themselves.
package struct ClientTrust {
    /// The certificates that Larder adds; the root of its CA is the first, if there is one.
    let additions: [Certificate]
    /// The content of the system's bundle, or of the bundle that the user set instead.
    let base: [UInt8]

    /// - Parameters:
    ///   - root: the root of the CA in use.
    ///   - anchors: the CA certificates that the settings name.
    package init(root: Certificate?, anchors: [Certificate], environment: [String: String]) {
        var additions = root.map { [$0] } ?? []
        for anchor in anchors where !additions.contains(anchor) { additions.append(anchor) }
        self.additions = additions
        base = additions.isEmpty ? [] : Self.base(environment)
    }

    /// The certificates for programs behind a Larder with these settings.
    package init(_ settings: TrustSettings, environment: [String: String]) {
        self.init(root: settings.loaded?.authority?.root, anchors: settings.namedAnchors, environment: environment)
    }

    package var isEmpty: Bool { additions.isEmpty }

    var additionsText: String { additions.map(\.pem).joined() }

    var bundleText: [UInt8] {
        let separator: [UInt8] = base.isEmpty || base.last == UInt8(ascii: "\n") ? [] : [UInt8(ascii: "\n")]
        return base + separator + Array(additionsText.utf8)
    }

    /// - Parameter password: protects the trust store; `nil` leaves it without a password.
    /// - Returns: `nil` if OpenSSL fails.
    func javaStore(password: String?) -> [UInt8]? {
        let system = base.isEmpty ? [] : Certificate.reading(pem: base) ?? []
        var entries: [(alias: String, certificate: Certificate)] = []
        for (number, certificate) in (additions + system.filter { !additions.contains($0) }).enumerated() {
            entries.append(("\(number < additions.count ? "larder" : "system")-\(number)", certificate))
        }
        return TrustStoreArchive.octets(of: entries, password: password)
    }

    /// `SSL_CERT_FILE` replaces the system's bundle, as in OpenSSL. An unreadable file is treated as absent.
    private static func base(_ environment: [String: String]) -> [UInt8] {
        let places = (environment["SSL_CERT_FILE"].map { [$0] } ?? []) + TrustAnchors.systemBundles
        for place in places {
            do throws(LocalFile.Unreadable) {
                return try LocalFile.bytes(at: place, atMost: TrustFiles.bundleLimit)
            } catch { continue }
        }
        return []
    }
}

extension TrustSettings {
    /// The certificates of the bundles that hosts' policies have as anchors. Unreadable files were reported when the settings were loaded.
    package var namedAnchors: [Certificate] {
        guard let loaded else { return [] }
        var anchors: [Certificate] = []
        for site in loaded.sites + [loaded.fallbackSite] {
            guard case .bundle(let file) = site.terms.anchors else { continue }
            do throws(LocalFile.Unreadable) {
                let octets = try LocalFile.bytes(at: site.origin.path(of: file.path), atMost: TrustFiles.bundleLimit)
                for anchor in Certificate.reading(pem: octets) ?? [] where !anchors.contains(anchor) { anchors.append(anchor) }
            } catch { continue }
        }
        return anchors
    }
}
