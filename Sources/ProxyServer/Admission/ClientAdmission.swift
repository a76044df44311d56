import ClientPasswords
import HTTPMessage

/// Decides which clients may connect: clients on this machine, clients on a list of addresses, and clients that authenticate.
package struct ClientAdmission: Sendable {
    /// Which clients must authenticate, if a password file is set.
    package enum Asked: Sendable {
        /// Clients that are neither on this machine nor on the list.
        case unlisted
        /// Clients that are not on this machine. With this value, the list restricts which addresses may connect; an empty list restricts
        /// no address.
        case remote
        /// All clients must authenticate; the list has the same effect as for `remote`.
        case all
    }

    /// Clients that may connect, in addition to those on this machine.
    package var allowedClients: [AddressRange] = []
    /// The names and passwords of clients; `nil` if clients do not authenticate.
    package var passwords: PasswordFile?
    package var asked = Asked.unlisted

    package init() {}

    /// - Parameter isCertified: whether the client must send a certificate in its TLS handshake.
    func allows(_ peer: PeerAddress, isCertified: Bool = false) -> Bool {
        if peer.address.isLoopback || isListed(peer) { return true }
        guard passwords != nil || isCertified else { return false }
        return asked == .unlisted || allowedClients.isEmpty
    }

    func asks(_ peer: PeerAddress) -> Bool {
        guard passwords != nil else { return false }
        return switch asked {
        case .unlisted: !peer.address.isLoopback && !isListed(peer)
        case .remote: !peer.address.isLoopback
        case .all: true
        }
    }

    private func isListed(_ peer: PeerAddress) -> Bool { allowedClients.contains { $0.contains(peer.address) } }
}
