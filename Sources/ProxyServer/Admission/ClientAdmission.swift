import ClientPasswords
import HTTPMessage

/// Who may come in: this machine's own clients, those on a list of addresses, and those who send a name and a password.
package struct ClientAdmission: Sendable {
    /// Who has to send a name and a password, where there are any.
    package enum Asked: Sendable {
        /// Who is neither on this machine nor on the list.
        case unlisted
        /// Who is not on this machine. The list then says from where one may come at all; an empty one says nothing.
        case remote
        /// Everybody; the list as with `remote`.
        case all
    }

    /// Clients that may connect besides this machine's own.
    package var allowedClients: [AddressRange] = []
    /// `nil`: nobody is asked.
    package var passwords: PasswordFile?
    package var asked = Asked.unlisted

    package init() {}

    /// - Parameter isCertified: whether it will have to show a certificate.
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
