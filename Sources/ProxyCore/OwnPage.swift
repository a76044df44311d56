import HTTPMessage

/// The pages of a listener for direct requests, as to a server (RFC 9112 §3.2.1): the proxy's address, and the root certificate of its CA.
enum OwnPage: Sendable {
    /// A proxy auto-configuration script.
    case script
    case certificatePEM, certificateDER

    /// - Returns: `nil` for any other path, for a query, and for methods other than GET and HEAD.
    init?(_ request: borrowing RequestHead) {
        guard case .origin = request.target.form, request.method == .get || request.method == .head, request.target.query.isEmpty
        else { return nil }
        let path = request.span(of: request.target.path)
        if path.equals("/proxy.pac") {
            self = .script
        } else if path.equals("/ca.pem") {
            self = .certificatePEM
        } else if path.equals("/ca.der") {
            self = .certificateDER
        } else {
            return nil
        }
    }

    var isCertificate: Bool { self != .script }

    /// Browsers treat this media type as an offer to install a root certificate, whether it is PEM or DER.
    var contentType: StaticString {
        switch self {
        case .script: "application/x-ns-proxy-autoconfig"
        case .certificatePEM, .certificateDER: "application/x-x509-ca-cert"
        }
    }
}

/// The root certificate of the CA, for clients that request it.
package struct RootCertificate: Equatable, Sendable {
    let der: [UInt8]
    let pem: [UInt8]

    package init(der: [UInt8], pem: [UInt8]) {
        self.der = der
        self.pem = pem
    }
}
