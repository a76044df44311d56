internal import CLarderOpenSSL

// libssl's callbacks, on the thread that drives the handshake. Each callback finds the `HandshakeJudge` of its session.

extension HandshakeJudge {
    /// The index at which a session stores its `HandshakeJudge`.
    static let index = copenssl_session_new_index()

    /// Prepares an `SSL_CTX` whose sessions each have a `HandshakeJudge`: without one no handshake succeeds. The context is independent of
    /// any policy.
    ///
    /// Renegotiation is off, so that the verified server remains the peer. Only a `HandshakeJudge` writes a key log, whatever the
    /// environment says.
    /// - Parameter logsKeys: whether each `HandshakeJudge` gets its session's secrets.
    /// - Returns: whether libssl accepts it.
    package static func prepare(_ context: OpaquePointer, logsKeys: Bool) -> Bool {
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(context, judgesCertificates, nil)
        copenssl_context_set_message_callback(context, notesMessages)
        copenssl_context_set_staple_callback(context, judgesStaple)
        SSL_CTX_set_cert_cb(context, showsIdentity, nil)
        SSL_CTX_set_options(context, copenssl_option_no_renegotiation())
        // Security level 2 is Debian's default. It is the minimum here, even if the distribution sets a lower level.
        if SSL_CTX_get_security_level(context) < 2 { SSL_CTX_set_security_level(context, 2) }
        SSL_CTX_set_keylog_callback(context, logsKeys ? writesKeys : nil)
        copenssl_context_offer_sessions(context, keepsSession)
        // Signed certificate timestamps are requested by a custom extension. OpenSSL's own support would also request a stapled OCSP
        // response, and does not give access to the received list.
        let places = SSL_EXT_CLIENT_HELLO | SSL_EXT_TLS1_2_SERVER_HELLO | SSL_EXT_TLS1_3_CERTIFICATE
        return SSL_CTX_add_custom_ext(
            context, UInt32(TLSEXT_TYPE_signed_certificate_timestamp), UInt32(places), asksForTimestamps, nil, nil,
            takesTimestamps, nil) == 1
    }

    fileprivate static func of(_ session: OpaquePointer?) -> HandshakeJudge? {
        session.flatMap { SSL_get_ex_data($0, index) }.map { Unmanaged<HandshakeJudge>.fromOpaque($0).takeUnretainedValue() }
    }
}

private func judgesCertificates(_ context: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let context, let session = X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx()) else { return 0 }
    let goesOn = HandshakeJudge.of(OpaquePointer(session))?.judgeCertificates(context) ?? false
    // A rejection is sent as the alert bad_certificate.
    X509_STORE_CTX_set_error(context, goesOn ? X509_V_OK : X509_V_ERR_CERT_REJECTED)
    return goesOn ? 1 : 0
}

private func judgesStaple(_ session: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let session, let judge = HandshakeJudge.of(session) else { return 0 }
    return judge.judgeStaple(of: session) ? 1 : 0
}

private func asksForTimestamps(
    _ session: OpaquePointer?, _ type: UInt32, _ place: UInt32, _ octets: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ count: UnsafeMutablePointer<Int>?, _ certificate: OpaquePointer?, _ depth: Int, _ alert: UnsafeMutablePointer<Int32>?,
    _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard HandshakeJudge.of(session)?.auditsTimestamps == true else { return 0 }
    octets?.pointee = nil
    count?.pointee = 0
    return 1
}

private func takesTimestamps(
    _ session: OpaquePointer?, _ type: UInt32, _ place: UInt32, _ octets: UnsafePointer<UInt8>?, _ count: Int,
    _ certificate: OpaquePointer?, _ depth: Int, _ alert: UnsafeMutablePointer<Int32>?, _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    // In TLS 1.3 each certificate may have its own list; only the list of the server's certificate is used.
    if depth == 0 { HandshakeJudge.of(session)?.take(timestamps: Array(UnsafeBufferPointer(start: octets, count: count))) }
    return 1
}

private func showsIdentity(_ session: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let session, let judge = HandshakeJudge.of(session) else { return 0 }
    return judge.showIdentity(in: session) ? 1 : 0
}

private func keepsSession(_ session: OpaquePointer?, _ resumable: OpaquePointer?) -> Int32 {
    guard let resumable, let judge = HandshakeJudge.of(session) else { return 0 }
    return judge.keepSession(resumable) ? 1 : 0
}

private func writesKeys(_ session: OpaquePointer?, _ line: UnsafePointer<CChar>?) {
    if let line { HandshakeJudge.of(session)?.write(keys: line) }
}

private func notesMessages(
    _ isWritten: Int32, _ version: Int32, _ type: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ session: OpaquePointer?,
    _ argument: UnsafeMutableRawPointer?
) {
    guard isWritten == 0, type == SSL3_RT_ALERT || type == SSL3_RT_HANDSHAKE, let bytes, let judge = HandshakeJudge.of(session)
    else { return }
    switch type {
    case SSL3_RT_ALERT where count == 2:
        let isWarning = bytes.load(as: UInt8.self) == SSL3_AL_WARNING && version != TLS1_3_VERSION
        let description = bytes.load(fromByteOffset: 1, as: UInt8.self)
        // After a warning the connection continues (RFC 5246 §7.2), except after close_notify.
        if !isWarning || description == SSL3_AD_CLOSE_NOTIFY { judge.note(alert: description) }
    case SSL3_RT_HANDSHAKE: judge.noteMessage()
    default: break
    }
}
