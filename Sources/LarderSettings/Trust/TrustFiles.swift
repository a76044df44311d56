import CertificateAuthority
import CommandSupport
import Foundation
import LocalCA
import ServerTrust
import UpstreamTransport

/// Reads the files that trust settings name, each within its size limit.
package struct TrustFiles: Sendable {
    /// The possible places of the system's CA certificates; the first that exists is read.
    var systemBundles = TrustAnchors.systemBundles
    /// The environment variables that passphrases may be in.
    var environment = ProcessInfo.processInfo.environment

    /// Whether the folder of `tls.pins_from` may be empty: only for commands that are about to write the first file.
    var allowsEmptyFolder = false
    /// Whether `tls.key_log` is opened, and created if missing: only for commands that make connections for clients. Otherwise it is only
    /// checked.
    var opensKeyLog = false
    /// A CA to intercept with. It replaces the one of the settings, and also intercepts hosts whose policies do not set `connect`.
    var authority: LocalAuthority?
    /// Whether no host is intercepted, regardless of the settings.
    var interceptsNobody = false

    package static let pinFileLimit = 1 << 20
    package static let bundleLimit = SystemTrustStore.bundleLimit
    static let revocationListLimit = 64 << 20
    /// The most files in the folder of `tls.pins_from`.
    package static let includedLimit = 1000
    package static let includedEndings = [".yaml", ".yml"]

    package init(
        systemBundles: [String] = TrustAnchors.systemBundles, allowsEmptyFolder: Bool = false, opensKeyLog: Bool = false,
        authority: LocalAuthority? = nil, interceptsNobody: Bool = false
    ) {
        self.systemBundles = systemBundles
        self.allowsEmptyFolder = allowsEmptyFolder
        self.opensKeyLog = opensKeyLog
        self.authority = authority
        self.interceptsNobody = interceptsNobody
    }

    /// How CONNECT is handled under a policy.
    func connectWay(of terms: TrustTerms) -> ConnectWay {
        let way = terms.connect ?? (authority == nil ? terms.connectWayUnsaid : .intercept)
        return way == .intercept && interceptsNobody ? terms.connectWayUnsaid : way
    }

    /// - Returns: `nil` if the system has no CA certificates.
    /// - Throws: if the system's CA certificates cannot be read.
    package func systemAnchors() throws(LocalFile.Unreadable) -> TrustAnchors? {
        guard let path = systemBundles.first(where: { FileManager.default.fileExists(atPath: $0) }) else { return nil }
        let bytes = try LocalFile.bytes(at: path, atMost: Self.bundleLimit)
        do throws(TrustPolicyFault) {
            return try TrustAnchors(pem: bytes)
        } catch {
            throw LocalFile.Unreadable(reason: "\(path) contains a certificate that cannot be read")
        }
    }
}
