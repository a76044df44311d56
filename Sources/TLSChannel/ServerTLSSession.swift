internal import COpenSSL
package import ServerTrust

/// The server side of TLS with one client: bytes in, bytes out, no socket. Confined to its loop.
///
/// States and moves: handshaking ──`handshake` returns `.established`──▶ open ──close_notify──▶ ended; from each to failed. `output`
/// holds the bytes to send. The owner sends and removes them, also after a failure, since they may contain an alert.
package final class ServerTLSSession {
    package enum Handshake: Equatable, Sendable {
        case needsMore
        /// - taken: how many of the received bytes belonged to the handshake; the rest is for `receive`.
        case established(taken: Int)
        case failed(ServerTLSFailure)
    }

    package enum Received: Equatable, Sendable {
        case octets(Int)
        case needsMore
        /// The client sends no more.
        case ended
        case failed(ServerTLSFailure)
    }

    /// The records to send.
    package var output: [UInt8] = []
    private let pointer: OpaquePointer
    /// The received bytes that are not consumed yet, during a call.
    private var incoming = UnsafeRawBufferPointer(start: nil, count: 0)

    /// The maximum length of a record's plain text (RFC 8446 §5.1).
    package static let recordLength = 16_384

    /// - Parameters:
    ///   - certificate: the certificate that the client gets, with its key.
    ///   - scope: identifies the host that the session is for; tickets of sessions with another scope are not resumed. At most 32
    ///     bytes.
    /// - Returns: `nil` if OpenSSL has no memory.
    package convenience init?(_ context: ServerTLSContext, showing certificate: Certificate, key: PrivateKey, scope: [UInt8]) {
        self.init(context, scope: scope) { session in
            SSL_use_certificate(session, certificate.pointer) == 1 && SSL_use_PrivateKey(session, key.pointer) == 1
        }
    }

    /// Presents the identity that the settings name, with the certificates that lead to a root.
    package convenience init?(_ context: ServerTLSContext, showing identity: ClientIdentity, scope: [UInt8]) {
        self.init(context, scope: scope) { identity.show(in: $0) }
    }

    private init?(_ context: ServerTLSContext, scope: [UInt8], show: (OpaquePointer) -> Bool) {
        ERR_clear_error()
        guard let pointer = SSL_new(context.pointer) else { return nil }
        self.pointer = pointer
        // Unretained: this object owns the SSL session, not the other way round.
        guard let bio = BIO_new(TransferMethod.shared.pointer) else { return nil }
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        SSL_set_bio(pointer, bio, bio)
        guard show(pointer), SSL_set_session_id_context(pointer, scope, UInt32(scope.count)) == 1 else { return nil }
        SSL_set_accept_state(pointer)
    }

    deinit { SSL_free(pointer) }

    /// Whether the client resumed a session with a ticket.
    package var isResumed: Bool { SSL_session_reused(pointer) == 1 }

    /// Whether the client has closed its side.
    package var hasClientEnded: Bool { SSL_get_shutdown(pointer) & SSL_RECEIVED_SHUTDOWN != 0 }

    /// `TLSv1.2` or `TLSv1.3`.
    package var version: String { String(cString: SSL_get_version(pointer)) }

    /// The names in the client's certificate: its subject as in RFC 2253, if it has one, then its alternative names. The digest of a
    /// certificate without names. Empty without a certificate.
    package var clientNames: [[UInt8]] {
        guard let shown = SSL_get1_peer_certificate(pointer) else { return [] }
        defer { X509_free(shown) }
        guard let facts = Certificate(sharing: shown)?.facts else { return [] }
        let names = (facts.subject.isEmpty ? [] : [facts.subject]) + facts.names
        return (names.isEmpty ? ["\(facts.digest)"] : names).map { Array($0.utf8) }
    }

    /// Continues the handshake with received bytes. Consumes all of them, except those after the end of the handshake.
    package func handshake(_ octets: UnsafeRawBufferPointer) -> Handshake {
        taking(octets) {
            let result = SSL_do_handshake(pointer)
            if result == 1 { return .established(taken: octets.count - incoming.count) }
            return SSL_get_error(pointer, result) == SSL_ERROR_WANT_READ ? .needsMore : .failed(failure())
        }
    }

    /// Decrypts records. All input is consumed if the buffer has space for its content and one more record. Empty input continues with
    /// records received earlier.
    package func receive(_ octets: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) -> Received {
        taking(octets) {
            var total = 0
            while total < buffer.count {
                var count = 0
                let result = SSL_read_ex(pointer, buffer.baseAddress! + total, buffer.count - total, &count)
                if result == 1 {
                    total += count
                    // Another read would only report that nothing is left.
                    if incoming.isEmpty, SSL_has_pending(pointer) == 0 { break }
                    continue
                }
                let error = SSL_get_error(pointer, result)
                // An error or end after the data is reported by the next call.
                if total > 0 {
                    ERR_clear_error()
                    break
                }
                switch error {
                case SSL_ERROR_WANT_READ: return .needsMore
                case SSL_ERROR_ZERO_RETURN: return .ended
                default: return .failed(failure())
                }
            }
            return .octets(total)
        }
    }

    /// Encrypts all bytes into records.
    /// - Returns: whether it succeeded.
    package func send(_ octets: UnsafeRawBufferPointer) -> Bool {
        ERR_clear_error()
        var offset = 0
        while offset < octets.count {
            var count = 0
            guard SSL_write_ex(pointer, octets.baseAddress! + offset, octets.count - offset, &count) == 1 else {
                ERR_clear_error()
                return false
            }
            offset += count
        }
        return true
    }

    /// Sends a close_notify.
    package func end() {
        ERR_clear_error()
        _ = SSL_shutdown(pointer)
        ERR_clear_error()
    }

    private func taking<Result>(_ octets: UnsafeRawBufferPointer, _ work: () -> Result) -> Result {
        ERR_clear_error()
        incoming = octets
        defer { incoming = UnsafeRawBufferPointer(start: nil, count: 0) }
        return work()
    }

    private func failure() -> ServerTLSFailure {
        let code = ERR_peek_last_error()
        // Errors left in the queue would be treated as those of another connection.
        defer { ERR_clear_error() }
        let alert = copenssl_alert_of(code)
        if alert >= 0 { return .refusedByClient(alert: UInt8(truncatingIfNeeded: alert)) }
        if copenssl_reason(code) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE {
            return .clientNotCertified("the client sent no certificate")
        }
        let verdict = SSL_get_verify_result(pointer)
        guard verdict != X509_V_OK else { return .protocolError }
        return .clientNotCertified(String(cString: X509_verify_cert_error_string(verdict)))
    }

    // MARK: What OpenSSL asks for

    fileprivate func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, incoming.count)
        if count == 0 { return 0 }
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: incoming[..<count]))
        incoming = UnsafeRawBufferPointer(rebasing: incoming[count...])
        return count
    }

    fileprivate func give(_ octets: UnsafeRawBufferPointer) { output.append(contentsOf: octets) }
}

/// Why TLS with a client failed.
package enum ServerTLSFailure: Error, Equatable, Sendable {
    /// The client sent an alert (RFC 8446 §6): it rejects Larder's certificate or parameters.
    case refusedByClient(alert: UInt8)
    /// A client certificate is required, and the client's does not lead to a configured root; the reason is OpenSSL's text.
    case clientNotCertified(String)
    /// The client sent something that is not TLS, or not a supported version of it.
    case protocolError
}

/// Connects OpenSSL to a session's buffers.
private final class TransferMethod: Sendable {
    static let shared = TransferMethod()

    private let object: OwnedObject
    var pointer: OpaquePointer { object.pointer }

    private init() {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "session") else {
            preconditionFailure("there is no memory for a method")
        }
        BIO_meth_set_read(method) { bio, buffer, count in
            guard let bio, let buffer, let session = TransferMethod.session(of: bio) else { return -1 }
            copenssl_bio_clear_retry(bio)
            let taken = session.take(into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)))
            if taken > 0 { return Int32(taken) }
            copenssl_bio_wants_read(bio)
            return -1
        }
        BIO_meth_set_write(method) { bio, octets, count in
            guard let bio, let octets, let session = TransferMethod.session(of: bio) else { return -1 }
            copenssl_bio_clear_retry(bio)
            session.give(UnsafeRawBufferPointer(start: octets, count: Int(count)))
            return count
        }
        BIO_meth_set_ctrl(method) { _, command, _, _ in copenssl_is_flush(command) == 1 ? 1 : 0 }
        object = OwnedObject(method) { BIO_meth_free($0) }
    }

    private static func session(of bio: OpaquePointer) -> ServerTLSSession? {
        BIO_get_data(bio).map { Unmanaged<ServerTLSSession>.fromOpaque($0).takeUnretainedValue() }
    }
}
