internal import CLarderOpenSSL
package import HTTPMessage

/// Evaluates the server during one libssl handshake, before anything but handshake messages is sent. Confined to the thread that drives
/// the handshake.
///
/// States and transitions:
/// - `waiting` → `judged` when the certificates have arrived.
/// - `waiting` → `awaitingStaple` → `judged` if the policy checks a stapled response, which TLS 1.2 sends after the certificates.
/// - `resuming` → `judged` if the client offers to resume a session: at the end of the handshake, or earlier if the server declines and
///   sends certificates.
///
/// In every state but `judged`, the server is not trusted.
///
/// If the server requests a client certificate, it gets the identity for its host after its own certificates were evaluated. A server
/// that is not trusted never gets the identity.
package final class HandshakeJudge {
    private enum State {
        case waiting
        case awaitingStaple(ServerEvidence)
        case resuming(ResumableSession)
        case judged(Result<TrustVerdict, TrustFailure>)
    }

    private let policy: TrustPolicy
    package let host: String
    private let identity: ClientIdentity?
    private let writeKeys: ((UnsafePointer<CChar>) -> Void)?
    private let resumable: ResumableSession?
    private let keep: ((ResumableSession) -> Void)?
    private let now: () -> Timestamp
    private var state = State.waiting
    /// The signed certificate timestamps that the server sent in the handshake itself.
    private var signedTimestamps: [UInt8]?
    /// The evidence that the server was accepted with; `nil` before that.
    package private(set) var evidence: ServerEvidence?
    /// The description of the last alert that the server sent, before or after the verdict (RFC 8446 §6).
    package private(set) var receivedAlert: UInt8?
    /// Whether the server requested a client certificate (RFC 8446 §4.3.2).
    private var isAskedForIdentity = false
    /// The number of handshake messages that arrived after the verdict: the end of the handshake, session tickets, key updates.
    private var laterMessageCount = 0
    /// Whether the client offered to resume a session, and the server declined.
    package private(set) var hasDeclined = false
    /// When the server of a resumed session last showed its certificate.
    private var provedEarlier: POSIXTime?
    /// The last second for which the verdict can be relied on while the connection is kept.
    package private(set) var reliableUntil: POSIXTime?
    /// The mark of the policy that accepted the server (`TrustPolicy.mark`); 0 before that.
    package private(set) var mark: UInt64 = 0

    /// - Parameters:
    ///   - identity: the client certificate for this host.
    ///   - writeKeys: receives each line of the connection's secrets (`SSLKEYLOGFILE`).
    ///   - resumable: a session with this host, kept under the same policy and identity.
    ///   - keep: receives each session that can be resumed later. `nil` for none.
    ///   - now: called to read the time.
    package init(
        policy: TrustPolicy, host: String, identity: ClientIdentity? = nil, writeKeys: ((UnsafePointer<CChar>) -> Void)? = nil,
        resuming resumable: ResumableSession? = nil, keep: ((ResumableSession) -> Void)? = nil, now: @escaping () -> Timestamp
    ) {
        self.policy = policy
        self.host = host
        self.identity = identity
        self.writeKeys = writeKeys
        self.resumable = resumable
        self.keep = keep
        self.now = now
    }

    package var verdict: TrustVerdict? {
        guard case .judged(.success(let verdict)) = state else { return nil }
        return verdict
    }

    /// The verified chain; empty if it does not end at an anchor, or if the policy does not validate the host.
    package var judgedChain: [Certificate] {
        guard let verdict, verdict.endsAtAnchor, policy.validatesHost else { return [] }
        return verdict.chain
    }

    package var failure: TrustFailure? {
        guard case .judged(.failure(let failure)) = state else { return nil }
        return failure
    }

    /// Whether the server has announced the end of its data: if not, the data may be truncated (RFC 8446 §6.1).
    package var hasServerEnded: Bool { receivedAlert == UInt8(SSL3_AD_CLOSE_NOTIFY) }

    /// Whether the server closed the connection because no client certificate was sent. Before TLS 1.3 there is no alert with that
    /// meaning, and servers send a general alert (RFC 5246 §7.4.6).
    package var isIdentityMissing: Bool {
        guard isAskedForIdentity, identity == nil, let alert = receivedAlert else { return false }
        return [SSL_AD_CERTIFICATE_REQUIRED, SSL_AD_HANDSHAKE_FAILURE, SSL_AD_BAD_CERTIFICATE].contains(Int32(alert))
    }

    /// Whether more session tickets and key updates arrived than any server needs.
    package var isFlooded: Bool { laterMessageCount > Self.laterMessageLimit }
    package static let laterMessageLimit = 1_000

    // MARK: Called by the owner of the session

    /// Attaches this object to a session before the session's handshake, which may resume an earlier session. The session must be freed
    /// before this object.
    /// - Returns: whether libssl accepts it.
    package func attach(to session: OpaquePointer) -> Bool {
        guard SSL_set_ex_data(session, Self.index, Unmanaged.passUnretained(self).toOpaque()) == 1 else { return false }
        if checksStaple, copenssl_session_ask_for_staple(session) != 1 { return false }
        if let resumable, resumable.mayBeResumed(at: POSIXTime(now())), SSL_set_session(session, resumable.session.pointer) == 1 {
            state = .resuming(resumable)
        }
        return true
    }

    /// The handshake is complete. In a resumed session the server has sent no certificate: it has proved that it is the server of the
    /// earlier handshake, whose verdict is still valid.
    /// - Returns: whether the server is trusted. If not, nothing may be sent to it.
    package func conclude(_ session: OpaquePointer) -> Bool {
        switch state {
        case .judged(.success): return true
        case .waiting, .awaitingStaple, .judged(.failure): return false
        case .resuming(let resumable):
            guard SSL_session_reused(session) == 1 else { return false }
            provedEarlier = resumable.proved
            let now = POSIXTime(now())
            guard resumable.mayBeResumed(at: now) else { return judge(resumable.evidence) }
            accept(resumable.verdict, on: resumable.evidence, at: now, reliableUntil: resumable.reliableUntil)
            return true
        }
    }

    var auditsTimestamps: Bool { policy.auditsSignedTimestamps }

    private var checksStaple: Bool { policy.revocation.stapleCheck != .off }

    // MARK: Called by libssl

    /// - Returns: whether the handshake continues.
    func judgeCertificates(_ context: OpaquePointer) -> Bool {
        if case .resuming = state { hasDeclined = true }
        guard let evidence = evidence(in: context) else { return false }
        if checksStaple {
            state = .awaitingStaple(evidence)
            return true
        }
        return judge(evidence)
    }

    func judgeStaple(of session: OpaquePointer) -> Bool {
        // In TLS 1.3, libssl also calls this function at the end of a resumed handshake, in which the server sends no OCSP response.
        if case .resuming = state { return SSL_session_reused(session) == 1 }
        guard case .awaitingStaple(let evidence) = state else { return false }
        var start: UnsafePointer<UInt8>?
        let count = copenssl_staple_of(session, &start)
        let staple = count > 0 ? Array(UnsafeBufferPointer(start: start, count: count)) : nil
        return judge(
            ServerEvidence(
                certificates: evidence.certificates, stapledResponse: staple, signedTimestamps: evidence.signedTimestamps,
                tlsVersion: evidence.tlsVersion))
    }

    /// - Returns: whether the handshake continues, with the identity or without one.
    func showIdentity(in session: OpaquePointer) -> Bool {
        isAskedForIdentity = true
        switch state {
        case .waiting, .resuming, .judged(.failure): return false
        // The client certificate is sent only after the server's stapled response was accepted.
        case .awaitingStaple, .judged(.success): return identity?.show(in: session) ?? true
        }
    }

    /// The list of signed certificate timestamps arrives before or with the server's certificate, to which it belongs (RFC 6962 §3.3.1).
    func take(timestamps list: [UInt8]) { signedTimestamps = list }

    func write(keys line: UnsafePointer<CChar>) { writeKeys?(line) }

    /// - Parameter session: an `SSL_SESSION`.
    /// - Returns: whether the session is kept. If so, this object takes over the caller's reference. A session is not kept if the server
    ///   requests client certificates, because the session could carry an identity. Nor is it kept if the server has just declined to
    ///   resume another session.
    func keepSession(_ session: OpaquePointer) -> Bool {
        guard let keep, case .judged(.success(let verdict)) = state, !isAskedForIdentity, !hasDeclined, let evidence,
            SSL_SESSION_is_resumable(session) == 1
        else { return false }
        keep(
            ResumableSession(
                session: OwnedObject(session) { SSL_SESSION_free($0) }, verdict: verdict, evidence: evidence,
                proved: provedEarlier ?? POSIXTime(now()), reliableUntil: reliableUntil))
        return true
    }

    func note(alert: UInt8) { receivedAlert = alert }

    func noteMessage() {
        if case .judged = state { laterMessageCount += 1 }
    }

    private func judge(_ evidence: ServerEvidence) -> Bool {
        let now = POSIXTime(now())
        do throws(TrustFailure) {
            let verdict = try policy.evaluate(evidence, host: host, at: now)
            accept(verdict, on: evidence, at: now, reliableUntil: policy.lastMoment(of: verdict, after: now))
            return true
        } catch {
            state = .judged(.failure(error))
            return false
        }
    }

    private func accept(
        _ verdict: TrustVerdict, on evidence: ServerEvidence, at now: POSIXTime, reliableUntil: POSIXTime?
    ) {
        state = .judged(.success(verdict))
        self.evidence = evidence
        mark = policy.mark(at: now)
        self.reliableUntil = reliableUntil
    }

    private func evidence(in context: OpaquePointer) -> ServerEvidence? {
        guard let leaf = X509_STORE_CTX_get0_cert(context),
            let session = X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx())
        else { return nil }
        let version = UInt16(truncatingIfNeeded: SSL_version(OpaquePointer(session)))
        return ServerEvidence(
            leaf: leaf, others: X509_STORE_CTX_get0_untrusted(context), signedTimestamps: signedTimestamps,
            tlsVersion: TLSVersion(rawValue: version))
    }
}
