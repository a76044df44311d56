import CertificateAuthority
import HTTPMessage
import ServerTrust
import TLSChannel

/// The TLS setup of one listener (`https://` proxies).
package final class ListenerTLS: Sendable {
    package enum Shown: Sendable {
        /// A fixed certificate and its key.
        case identity(ClientIdentity)
        /// Certificates of the active CA. The certificate is for the server name that the client sends, if `names` contains it. Otherwise
        /// it is for the address that the client has connected to.
        case authority(names: [LeafName])
    }

    let shown: Shown
    /// Whether clients must send a certificate issued by one of the roots; otherwise the handshake fails.
    let asksForCertificates: Bool
    let context: ServerTLSContext

    /// - Parameters:
    ///   - roots: the CA certificates that client certificates must chain to; if empty, clients are not asked for a certificate.
    ///   - offersHTTP2: whether clients may use HTTP/2.
    package init(
        showing shown: Shown, clientRoots roots: [Certificate] = [], offersHTTP2: Bool = false
    ) throws(CertificateAuthority.AuthorityFault) {
        self.shown = shown
        asksForCertificates = !roots.isEmpty
        guard let context = ServerTLSContext(clientRoots: roots, offersHTTP2: offersHTTP2) else { throw .cryptographyFailed }
        self.context = context
    }

    var showsAuthority: Bool {
        if case .authority = shown { true } else { false }
    }

    /// The names in the certificates, by which clients reach the listener.
    var names: [String] {
        switch shown {
        case .authority(let names): names.map { "\($0)" }
        case .identity(let identity): (identity.certificates.first?.facts.names ?? []).filter { !$0.contains("*") }
        }
    }

    /// The name in the CA's certificate for this client. It is the server name that the client sends, if that is one of `names`, otherwise
    /// the address that the client has connected to.
    static func name(among names: [LeafName], asked: [UInt8]?, at address: PeerAddress) -> LeafName? {
        let named = asked.flatMap { try? LeafName(String(decoding: $0, as: UTF8.self)) }  // invalid names cannot match
        if let named, names.contains(named) { return named }
        return try? LeafName("\(address.address)")  // an address is always valid
    }
}
