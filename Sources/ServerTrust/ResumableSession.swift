internal import CLarderOpenSSL

/// A session with a trusted server that a later handshake can resume (RFC 8446 §2.2, RFC 5077), with the verdict on the server. It must be
/// used only for the same host, under the same policy and with the same client certificate.
package struct ResumableSession {
    /// OpenSSL's session, an `SSL_SESSION`.
    let session: OwnedObject
    let verdict: TrustVerdict
    let evidence: ServerEvidence
    /// When the server last showed its certificate.
    let proved: POSIXTime
    /// The last second for which the verdict is valid; `nil` for no end.
    let reliableUntil: POSIXTime?

    /// How long sessions may be resumed until the server must show its certificate again, in seconds. A new session from a resumed
    /// connection does not extend this time.
    package static let lifetime: Int64 = 7_200

    /// Whether the session may be resumed at this time: the policy would still give the same verdict, and `lifetime` has not passed.
    func mayBeResumed(at now: POSIXTime) -> Bool {
        now >= proved && now.seconds - proved.seconds <= Self.lifetime && now <= reliableUntil ?? now
    }

    /// Whether the session may be used for one connection only. From a second use, an observer could tell that both connections are from
    /// one client (RFC 8446 §C.4).
    package var isForOneUse: Bool { SSL_SESSION_get_protocol_version(session.pointer) >= TLS1_3_VERSION }
}
