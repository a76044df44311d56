import CLarderOpenSSL
import Glibc

/// A server's certificate and key, ready for handshakes on any thread.
// OpenSSL counts references to and locks an SSL_CTX itself, and it is not changed after its creation.
package final class TLSIdentity: @unchecked Sendable {
    /// The certificate.
    package let der: [UInt8]
    let context: OpaquePointer
    /// The OCSP response for clients that ask for one (RFC 6066 §8); `nil` for none.
    private let staple: [UInt8]?

    init(
        certificate: OpaquePointer, der: [UInt8], key: OpaquePointer, version: Int32?, clientAuthority: OpaquePointer?,
        ticketCount: Int?, timestamps: [UInt8]? = nil, staple: [UInt8]? = nil
    ) {
        self.der = der
        self.staple = staple
        // OpenSSL writes to sockets without MSG_NOSIGNAL.
        signal(SIGPIPE, SIG_IGN)
        context = SSL_CTX_new(TLS_server_method())!
        // Refusals are tested at the client.
        SSL_CTX_set_security_level(context, 0)
        precondition(SSL_CTX_use_certificate(context, certificate) == 1)
        precondition(SSL_CTX_use_PrivateKey(context, key) == 1)
        if let ticketCount { SSL_CTX_set_num_tickets(context, ticketCount) }
        if let timestamps {
            let places = SSL_EXT_CLIENT_HELLO | SSL_EXT_TLS1_2_SERVER_HELLO | SSL_EXT_TLS1_3_CERTIFICATE
            let type = TLSEXT_TYPE_signed_certificate_timestamp
            let information = [UInt32(places), UInt32(type) << 16 | UInt32(timestamps.count)].flatMap { word in
                stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
            }
            let octets = information + timestamps
            precondition(SSL_CTX_use_serverinfo_ex(context, UInt32(SSL_SERVERINFOV2), octets, octets.count) == 1)
        }
        if let clientAuthority {
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
            X509_STORE_add_cert(SSL_CTX_get_cert_store(context), clientAuthority)
        }
        if staple != nil { sendStaple() }
        if let version {
            SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(version), nil)
            SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil)
        }
    }

    deinit { SSL_CTX_free(context) }

    private func sendStaple() {
        // Unretained: the identity lives longer than its context.
        SSL_CTX_ctrl(context, SSL_CTRL_SET_TLSEXT_STATUS_REQ_CB_ARG, 0, Unmanaged.passUnretained(self).toOpaque())
        copenssl_context_set_staple_callback(context) { session, owner in
            guard let owner, let staple = Unmanaged<TLSIdentity>.fromOpaque(owner).takeUnretainedValue().staple,
                let copy = CRYPTO_malloc(staple.count, nil, 0)
            else { return SSL_TLSEXT_ERR_NOACK }
            staple.withUnsafeBytes { copy.copyMemory(from: $0.baseAddress!, byteCount: staple.count) }
            SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_STATUS_REQ_OCSP_RESP, staple.count, copy)
            return SSL_TLSEXT_ERR_OK
        }
    }

    /// The server chooses HTTP/2 for clients that offer it. To be called before the first handshake.
    package func choosingHTTP2() -> TLSIdentity {
        copenssl_context_select_protocol(context) { _, chosen, chosenCount, offered, offeredCount, _ in
            let list = UnsafeBufferPointer(start: offered, count: Int(offeredCount))
            var offset = 0
            while offset < list.count {
                let name = list[(offset + 1)...].prefix(Int(list[offset]))
                if name.elementsEqual("h2".utf8), let base = list.baseAddress {
                    chosen?.pointee = base + offset + 1
                    chosenCount?.pointee = 2
                    return SSL_TLSEXT_ERR_OK
                }
                offset += 1 + name.count
            }
            return SSL_TLSEXT_ERR_NOACK
        }
        return self
    }
}
