internal import CLarderOpenSSL
internal import ServerTrust

/// The TLS configuration for connections with servers: versions and ciphers. It contains no trust policy and no host: each session has its
/// own `HandshakeJudge`, server name and protocols. So a single context is enough for all servers, and OpenSSL looks up its algorithms
/// once.
///
/// TLS 1.2 and 1.3 (RFC 8996), OpenSSL's ciphers, no compression, no renegotiation, no early data. Usable from any thread.
package final class ClientTLSContext: Sendable {
    private let object: OwnedObject

    var pointer: OpaquePointer { object.pointer }

    /// - Parameter logsKeys: whether each `HandshakeJudge` gets its session's secrets.
    /// - Returns: `nil` if OpenSSL fails, usually for lack of memory.
    package init?(logsKeys: Bool) {
        let made: OpaquePointer? = ErrorQueue.unchanged {
            guard let pointer = SSL_CTX_new(TLS_client_method()) else { return nil }
            if Self.configure(pointer), HandshakeJudge.prepare(pointer, logsKeys: logsKeys) { return pointer }
            SSL_CTX_free(pointer)
            return nil
        }
        guard let made else { return nil }
        object = OwnedObject(made) { SSL_CTX_free($0) }
    }

    private static func configure(_ pointer: OpaquePointer) -> Bool {
        guard copenssl_context_set_versions(pointer, TLS1_2_VERSION, TLS1_3_VERSION) == 1 else { return false }
        SSL_CTX_set_options(pointer, copenssl_option_padding())
        // OpenSSL releases the buffers of an idle connection, so that it uses little memory.
        copenssl_context_set_mode(pointer, copenssl_record_mode())
        // A server may ask for the client's certificate after the handshake (RFC 8446 §4.6.2).
        SSL_CTX_set_post_handshake_auth(pointer, 1)
        return true
    }
}
