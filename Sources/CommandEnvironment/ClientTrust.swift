import CertificateAuthority
import CommandSupport
import Foundation
import LarderSettings
import ServerTrust

/// Whom programs behind a Larder have to believe: the system's anchors, and beyond them its own root and the anchors that its settings
/// name, since the servers of tunnels are judged by the programs themselves.
package struct ClientTrust {
    /// The authority's root first, where there is one.
    let additions: [Certificate]
    /// The system's, or those of the bundle that the user has put in their place, as the file has them.
    let base: [UInt8]

    /// - Parameters:
    ///   - root: of an authority in use.
    ///   - anchors: those that the settings name.
    package init(root: Certificate?, anchors: [Certificate], environment: [String: String]) {
        var additions = root.map { [$0] } ?? []
        for anchor in anchors where !additions.contains(anchor) { additions.append(anchor) }
        self.additions = additions
        base = additions.isEmpty ? [] : Self.base(environment)
    }

    /// Behind a Larder with these settings.
    package init(_ settings: TrustSettings, environment: [String: String]) {
        self.init(root: settings.loaded?.authority?.root, anchors: settings.namedAnchors, environment: environment)
    }

    package var isEmpty: Bool { additions.isEmpty }

    var additionsText: String { additions.map(\.pem).joined() }

    var bundleText: [UInt8] {
        let separator: [UInt8] = base.isEmpty || base.last == UInt8(ascii: "\n") ? [] : [UInt8(ascii: "\n")]
        return base + separator + Array(additionsText.utf8)
    }

    /// - Returns: `nil` where OpenSSL fails.
    func javaStore() -> [UInt8]? {
        let system = base.isEmpty ? [] : Certificate.reading(pem: base) ?? []
        var entries: [(alias: String, certificate: Certificate)] = []
        for (number, certificate) in (additions + system.filter { !additions.contains($0) }).enumerated() {
            entries.append(("\(number < additions.count ? "larder" : "system")-\(number)", certificate))
        }
        return TrustStoreArchive.octets(of: entries)
    }

    /// As OpenSSL has it: `SSL_CERT_FILE` stands in the system's place. One that cannot be read is as none.
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
    /// The certificates of the bundles that the policies of hosts have as their anchors. What cannot be read has been said when the
    /// settings were loaded.
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
