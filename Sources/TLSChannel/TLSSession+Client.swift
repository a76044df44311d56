internal import CLarderOpenSSL
package import ServerTrust

/// Sessions in which this side is the client.
extension TLSSession {
    /// - Parameters:
    ///   - judge: verifies the server during the handshake, for its host. If its verdict does not accept the server, the handshake fails.
    ///   - protocols: the names that the client offers by ALPN (RFC 7301), in order of preference; empty for no offer. At most 255 bytes
    ///     each.
    /// - Returns: `nil` if OpenSSL fails, usually for lack of memory.
    package convenience init?(_ context: ClientTLSContext, judgedBy judge: HandshakeJudge, offering protocols: [String]) {
        self.init(context.pointer, judge: judge) { session in
            SSL_set_connect_state(session)
            return Self.name(judge.host, in: session) && Self.offer(protocols, in: session) && judge.attach(to: session)
        }
    }

    /// Puts the host into `server_name` if it is a name. Addresses are not sent (RFC 6066 §3).
    private static func name(_ host: String, in session: OpaquePointer) -> Bool {
        guard case .name(let name) = ReferenceIdentity(host) else { return true }
        return (name + [0]).withUnsafeBufferPointer { octets in
            octets.withMemoryRebound(to: CChar.self) { copenssl_session_name_server(session, $0.baseAddress) == 1 }
        }
    }

    private static func offer(_ protocols: [String], in session: OpaquePointer) -> Bool {
        if protocols.isEmpty { return true }
        let list = protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        // `SSL_set_alpn_protos` returns 0 for success.
        return SSL_set_alpn_protos(session, list, UInt32(list.count)) == 0
    }
}
