import CertificateAuthority
import EventLoop
import TLSChannel
import UpstreamTransport

/// What TLS with clients is spoken by, under one reading of the settings: an authority, the certificates that it has made, and the keys
/// of session tickets, which are new with each reading.
final class Interception: Sendable {
    let context: ServerTLSContext
    let leaves: LeafCertificateCache

    /// - Parameter previous: of the settings before. What was made by the same authority is shown on.
    init(_ authority: LocalAuthority, after previous: Interception?) throws(AuthorityFault) {
        guard let context = ServerTLSContext() else { throw .cryptographyFailed }
        self.context = context
        if let leaves = previous?.leaves, leaves.root == authority.root {
            self.leaves = leaves
        } else {
            leaves = LeafCertificateCache(authority)
        }
    }
}
