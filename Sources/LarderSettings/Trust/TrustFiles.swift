import CertificateAuthority
import CommandSupport
import Foundation
import LocalCA
import ServerTrust
import UpstreamTransport

/// Reads the files that trust settings name, each within its size limit.
package struct TrustFiles: Sendable {
    /// The paths at which systems keep their CA certificates. The first that exists is read.
    var systemBundles = TrustAnchors.systemBundles
    /// The environment variables of this process, which may hold passphrases.
    var environment = ProcessInfo.processInfo.environment

    /// Whether the folder of `tls.pins_from` may be empty. True only for commands that are about to write its first file.
    var allowsEmptyFolder = false
    /// Whether the file of `tls.key_log` is opened, and created if missing. True only for commands that make connections for clients.
    /// For other commands, the file is only checked.
    var opensKeyLog = false
    /// A CA for interception. It replaces the CA in the settings. With it, Larder also intercepts hosts whose policies do not set
    /// `connect`.
    var authority: LocalAuthority?
    /// Whether Larder intercepts no host, whatever the settings say.
    var interceptsNobody = false

    package static let pinFileLimit = 1 << 20
    package static let bundleLimit = SystemTrustStore.bundleLimit
    static let revocationListLimit = 64 << 20
    /// The maximum number of files in the folder of `tls.pins_from`.
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

    /// How CONNECT to a host with this policy is handled.
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
