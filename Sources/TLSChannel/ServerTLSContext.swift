internal import CLarderOpenSSL
package import ServerTrust

/// The TLS configuration for connections with clients: versions, ciphers, and the keys of session tickets. The keys are random for each
/// instance and never stored. New settings create a new instance, so that no session of the old settings is resumed under the new ones.
///
/// TLS 1.2 and 1.3, forward secrecy only, no compression, no renegotiation, no early data. By ALPN: HTTP/1.1, HTTP/1.0, and HTTP/2 if
/// `offersHTTP2`. Each session chooses its certificate. Usable from any thread.
package final class ServerTLSContext: Sendable {
    private let object: OwnedObject

    var pointer: OpaquePointer { object.pointer }

    /// The ciphers for TLS 1.2; all ciphers of TLS 1.3 are equally strong.
    private static let ciphers =
        "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
        + "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
    private static let groups = "X25519:P-256:P-384"
    /// The number of session tickets per full handshake: one, for the next connection.
    private static let ticketCount = 1
    /// The lifetime of a ticket, in seconds; RFC 8446 §4.6.1 allows seven days.
    private static let ticketLifetime = 7200

    /// - Parameters:
    ///   - roots: the certificates that must have issued clients' certificates, directly or indirectly; if empty, clients are not asked
    ///     for a certificate. Validity is checked by the system's clock.
    ///   - offersHTTP2: whether to choose HTTP/2 for clients that offer it (RFC 9113 §3.2).
    /// - Returns: `nil` if OpenSSL fails, usually for lack of memory.
    package init?(clientRoots roots: [Certificate] = [], offersHTTP2: Bool = false) {
        let made: OpaquePointer? = ErrorQueue.unchanged {
            guard let pointer = SSL_CTX_new(TLS_server_method()) else { return nil }
            if Self.configure(pointer, offersHTTP2: offersHTTP2), Self.ask(pointer, by: roots) { return pointer }
            SSL_CTX_free(pointer)
            return nil
        }
        guard let made else { return nil }
        object = OwnedObject(made) { SSL_CTX_free($0) }
    }

    private static func ask(_ pointer: OpaquePointer, by roots: [Certificate]) -> Bool {
        if roots.isEmpty { return true }
        guard let store = SSL_CTX_get_cert_store(pointer) else { return false }
        // A client's chain may end at any of the given certificates, even at an intermediate.
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        for root in roots {
            guard X509_STORE_add_cert(store, root.pointer) == 1, SSL_CTX_add_client_CA(pointer, root.pointer) == 1 else {
                return false
            }
        }
        SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        return true
    }

    private static func configure(_ pointer: OpaquePointer, offersHTTP2: Bool) -> Bool {
        guard copenssl_context_set_versions(pointer, TLS1_2_VERSION, TLS1_3_VERSION) == 1,
            SSL_CTX_set_cipher_list(pointer, ciphers) == 1, copenssl_context_set_groups(pointer, groups) == 1,
            SSL_CTX_set_num_tickets(pointer, ticketCount) == 1
        else { return false }
        SSL_CTX_set_options(pointer, copenssl_serving_options())
        // OpenSSL releases the buffers of an idle connection, so that it uses little memory.
        copenssl_context_set_mode(pointer, copenssl_record_mode())
        // Sessions need no cache, because tickets contain the complete session state.
        _ = copenssl_context_cache_no_sessions(pointer)
        SSL_CTX_set_timeout(pointer, ticketLifetime)
        SSL_CTX_set_max_early_data(pointer, 0)
        if offersHTTP2 {
            copenssl_context_select_protocol(pointer, selectsHTTP2)
        } else {
            copenssl_context_select_protocol(pointer, selectsHTTP1)
        }
        return true
    }
}

/// Selects HTTP/1.1, else HTTP/1.0, by ALPN. A client that offers protocols must offer one of these (RFC 7301 §3.2).
private func selectsHTTP1(
    _ session: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ chosenLength: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?, _ offeredLength: UInt32, _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    selects(of: ["http/1.1", "http/1.0"], chosen, chosenLength, offered, offeredLength)
}

/// Selects HTTP/2, else HTTP/1.1, else HTTP/1.0, by ALPN.
private func selectsHTTP2(
    _ session: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ chosenLength: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?, _ offeredLength: UInt32, _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    selects(of: ["h2", "http/1.1", "http/1.0"], chosen, chosenLength, offered, offeredLength)
}

private func selects(
    of names: [StaticString], _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ chosenLength: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ offeredLength: UInt32
) -> Int32 {
    guard let chosen, let chosenLength, let offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    for name in names {
        guard let found = offeredProtocol(name, in: UnsafeBufferPointer(start: offered, count: Int(offeredLength))) else {
            continue
        }
        chosen.pointee = found.baseAddress
        chosenLength.pointee = UInt8(found.count)
        return SSL_TLSEXT_ERR_OK
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}

/// - Parameter list: the offered names, each preceded by its length.
private func offeredProtocol(_ name: StaticString, in list: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
    var offset = 0
    while offset < list.count, offset + 1 + Int(list[offset]) <= list.count {
        let end = offset + 1 + Int(list[offset])
        let offered = UnsafeBufferPointer(rebasing: list[offset + 1..<end])
        if name.withUTF8Buffer({ $0.elementsEqual(offered) }) { return offered }
        offset = end
    }
    return nil
}
