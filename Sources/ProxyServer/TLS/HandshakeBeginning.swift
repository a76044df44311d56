import CertificateAuthority
import ServerTrust
import TLSChannel

/// What it takes to answer a ClientHello: a session, a key agreement and a signature, of which each costs as much as many answers from
/// memory. Any thread may do it.
struct HandshakeBeginning: Sendable {
    enum Shown {
        case leaf(Leaf)
        case identity(ClientIdentity)
    }

    let context: ServerTLSContext
    let shown: Shown
    /// Whom the session is for, as `ServerTLSSession` has it.
    let scope: [UInt8]
    /// All that has come, which begins with the ClientHello.
    let octets: [UInt8]

    /// - Returns: `nil` where OpenSSL has no memory.
    func begin() -> BegunHandshake? {
        let session =
            switch shown {
            case .leaf(let leaf): ServerTLSSession(context, showing: leaf.certificate, key: leaf.key, scope: scope)
            case .identity(let identity): ServerTLSSession(context, showing: identity, scope: scope)
            }
        guard let session else { return nil }
        return BegunHandshake(session: session, progress: octets.withUnsafeBytes { session.handshake($0) })
    }
}

/// A session on its way from the thread that has begun it to the loop on which it goes on: nobody else has it meanwhile.
struct BegunHandshake: @unchecked Sendable {
    let session: ServerTLSSession
    /// How far it came.
    let progress: ServerTLSSession.Handshake
}
