import CLarderLinux
import CLarderOpenSSL
import Glibc

/// The client's side of TLS over an existing connection, with blocking calls. It trusts every certificate, or one CA.
package final class TLSClient {
    package enum Handshake: Equatable {
        case done
        /// The description of the alert received instead (RFC 8446 §6).
        case alert(UInt8)
        case failed
    }

    /// A client's options for TLS.
    package struct Terms {
        package var serverName: String?
        /// The only trusted CA certificate, in DER; `nil` to trust every certificate.
        package var anchor: [UInt8]?
        /// The protocols to offer by ALPN; empty to offer none.
        package var protocols: [String] = []
        package var greatestVersion: Int32?
        /// The ticket of an earlier connection, for resumption.
        package var ticket: Ticket?

        package init(serverName: String? = nil, anchor: [UInt8]? = nil) {
            self.serverName = serverName
            self.anchor = anchor
        }
    }

    /// A session that may be resumed.
    package final class Ticket {
        fileprivate let session: OpaquePointer
        fileprivate init(_ session: OpaquePointer) { self.session = session }
        deinit { SSL_SESSION_free(session) }
    }

    package struct Agreed {
        package let version: String
        package let protocolName: String
        package let isResumed: Bool
        /// The server's certificate, in DER.
        package let certificate: [UInt8]
    }

    /// Keeps the descriptor open.
    private let client: RawClient?
    private let context: OpaquePointer
    private let session: OpaquePointer

    /// - Parameter serverName: the name in the ClientHello; `nil` for none.
    package convenience init(_ client: RawClient, serverName: String?) {
        self.init(descriptor: client.descriptor, Terms(serverName: serverName), owner: client)
    }

    package init(descriptor: Int32, _ terms: Terms, owner: RawClient? = nil) {
        client = owner
        context = SSL_CTX_new(TLS_client_method())!
        session = SSL_new(context)!
        SSL_set_fd(session, descriptor)
        if let name = terms.serverName {
            let named = name.withCString { name in
                SSL_ctrl(
                    session, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), UnsafeMutableRawPointer(mutating: name)
                )
            }
            precondition(named == 1, "no name for a ClientHello")
        }
        if let version = terms.greatestVersion { SSL_ctrl(session, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil) }
        if let anchor = terms.anchor { believe(anchor, terms.serverName) }
        if !terms.protocols.isEmpty {
            let list = terms.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
            precondition(SSL_set_alpn_protos(session, list, UInt32(list.count)) == 0)
        }
        if let ticket = terms.ticket { SSL_set_session(session, ticket.session) }
    }

    private func believe(_ anchor: [UInt8], _ name: String?) {
        let certificate = anchor.withUnsafeBufferPointer { octets in
            var next = octets.baseAddress
            return d2i_X509(nil, &next, octets.count)
        }
        defer { X509_free(certificate) }
        X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate)
        SSL_set_verify(session, SSL_VERIFY_PEER, nil)
        if let name { SSL_set1_host(session, name) }
    }

    /// A client's first bytes.
    package static func hello(to serverName: String) -> [UInt8] {
        var ends: [Int32] = [-1, -1]
        precondition(socketpair(AF_UNIX, larder_sock_stream | larder_sock_cloexec | larder_sock_nonblock, 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        _ = TLSClient(descriptor: ends[0], Terms(serverName: serverName)).handshake()
        var octets = [UInt8](repeating: 0, count: 4096)
        let count = recv(ends[1], &octets, octets.count, 0)
        precondition(count > 0, "a client says something first")
        return Array(octets[..<count])
    }

    package var agreed: Agreed {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(session, &name, &count)
        var der: [UInt8] = []
        if let certificate = SSL_get1_peer_certificate(session) {
            der = TestAuthority.der(of: certificate)
            X509_free(certificate)
        }
        return Agreed(
            version: String(cString: SSL_get_version(session)),
            protocolName: String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self),
            isResumed: SSL_session_reused(session) == 1, certificate: der)
    }

    /// With TLS 1.3 the ticket is only available after something was read.
    package var ticket: Ticket? { SSL_get1_session(session).map { Ticket($0) } }

    func send(_ octets: [UInt8]) -> Int {
        var done = 0
        while done < octets.count {
            let step = octets.withUnsafeBytes { SSL_write(session, $0.baseAddress! + done, Int32($0.count - done)) }
            if step <= 0 { return done }
            done += Int(step)
        }
        return done
    }

    /// Like `recv`: 0 if the server has sent close_notify; -1 also if it has closed without one.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        ERR_clear_error()
        let count = SSL_read(session, buffer.baseAddress, Int32(clamping: buffer.count))
        if count > 0 { return Int(count) }
        return SSL_get_error(session, count) == SSL_ERROR_ZERO_RETURN ? 0 : -1
    }

    func end() { _ = SSL_shutdown(session) }

    deinit {
        SSL_free(session)
        SSL_CTX_free(context)
    }

    /// The records of this many updates of our keys (RFC 8446 §4.6.3), to be sent by the caller.
    /// - Parameter wantAnswers: whether each requests an update from the server.
    package func keyUpdates(_ count: Int, wantAnswers: Bool) -> [UInt8] {
        let way = SSL_get_wbio(session)
        let memory = BIO_new(BIO_s_mem())
        BIO_up_ref(way)
        SSL_set0_wbio(session, memory)
        defer { SSL_set0_wbio(session, way) }
        for _ in 0..<count {
            SSL_key_update(session, wantAnswers ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED)
            SSL_do_handshake(session)
        }
        var octets = [UInt8](repeating: 0, count: count * Self.keyUpdateLength)
        let taken = octets.withUnsafeMutableBytes { BIO_read(memory, $0.baseAddress, Int32($0.count)) }
        return Array(octets.prefix(Int(max(taken, 0))))
    }

    /// Rounded up: five bytes before each record, five of the message, one of its type and sixteen of the authentication tag.
    private static let keyUpdateLength = 32

    package func handshake() -> Handshake {
        ERR_clear_error()
        if SSL_connect(session) == 1 { return .done }
        // SSL_AD_REASON_OFFSET and the alert's number.
        let reason = Int(ERR_peek_error() & 0x7F_FFFF)
        return (1000..<1256).contains(reason) ? .alert(UInt8(reason - 1000)) : .failed
    }

    /// Requests another handshake on the same connection, as in TLS 1.2.
    /// - Returns: whether it happened.
    package func renegotiate() -> Bool {
        ERR_clear_error()
        return SSL_renegotiate(session) == 1 && SSL_do_handshake(session) == 1 && SSL_do_handshake(session) == 1
    }

    /// Sends a request and reads until the response ends with the expected text, or the server ends.
    package func fetch(_ path: String, until ending: String) -> String {
        let request = Array("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        guard SSL_write(session, request, Int32(request.count)) == Int32(request.count) else { return "" }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !String(decoding: answer, as: UTF8.self).hasSuffix(ending) {
            let count = SSL_read(session, &buffer, Int32(buffer.count))
            if count <= 0 { break }
            answer += buffer[..<Int(count)]
        }
        return String(decoding: answer, as: UTF8.self)
    }
}
