internal import COpenSSL
package import HTTPMessage

/// Evaluates the server during one libssl handshake, before anything but handshake messages is sent. Confined to the thread
/// that drives the handshake.
///
/// States and moves: `waiting` → `judged`, when the certificates have arrived. If the policy checks a stapled response, which
/// TLS 1.2 sends after the certificates: `waiting` → `awaitingStaple` → `judged`. Without a verdict the server is not trusted.
///
/// If the server requests a client certificate, it gets the identity for its host, after its own certificates were evaluated. A
/// server that is not trusted never gets it.
package final class HandshakeJudge {
    private enum State {
        case waiting
        case awaitingStaple(ServerEvidence)
        case judged(Result<TrustVerdict, TrustFailure>)
    }

    private let policy: TrustPolicy
    package let host: String
    private let identity: ClientIdentity?
    private let writeKeys: ((UnsafePointer<CChar>) -> Void)?
    private let now: () -> Timestamp
    private var state = State.waiting
    /// The timestamps that the server sent in the handshake itself.
    private var signedTimestamps: [UInt8]?
    /// The evidence that the server was accepted with; `nil` before that.
    package private(set) var evidence: ServerEvidence?
    /// The description of the last alert that the server sent, before or after the verdict (RFC 8446 §6).
    package private(set) var receivedAlert: UInt8?
    /// Whether the server requested a client certificate (RFC 8446 §4.3.2).
    private var isAskedForIdentity = false
    /// libssl's session, valid until the connection is closed.
    private var session: OpaquePointer?
    /// How many handshake messages arrived after the verdict: the end of the handshake, session tickets, key updates.
    private var laterMessageCount = 0
    /// The last second for which the verdict can be relied on while the connection is kept.
    package private(set) var reliableUntil: POSIXTime?
    /// The mark of the policy that accepted the server (`TrustPolicy.mark`); 0 before that.
    package private(set) var mark: UInt64 = 0

    /// - Parameters:
    ///   - identity: the client certificate for this host.
    ///   - writeKeys: receives each line of the connection's secrets (`SSLKEYLOGFILE`).
    ///   - now: called to read the time.
    package init(
        policy: TrustPolicy, host: String, identity: ClientIdentity? = nil, writeKeys: ((UnsafePointer<CChar>) -> Void)? = nil,
        now: @escaping () -> Timestamp
    ) {
        self.policy = policy
        self.host = host
        self.identity = identity
        self.writeKeys = writeKeys
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

    /// Whether the server has announced the end of its data: without that, the data may be truncated (RFC 8446 §6.1).
    package var hasServerEnded: Bool { receivedAlert == UInt8(SSL3_AD_CLOSE_NOTIFY) }

    /// Whether the server closed the connection because no client certificate was sent. Before TLS 1.3 there is no alert with
    /// that meaning, and servers send a general one (RFC 5246 §7.4.6).
    package var isIdentityMissing: Bool {
        guard isAskedForIdentity, identity == nil, let alert = receivedAlert else { return false }
        return [SSL_AD_CERTIFICATE_REQUIRED, SSL_AD_HANDSHAKE_FAILURE, SSL_AD_BAD_CERTIFICATE].contains(Int32(alert))
    }

    /// Whether more session tickets and key updates arrived than any server needs.
    package var isFlooded: Bool { laterMessageCount > Self.laterMessageLimit }
    package static let laterMessageLimit = 1_000

    /// Installs this judge as the verifier of an `SSL_CTX`. The context, and everything created from it, must be freed before
    /// the judge.
    ///
    /// It also disables renegotiation, so that the evaluated server remains the peer. It allows no key log but ours, whatever the
    /// environment says. It makes an end without close_notify an error, and lets unsent data move in memory. Sessions are not
    /// reused, because `EasyHandles` turns off libcurl's session cache.
    package func takeOver(_ context: UnsafeMutableRawPointer) {
        let context = OpaquePointer(context)
        let this = Unmanaged.passUnretained(self).toOpaque()
        SSL_CTX_set_cert_verify_callback(context, judgesCertificates, this)
        copenssl_context_set_message_callback(context, notesMessages, this)
        if policy.revocation.stapleCheck != .off { copenssl_context_ask_for_staple(context, judgesStaple, this) }
        if policy.auditsSignedTimestamps { Self.askForTimestamps(context, this) }
        SSL_CTX_set_cert_cb(context, showsIdentity, this)
        SSL_CTX_set_options(context, copenssl_option_no_renegotiation())
        SSL_CTX_clear_options(context, copenssl_option_ignore_unexpected_eof())
        // Otherwise one read would process all handshake messages that have arrived, and a server can send them endlessly.
        copenssl_context_clear_mode(context, Int(SSL_MODE_AUTO_RETRY))
        copenssl_context_forbid_read_ahead(context)
        // Level 2 is Debian's default. It is the minimum here, even if the distribution sets a lower one.
        if SSL_CTX_get_security_level(context) < 2 { SSL_CTX_set_security_level(context, 2) }
        copenssl_context_set_mode(context, Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
        SSL_CTX_set_ex_data(context, Self.ownIndex, this)
        SSL_CTX_set_keylog_callback(context, writeKeys == nil ? nil : writesKeys)
    }

    /// The index at which a context stores its judge.
    fileprivate static let ownIndex = copenssl_context_new_index()

    /// Uses a custom extension: OpenSSL's own support would also require stapled responses, and does not expose the list.
    private static func askForTimestamps(_ context: OpaquePointer?, _ judge: UnsafeMutableRawPointer) {
        let places = SSL_EXT_CLIENT_HELLO | SSL_EXT_TLS1_2_SERVER_HELLO | SSL_EXT_TLS1_3_CERTIFICATE
        // If this fails, the list is not requested, and no timestamps of the handshake are counted.
        _ = SSL_CTX_add_custom_ext(
            context, UInt32(TLSEXT_TYPE_signed_certificate_timestamp), UInt32(places), nil, nil, nil, takesTimestamps, judge)
    }

    /// The bytes of a close_notify (RFC 8446 §6.1) that ends only our direction: the server's data is still read. libcurl
    /// closes both directions or none, and its own output works only during its calls; so the alert is written to memory.
    package func endRecords() -> [UInt8] {
        guard let session, let way = SSL_get_wbio(session), let memory = BIO_new(BIO_s_mem()) else { return [] }
        ERR_clear_error()
        defer { ERR_clear_error() }
        BIO_up_ref(way)
        BIO_up_ref(memory)
        SSL_set0_wbio(session, memory)
        _ = SSL_shutdown(session)
        SSL_set0_wbio(session, way)
        var octets = [UInt8](repeating: 0, count: Self.endLength)
        let count = octets.withUnsafeMutableBytes { BIO_read(memory, $0.baseAddress, Int32($0.count)) }
        BIO_free(memory)
        return Array(octets.prefix(max(Int(count), 0)))
    }

    /// From now on, closing the connection sends no close_notify. Without it the server knows that the data it received may be
    /// incomplete (RFC 8446 §6.1).
    package func endSilently() {
        if let session { SSL_set_quiet_shutdown(session, 1) }
    }

    /// A record with an alert is never longer.
    private static let endLength = 512

    // MARK: Called by libssl

    /// - Returns: whether the handshake continues.
    fileprivate func judgeCertificates(_ context: OpaquePointer) -> Bool {
        guard let evidence = evidence(in: context) else { return false }
        if policy.revocation.stapleCheck != .off {
            state = .awaitingStaple(evidence)
            return true
        }
        return judge(evidence)
    }

    fileprivate func judgeStaple(of session: OpaquePointer) -> Bool {
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
    fileprivate func showIdentity(in session: OpaquePointer) -> Bool {
        isAskedForIdentity = true
        switch state {
        case .waiting, .judged(.failure): return false
        // The certificate is sent only after the stapled response was accepted.
        case .awaitingStaple, .judged(.success): return identity?.show(in: session) ?? true
        }
    }

    /// The list arrives before or with the server's certificate, which it belongs to (RFC 6962 §3.3.1).
    fileprivate func take(timestamps list: [UInt8]) { signedTimestamps = list }

    fileprivate func write(keys line: UnsafePointer<CChar>) { writeKeys?(line) }

    fileprivate func note(alert: UInt8) { receivedAlert = alert }

    fileprivate func noteMessage() {
        if case .judged = state { laterMessageCount += 1 }
    }

    private func judge(_ evidence: ServerEvidence) -> Bool {
        let now = POSIXTime(now())
        do throws(TrustFailure) {
            let verdict = try policy.evaluate(evidence, host: host, at: now)
            state = .judged(.success(verdict))
            self.evidence = evidence
            mark = policy.mark(at: now)
            reliableUntil = policy.lastMoment(of: verdict, after: now)
            return true
        } catch {
            state = .judged(.failure(error))
            return false
        }
    }

    private func evidence(in context: OpaquePointer) -> ServerEvidence? {
        guard let leaf = X509_STORE_CTX_get0_cert(context),
            let session = X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx())
        else { return nil }
        self.session = OpaquePointer(session)
        let version = UInt16(truncatingIfNeeded: SSL_version(OpaquePointer(session)))
        return ServerEvidence(
            leaf: leaf, others: X509_STORE_CTX_get0_untrusted(context), signedTimestamps: signedTimestamps,
            tlsVersion: TLSVersion(rawValue: version))
    }
}

extension TrustPolicy {
    /// Until when a verdict made at `now` holds: until its certificates or its revocation data expire, or until the meaning of
    /// the policy next changes (its pins, or the end of its weakening). `nil` if none of these is still to come.
    func lastMoment(of verdict: TrustVerdict, after now: POSIXTime) -> POSIXTime? {
        [verdict.expires, verdict.revocationKnownUntil, nextChange(after: now)].compactMap { $0 }.filter { $0 >= now }.min()
    }
}

// MARK: libssl's callbacks, on the thread that drives the handshake

private func judgesCertificates(_ context: OpaquePointer?, _ judge: UnsafeMutableRawPointer?) -> Int32 {
    guard let context, let judge else { return 0 }
    let goesOn = Unmanaged<HandshakeJudge>.fromOpaque(judge).takeUnretainedValue().judgeCertificates(context)
    // libcurl reads this later; a rejection is sent as the alert bad_certificate.
    X509_STORE_CTX_set_error(context, goesOn ? X509_V_OK : X509_V_ERR_CERT_REJECTED)
    return goesOn ? 1 : 0
}

private func judgesStaple(_ session: OpaquePointer?, _ judge: UnsafeMutableRawPointer?) -> Int32 {
    guard let session, let judge else { return 0 }
    return Unmanaged<HandshakeJudge>.fromOpaque(judge).takeUnretainedValue().judgeStaple(of: session) ? 1 : 0
}

private func takesTimestamps(
    _ session: OpaquePointer?, _ type: UInt32, _ place: UInt32, _ octets: UnsafePointer<UInt8>?, _ count: Int,
    _ certificate: OpaquePointer?, _ depth: Int, _ alert: UnsafeMutablePointer<Int32>?, _ judge: UnsafeMutableRawPointer?
) -> Int32 {
    // In TLS 1.3 each certificate may have its own list; only the list of the server's certificate is used.
    guard depth == 0, let judge else { return 1 }
    Unmanaged<HandshakeJudge>.fromOpaque(judge).takeUnretainedValue().take(
        timestamps: Array(UnsafeBufferPointer(start: octets, count: count)))
    return 1
}

private func showsIdentity(_ session: OpaquePointer?, _ judge: UnsafeMutableRawPointer?) -> Int32 {
    guard let session, let judge else { return 0 }
    return Unmanaged<HandshakeJudge>.fromOpaque(judge).takeUnretainedValue().showIdentity(in: session) ? 1 : 0
}

private func writesKeys(_ session: OpaquePointer?, _ line: UnsafePointer<CChar>?) {
    guard let line, let judge = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(session), HandshakeJudge.ownIndex) else { return }
    Unmanaged<HandshakeJudge>.fromOpaque(judge).takeUnretainedValue().write(keys: line)
}

private func notesMessages(
    _ isWritten: Int32, _ version: Int32, _ type: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ session: OpaquePointer?,
    _ judge: UnsafeMutableRawPointer?
) {
    guard isWritten == 0, let bytes, let judge else { return }
    let this = Unmanaged<HandshakeJudge>.fromOpaque(judge).takeUnretainedValue()
    switch type {
    case SSL3_RT_ALERT where count == 2:
        let isWarning = bytes.load(as: UInt8.self) == SSL3_AL_WARNING && version != TLS1_3_VERSION
        let description = bytes.load(fromByteOffset: 1, as: UInt8.self)
        // After a warning the connection continues (RFC 5246 §7.2), except after close_notify.
        if !isWarning || description == SSL3_AD_CLOSE_NOTIFY { this.note(alert: description) }
    case SSL3_RT_HANDSHAKE: this.noteMessage()
    default: break
    }
}
