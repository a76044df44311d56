import HTTPMessage

/// What a listener answers to who asks it directly, as a server (RFC 9112 §3.2.1): where the proxy is, and the certificate of the
/// authority by whose certificates it answers.
enum OwnPage: Sendable {
    /// A proxy auto-configuration script.
    case script
    case certificatePEM, certificateDER

    /// - Returns: `nil` for any other path, for one with a query, and for a method that would do more than read.
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

    /// Browsers take the one for certificates as an offer of a root, in both its forms.
    var contentType: StaticString {
        switch self {
        case .script: "application/x-ns-proxy-autoconfig"
        case .certificatePEM, .certificateDER: "application/x-x509-ca-cert"
        }
    }
}

/// The certificate of an authority, as it is given to who asks for it.
package struct RootCertificate: Equatable, Sendable {
    let der: [UInt8]
    let pem: [UInt8]

    package init(der: [UInt8], pem: [UInt8]) {
        self.der = der
        self.pem = pem
    }
}
