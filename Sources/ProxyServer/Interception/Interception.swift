import CertificateAuthority
import EventLoop
import TLSChannel
import UpstreamTransport

/// The TLS setup for clients under one version of the settings: a CA, the certificates that it has issued, and the keys of session tickets.
/// The ticket keys are new with each reload.
final class Interception: Sendable {
    let context: ServerTLSContext
    let leaves: LeafCertificateCache

    /// - Parameter previous: the setup of the previous settings. Certificates of the same CA are reused.
    init(_ authority: LocalAuthority, offersHTTP2: Bool, after previous: Interception?) throws(AuthorityFault) {
        guard let context = ServerTLSContext(offersHTTP2: offersHTTP2) else { throw .cryptographyFailed }
        self.context = context
        if let leaves = previous?.leaves, leaves.root == authority.root {
            self.leaves = leaves
        } else {
            leaves = LeafCertificateCache(authority)
        }
    }
}
