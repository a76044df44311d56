import CertificateAuthority
import ServerTrust
import TLSChannel

/// The work to answer a ClientHello: a session, a key agreement and a signature, each as expensive as many responses from memory. Any
/// thread may do this work.
struct HandshakeBeginning: Sendable {
    enum Shown {
        case leaf(Leaf)
        case identity(ClientIdentity)
    }

    let context: ServerTLSContext
    let shown: Shown
    /// The scope of the session's tickets, see `TLSSession`.
    let scope: [UInt8]
    /// All bytes received, beginning with the ClientHello.
    let octets: [UInt8]

    /// - Returns: `nil` if OpenSSL has no memory.
    func begin() -> BegunHandshake? {
        let session =
            switch shown {
            case .leaf(let leaf): TLSSession(context, showing: leaf.certificate, key: leaf.key, scope: scope)
            case .identity(let identity): TLSSession(context, showing: identity, scope: scope)
            }
        guard let session else { return nil }
        return BegunHandshake(session: session, progress: octets.withUnsafeBytes { session.handshake($0) })
    }
}

/// Passes a session from the thread that began it to the loop that continues it: no other thread uses the session.
struct BegunHandshake: @unchecked Sendable {
    let session: TLSSession
    /// The progress of the handshake so far.
    let progress: TLSSession.Handshake
}
