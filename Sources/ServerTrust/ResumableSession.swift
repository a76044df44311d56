internal import COpenSSL

/// A session with a trusted server that a later handshake can resume (RFC 8446 §2.2, RFC 5077), with the verdict on the server. To
/// be used for the same host only, under the same policy and with the same client certificate.
package struct ResumableSession {
    /// An `SSL_SESSION`.
    let session: OwnedObject
    let verdict: TrustVerdict
    let evidence: ServerEvidence
    /// When the server has last shown its certificate.
    let proved: POSIXTime
    /// The last second for which the verdict holds; `nil` for no end.
    let reliableUntil: POSIXTime?

    /// How long a server need not show its certificate again, in seconds, even if each connection gives it a further session.
    package static let lifetime: Int64 = 7_200

    /// Until then the policy would give the same verdict: nothing that it depends on changes.
    func mayBeResumed(at now: POSIXTime) -> Bool {
        now >= proved && now.seconds - proved.seconds <= Self.lifetime && now <= reliableUntil ?? now
    }

    /// Whether it is for one further connection. Otherwise an observer could tell that connections are of one client (RFC 8446 §C.4).
    package var isForOneUse: Bool { SSL_SESSION_get_protocol_version(session.pointer) >= TLS1_3_VERSION }
}
