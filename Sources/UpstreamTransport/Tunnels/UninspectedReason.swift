/// Why a tunnel to a host that is to be intercepted passes its bytes unseen: a closed list. Rules and store know nothing of what is in it.
package enum UninspectedReason: UInt8, CaseIterable, Sendable {
    /// The client offers no HTTP/1 inside TLS, and `tls.connect.other_protocols` gives it a tunnel.
    case noHTTP1Offered
    /// A client has refused our certificate for the host, and `tls.connect.refusals_kept` is not over.
    case certificateRefused
    /// At port 80 the client speaks neither TLS nor HTTP/1.
    case notTLS

    /// The word in the log.
    package var word: StaticString {
        switch self {
        case .noHTTP1Offered: "no_http1_offered"
        case .certificateRefused: "client_refused_certificate"
        case .notTLS: "not_tls"
        }
    }
}
