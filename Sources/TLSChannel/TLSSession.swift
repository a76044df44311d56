internal import CLarderOpenSSL
internal import ServerTrust

/// One side of TLS with one peer, a client or a server: it converts received bytes to data and data to bytes to send, without a socket.
/// Confined to its loop.
///
/// States and moves: handshaking ──`handshake` returns `.established`──▶ open ──close_notify──▶ ended; from each to failed. `output`
/// holds the bytes to send. The owner sends and removes them, also after a failure, since they may contain an alert.
package final class TLSSession {
    package enum Handshake: Equatable, Sendable {
        case needsMore
        /// - taken: how many of the received bytes belonged to the handshake; the rest is for `receive`.
        case established(taken: Int)
        case failed(TLSFailure)
    }

    package enum Received: Equatable, Sendable {
        case octets(Int)
        case needsMore
        /// The peer sends no more.
        case ended
        case failed(TLSFailure)
    }

    /// The records to send.
    @exclusivity(unchecked) package var output: [UInt8] = []
    let pointer: OpaquePointer
    /// Verifies the server. OpenSSL may call it as long as the session exists.
    private let judge: HandshakeJudge?
    /// If `isOver`, the end or failure that follows the data returned last.
    private var end = Received.ended
    /// Whether `receive` will report the end or a failure, without further bytes.
    @exclusivity(unchecked) package private(set) var isOver = false
    /// During a call, the received bytes that OpenSSL has not read yet.
    @exclusivity(unchecked) private var incoming = UnsafeRawBufferPointer(start: nil, count: 0)

    /// The maximum length of a record's plain text (RFC 8446 §5.1).
    package static let recordLength = 16_384

    /// - Parameters:
    ///   - context: an `SSL_CTX`.
    ///   - judge: verifies the server, for the client's side.
    ///   - prepare: sets the side of the session and its other properties.
    /// - Returns: `nil` if OpenSSL fails, usually for lack of memory.
    init?(_ context: OpaquePointer, judge: HandshakeJudge? = nil, prepare: (OpaquePointer) -> Bool) {
        ERR_clear_error()
        guard let pointer = SSL_new(context) else { return nil }
        self.pointer = pointer
        self.judge = judge
        // Unretained: this object owns the SSL session, not the other way round.
        guard let bio = BIO_new(TransferMethod.shared.pointer) else { return nil }
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        SSL_set_bio(pointer, bio, bio)
        guard prepare(pointer) else { return nil }
    }

    deinit { SSL_free(pointer) }

    /// Whether an earlier session was resumed.
    package var isResumed: Bool { SSL_session_reused(pointer) == 1 }

    /// Whether the peer has closed its side.
    package var hasPeerEnded: Bool { SSL_get_shutdown(pointer) & SSL_RECEIVED_SHUTDOWN != 0 }

    /// Whether a record has arrived in part.
    package var isWithinRecord: Bool { SSL_has_pending(pointer) == 1 }

    /// The TLS version: `TLSv1.2` or `TLSv1.3`.
    package var version: String { String(cString: SSL_get_version(pointer)) }

    /// Whether the two sides have agreed on HTTP/2 by ALPN (RFC 7301, RFC 9113 §3.2).
    package var isForHTTP2: Bool {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(pointer, &name, &count)
        return count == 2 && name?[0] == UInt8(ascii: "h") && name?[1] == UInt8(ascii: "2")
    }

    /// Continues the handshake with received bytes. Consumes all of them, except those after the end of the handshake.
    package func handshake(_ octets: UnsafeRawBufferPointer) -> Handshake {
        taking(octets) {
            let result = SSL_do_handshake(pointer)
            if result == 1 {
                guard judge?.conclude(pointer) ?? true else { return .failed(.protocolError) }
                return .established(taken: octets.count - incoming.count)
            }
            return SSL_get_error(pointer, result) == SSL_ERROR_WANT_READ ? .needsMore : .failed(failure())
        }
    }

    /// Decrypts records. All input is consumed if the buffer has space for its content and one more record. Empty input continues with
    /// records received earlier.
    package func receive(_ octets: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) -> Received {
        if isOver { return end }
        return taking(octets) {
            var total = 0
            while total < buffer.count {
                var count = 0
                let result = SSL_read_ex(pointer, buffer.baseAddress! + total, buffer.count - total, &count)
                if result == 1 {
                    total += count
                    // No input is left, so another read would only report that it needs more.
                    if incoming.isEmpty, SSL_has_pending(pointer) == 0 { break }
                    continue
                }
                switch SSL_get_error(pointer, result) {
                case SSL_ERROR_WANT_READ: return total > 0 ? .octets(total) : .needsMore
                case SSL_ERROR_ZERO_RETURN: break
                default: end = .failed(failure())
                }
                isOver = true
                // If this call returns data, the next call reports the end.
                return total > 0 ? .octets(total) : end
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
    package func endSending() {
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

    private func failure() -> TLSFailure {
        let code = ERR_peek_last_error()
        // Errors left in OpenSSL's queue would be treated as those of another connection.
        defer { ERR_clear_error() }
        let alert = copenssl_alert_of(code)
        if alert >= 0 { return .refusedByPeer(alert: UInt8(truncatingIfNeeded: alert)) }
        if copenssl_reason(code) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE {
            return .peerNotCertified("the client sent no certificate")
        }
        let verdict = SSL_get_verify_result(pointer)
        guard verdict != X509_V_OK else { return .protocolError }
        return .peerNotCertified(String(cString: X509_verify_cert_error_string(verdict)))
    }

    // MARK: OpenSSL's callbacks

    fileprivate func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, incoming.count)
        if count == 0 { return 0 }
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: incoming[..<count]))
        incoming = UnsafeRawBufferPointer(rebasing: incoming[count...])
        return count
    }

    fileprivate func give(_ octets: UnsafeRawBufferPointer) { output.append(contentsOf: octets) }
}

/// Why TLS with a peer failed.
package enum TLSFailure: Error, Equatable, Sendable {
    /// The peer sent an alert (RFC 8446 §6): it rejects Larder's certificate or parameters.
    case refusedByPeer(alert: UInt8)
    /// A client certificate is required, and the client's certificate does not lead to a configured root; the reason is OpenSSL's text.
    case peerNotCertified(String)
    /// The peer sent bytes that are not TLS, or a TLS version that is not supported.
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

    private static func session(of bio: OpaquePointer) -> TLSSession? {
        BIO_get_data(bio).map { Unmanaged<TLSSession>.fromOpaque($0).takeUnretainedValue() }
    }
}
