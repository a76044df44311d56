internal import CLarderOpenSSL
package import ServerTrust

/// Sessions in which this side is the server.
extension TLSSession {
    /// - Parameters:
    ///   - certificate: the certificate that the client gets, with its key.
    ///   - scope: identifies the host that the session is for; tickets of sessions with another scope are not resumed. At most 32
    ///     bytes.
    /// - Returns: `nil` if OpenSSL has no memory.
    package convenience init?(_ context: ServerTLSContext, showing certificate: Certificate, key: PrivateKey, scope: [UInt8]) {
        self.init(context.pointer) { session in
            SSL_use_certificate(session, certificate.pointer) == 1 && SSL_use_PrivateKey(session, key.pointer) == 1
                && Self.accept(session, scope: scope)
        }
    }

    /// Makes a session that presents the certificate and key that the settings name, with the intermediate certificates up to a root.
    package convenience init?(_ context: ServerTLSContext, showing identity: ClientIdentity, scope: [UInt8]) {
        self.init(context.pointer) { identity.show(in: $0) && Self.accept($0, scope: scope) }
    }

    private static func accept(_ session: OpaquePointer, scope: [UInt8]) -> Bool {
        SSL_set_accept_state(session)
        return SSL_set_session_id_context(session, scope, UInt32(scope.count)) == 1
    }

    /// The names in the client's certificate: its subject as in RFC 2253, if it has one, then its alternative names. If the certificate has
    /// no names, its digest. Empty if there is no certificate.
    package var clientNames: [[UInt8]] {
        guard let shown = SSL_get1_peer_certificate(pointer) else { return [] }
        defer { X509_free(shown) }
        guard let facts = Certificate(sharing: shown)?.facts else { return [] }
        let names = (facts.subject.isEmpty ? [] : [facts.subject]) + facts.names
        return (names.isEmpty ? ["\(facts.digest)"] : names).map { Array($0.utf8) }
    }
}
