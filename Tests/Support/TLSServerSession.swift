import CLarderOpenSSL

/// TLS of one connection, with blocking calls, on the thread that made it.
final class TLSServerSession {
    var isCut = false
    private let session: OpaquePointer

    init(_ identity: TLSIdentity, _ descriptor: Int32) {
        session = SSL_new(identity.context)!
        SSL_set_fd(session, descriptor)
    }

    deinit { SSL_free(session) }

    func accept() -> Bool { SSL_accept(session) == 1 }

    /// The server name sent by the client (RFC 6066 §3).
    var serverName: String? { SSL_get_servername(session, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) } }

    /// The protocol chosen by ALPN; empty for none.
    var protocolName: String {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(session, &name, &count)
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }

    var isResumed: Bool { SSL_session_reused(session) == 1 }

    /// Returns what `recv` would.
    func receive(_ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
        let received = SSL_read(session, buffer, Int32(clamping: count))
        if received > 0 { return Int(received) }
        return SSL_get_error(session, received) == SSL_ERROR_ZERO_RETURN ? 0 : -1
    }

    func send(_ bytes: UnsafeRawPointer, _ count: Int) -> Int { Int(SSL_write(session, bytes, Int32(clamping: count))) }

    /// Sends close_notify, unless the connection is to be cut.
    func end() {
        if !isCut { SSL_shutdown(session) }
    }
}
