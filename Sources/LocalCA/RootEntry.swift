import CertificateAuthority
import Foundation
import HTTPMessage
import ServerTrust

/// A root as an entry of trust stores, under a name that identifies it, so that only this root is removed.
package struct RootEntry: Sendable {
    package let certificate: Certificate

    package init(_ certificate: Certificate) { self.certificate = certificate }

    /// The name of the entry: `larder-` and the first 16 digits of the fingerprint. Before an entry with this name is changed, its whole
    /// certificate is compared with the root.
    package var name: String { "larder-" + Hexadecimal.encode(certificate.digest.octets).prefix(16) }

    /// The SHA-256 fingerprint in the form of browsers and keytool: `AB:CD:…`.
    package var fingerprint: String {
        certificate.digest.octets.map { Hexadecimal.encode(CollectionOfOne($0), isUppercase: true) }.joined(separator: ":")
    }

    /// Whether the root has name constraints. This includes constraints that Larder cannot read.
    package var isConstrained: Bool {
        do throws(CertificateAuthority.AuthorityFault) {
            return try NameConstraint.read(of: certificate) != nil
        } catch { return true }
    }

    /// Programs may ignore the constraints of a trust anchor: RFC 5280 §6.1.1 lets the verifier decide.
    package static let javaLimit =
        "Java ignores name constraints of root certificates: anyone with the key of Larder's CA can impersonate any host to Java programs"

    /// Whether the text has this certificate and no other.
    static func isOnly(_ certificate: Certificate, in text: [UInt8]) -> Bool {
        Certificate.reading(pem: text) == [certificate]
    }
}
