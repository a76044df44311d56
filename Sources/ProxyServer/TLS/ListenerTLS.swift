import CertificateAuthority
import HTTPMessage
import ServerTrust
import TLSChannel

/// How TLS is spoken with the clients of one listener (`https://` proxies).
package final class ListenerTLS: Sendable {
    package enum Shown: Sendable {
        /// A certificate with its key, by which we are known.
        case identity(ClientIdentity)
        /// Certificates of the active CA: for the name that a client asks for, where it is one of these, else for the address that
        /// it has connected to.
        case authority(names: [LeafName])
    }

    let shown: Shown
    /// Whoever shows no certificate by one of the roots gets no further than the handshake.
    let asksForCertificates: Bool
    let context: ServerTLSContext

    /// - Parameter roots: whose certificates clients have to show; with none, nobody is asked for one.
    package init(showing shown: Shown, clientRoots roots: [Certificate] = []) throws(CertificateAuthority.AuthorityFault) {
        self.shown = shown
        asksForCertificates = !roots.isEmpty
        guard let context = ServerTLSContext(clientRoots: roots) else { throw .cryptographyFailed }
        self.context = context
    }

    var showsAuthority: Bool {
        if case .authority = shown { true } else { false }
    }

    /// The names by which clients reach it, as the certificates have them.
    var names: [String] {
        switch shown {
        case .authority(let names): names.map { "\($0)" }
        case .identity(let identity): (identity.certificates.first?.facts.names ?? []).filter { !$0.contains("*") }
        }
    }

    /// What is shown to who asks for this name, of an authority's; `nil` where neither it nor the address is a name.
    static func name(among names: [LeafName], asked: [UInt8]?, at address: PeerAddress) -> LeafName? {
        let named = asked.flatMap { try? LeafName(String(decoding: $0, as: UTF8.self)) }  // what is no name is none of ours
        if let named, names.contains(named) { return named }
        return try? LeafName("\(address.address)")  // an address always is one
    }
}
