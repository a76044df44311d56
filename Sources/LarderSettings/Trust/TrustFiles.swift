import CertificateAuthority
import CommandSupport
import Foundation
import LocalCA
import ServerTrust
import UpstreamTransport

/// Reads the files that settings about trust name, each within its limit.
package struct TrustFiles: Sendable {
    /// Where the system's anchors may stand; the first that is there is read.
    var systemBundles = TrustAnchors.systemBundles
    /// Where passphrases may stand.
    var environment = ProcessInfo.processInfo.environment

    /// Whether `tls.pins_from` may be without a file: only for who is about to write the first one.
    var allowsEmptyFolder = false
    /// Whether `tls.key_log` is opened, and made where it is not there: only by who makes connections for others. Else it is looked at.
    var opensKeyLog = false
    /// Intercepts in place of the one that the settings name, and wherever they do not say what CONNECT gets.
    var authority: LocalAuthority?
    /// Whether no host is intercepted, whatever the settings say.
    var interceptsNobody = false

    package static let pinFileLimit = 1 << 20
    package static let bundleLimit = SystemTrustStore.bundleLimit
    static let revocationListLimit = 64 << 20
    /// In the folder of `tls.pins_from`.
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

    /// What CONNECT gets under a policy.
    func connectWay(of terms: TrustTerms) -> ConnectWay {
        let way = terms.connect ?? (authority == nil ? terms.connectWayUnsaid : .intercept)
        return way == .intercept && interceptsNobody ? terms.connectWayUnsaid : way
    }

    /// - Returns: `nil` where the system has none.
    /// - Throws: where it has some that cannot be read.
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
