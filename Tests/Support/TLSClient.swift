import COpenSSL
import Glibc

/// A client's side of TLS over a connection that stands already, with blocking calls. It believes everybody.
package final class TLSClient {
    package enum Handshake: Equatable {
        case done
        /// The description of the alert that came instead (RFC 8446 §6).
        case alert(UInt8)
        case failed
    }

    private let client: RawClient
    private let context: OpaquePointer
    private let session: OpaquePointer

    /// - Parameter serverName: as it stands in the ClientHello; `nil` names nobody.
    package init(_ client: RawClient, serverName: String?) {
        self.client = client
        context = SSL_CTX_new(TLS_client_method())!
        session = SSL_new(context)!
        SSL_set_fd(session, client.descriptor)
        if let serverName {
            let named = serverName.withCString { name in
                SSL_ctrl(
                    session, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), UnsafeMutableRawPointer(mutating: name)
                )
            }
            precondition(named == 1, "no name for a ClientHello")
        }
    }

    deinit {
        SSL_free(session)
        SSL_CTX_free(context)
    }

    package func handshake() -> Handshake {
        ERR_clear_error()
        if SSL_connect(session) == 1 { return .done }
        // SSL_AD_REASON_OFFSET and the alert's number.
        let reason = Int(ERR_peek_error() & 0x7F_FFFF)
        return (1000..<1256).contains(reason) ? .alert(UInt8(reason - 1000)) : .failed
    }

    /// Sends a request and reads until the answer's body ends with what is expected, or the server ends.
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
