/// Why a tunnel to a host that should be intercepted passes its bytes uninspected: a closed list. Rules and the store do not
/// see its content.
package enum UninspectedReason: UInt8, CaseIterable, Sendable {
    /// The client does not offer HTTP/1 inside TLS, and `tls.connect.other_protocols` allows a tunnel.
    case noHTTP1Offered
    /// A client has rejected our certificate for the host, and `tls.connect.refusals_kept` has not elapsed.
    case certificateRefused
    /// At port 80 the client speaks neither TLS nor HTTP/1.
    case notTLS

    /// The word for the reason in the log.
    package var word: StaticString {
        switch self {
        case .noHTTP1Offered: "no_http1_offered"
        case .certificateRefused: "client_refused_certificate"
        case .notTLS: "not_tls"
        }
    }
}
