import CertificateAuthority
import Foundation
import HTTPMessage
import ServerTrust

/// A root as it stands in stores: under a name that says which one it is, so that exactly it is taken out again.
package struct RootEntry: Sendable {
    package let certificate: Certificate

    package init(_ certificate: Certificate) { self.certificate = certificate }

    /// `larder-` and the first 16 digits of the fingerprint. Whatever stands under the name is compared with the whole certificate
    /// before it is touched.
    package var name: String { "larder-" + Hexadecimal.encode(certificate.digest.octets).prefix(16) }

    /// As browsers and keytool write fingerprints: `AB:CD:…`.
    package var fingerprint: String {
        certificate.digest.octets.map { Hexadecimal.encode(CollectionOfOne($0), isUppercase: true) }.joined(separator: ":")
    }

    /// One that Larder cannot read has constraints all the same.
    package var isConstrained: Bool {
        do throws(CertificateAuthority.AuthorityFault) {
            return try NameConstraint.read(of: certificate) != nil
        } catch { return true }
    }

    /// RFC 5280 §6.1.1 leaves what an anchor says of itself to whoever reads it.
    package static let javaLimit =
        "Java ignores a root's name constraints: with the key, anyone can issue a certificate that programs trusting this root accept for any host"

    /// The only certificate of a text.
    static func isOnly(_ certificate: Certificate, in text: [UInt8]) -> Bool {
        Certificate.reading(pem: text) == [certificate]
    }
}
