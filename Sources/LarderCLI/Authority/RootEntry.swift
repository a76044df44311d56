import Foundation
import ServerTrust

/// A root as it stands in stores: under a name that says which one it is, so that exactly it is taken out again.
struct RootEntry: Sendable {
    let certificate: Certificate

    init(_ certificate: Certificate) { self.certificate = certificate }

    /// `larder-` and the first 16 digits of the fingerprint. Whatever stands under the name is compared with the whole certificate
    /// before it is touched.
    var name: String { "larder-" + certificate.digest.hexadecimal.prefix(16) }

    /// As browsers and keytool write fingerprints: `AB:CD:…`.
    var fingerprint: String {
        certificate.digest.octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
    }

    /// The only certificate of a text.
    static func isOnly(_ certificate: Certificate, in text: [UInt8]) -> Bool {
        Certificate.reading(pem: text) == [certificate]
    }
}

extension SHA256Digest {
    var hexadecimal: String { octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
