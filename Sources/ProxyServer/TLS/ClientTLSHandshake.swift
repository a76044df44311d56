import CertificateAuthority
import EventLoop
import HTTPMessage
import HTTPWire
import ServerTrust
import TLSChannel
import UpstreamTransport

/// Decides how a client's TLS handshake continues, and is notified when it ends.
protocol ClientTLSHandshakeDelegate: AnyObject {
    /// Called when the ClientHello is complete. The handshake continues with `show` or `issue`, or ends.
    func handshake(_ handshake: ClientTLSHandshake, didRead hello: ClientHello)
    /// Called when the client does not speak TLS.
    func handshakeDidReadOtherProtocol(_ handshake: ClientTLSHandshake)
    /// Returns the TLS context, and the scope of the session's tickets (see `TLSSession`).
    /// - Returns: `nil` if there is no longer a CA.
    func terms(of handshake: ClientTLSHandshake) -> (context: ServerTLSContext, scope: [UInt8])?
    /// Called when the handshake has made its session. From here on, all output comes from the session.
    func handshake(_ handshake: ClientTLSHandshake, didBegin session: TLSSession)
    /// - Parameter records: the bytes that were received after the last bytes of the handshake.
    func handshake(_ handshake: ClientTLSHandshake, didOpen session: TLSSession, with records: UnsafeRawBufferPointer)
    /// Called when the handshake has failed. If it has a session (`hasSession`), an alert may wait to be sent.
    /// - Parameter detail: details that the reason does not give.
    func handshake(_ handshake: ClientTLSHandshake, didFailBy refusal: TunnelRefusal, _ detail: String?)
}

/// TLS with a client, from its ClientHello until its session is open: on a TLS listener, and inside an intercepted tunnel. The delegate
/// chooses the certificate.
///
/// States and moves: `reading`, until the ClientHello is complete → `awaitingLeaf`, if a certificate must be issued → `queued` →
/// `beginning`, on another thread → `handshaking` → `ended`; from each to `ended`. Confined to its loop.
final class ClientTLSHandshake {
    private enum State {
        case reading
        case awaitingLeaf(Reply<LeafCertificateCache.Answer>)
        case queued(HandshakeBeginning.Shown)
        case beginning
        case handshaking(TLSSession)
        case ended
    }

    private let worker: LoopWorker
    private unowned let delegate: any ClientTLSHandshakeDelegate
    private var reader: ClientHelloReader
    private var state = State.reading
    /// Whether all output comes from the session, including alerts.
    private(set) var hasSession = false

    init(_ worker: LoopWorker, delegate: any ClientTLSHandshakeDelegate) {
        self.worker = worker
        self.delegate = delegate
        reader = ClientHelloReader(limits: worker.settings.parseLimits)
    }

    /// All bytes received before the session began.
    var octets: [UInt8] { reader.octets }

    /// Whether the owner should read from the client now.
    var takesInput: Bool {
        switch state {
        case .reading, .handshaking: true
        case .awaitingLeaf, .queued, .beginning, .ended: false
        }
    }

    /// - Parameter octets: the next bytes from the client; not empty.
    func take(_ octets: UnsafeRawBufferPointer) {
        switch state {
        case .reading: octets.withMemoryRebound(to: UInt8.self) { readHello($0.span) }
        case .handshaking(let session): goOn(session.handshake(octets), of: session, behind: octets)
        case .awaitingLeaf, .queued, .beginning, .ended: preconditionFailure("nothing was asked for")
        }
    }

    private func readHello(_ octets: Span<UInt8>) {
        do throws(ClientHelloFault) {
            switch try reader.take(octets) {
            case .needsMore: break
            case .hello(let hello): delegate.handshake(self, didRead: hello)
            case .notTLS: delegate.handshakeDidReadOtherProtocol(self)
            }
        } catch {
            fail(.unreadable(error))
        }
    }

    // MARK: The certificate

    /// Uses a certificate that the local CA issues for a name.
    func issue(for name: LeafName) {
        guard let leaves = worker.interception?.leaves else { return fail(.noLeaf(.noAuthority)) }
        let now = POSIXTime(worker.now)
        if let leaf = leaves.leaf(for: name, at: now) { return show(.leaf(leaf)) }
        let reply = worker.loop.reply { [weak self] (answer: LeafCertificateCache.Answer) in
            guard let self, case .awaitingLeaf = state else { return }
            switch answer {
            case .success(let leaf): show(.leaf(leaf))
            case .failure(let missing): fail(.noLeaf(missing))
            }
        }
        state = .awaitingLeaf(reply)
        leaves.make(name, at: now, on: worker.shared.leafMaker.handle, reply: reply)
    }

    /// Whether a certificate is being issued.
    var awaitsLeaf: Bool {
        if case .awaitingLeaf = state { true } else { false }
    }

    func show(_ shown: HandshakeBeginning.Shown) {
        state = .queued(shown)
        worker.handshakes.add(self)
    }

    // MARK: The queue

    /// Whether the handshake is still in the queue.
    var awaitsTurn: Bool {
        if case .queued = state { true } else { false }
    }

    /// The queue calls this at the handshake's turn. From here on the handshake is in progress, and notifies the queue when it ends.
    /// - Returns: `nil` if the handshake has failed; the queue is not notified then.
    func begin() -> HandshakeBeginning? {
        guard case .queued(let shown) = state else { return nil }
        guard let terms = delegate.terms(of: self) else {
            state = .ended
            delegate.handshake(self, didFailBy: .noLeaf(.noAuthority), nil)
            return nil
        }
        state = .beginning
        return HandshakeBeginning(context: terms.context, shown: shown, scope: terms.scope, octets: reader.octets)
    }

    /// Called when the handshake has begun, or when OpenSSL had no memory for it. The handshake may have been ended while the other thread
    /// worked.
    func began(_ begun: BegunHandshake?) {
        guard case .beginning = state else { return }
        guard let begun else { return fail(.noLeaf(.failed)) }
        state = .handshaking(begun.session)
        hasSession = true
        delegate.handshake(self, didBegin: begun.session)
        let octets = reader.octets
        octets.withUnsafeBytes { goOn(begun.progress, of: begun.session, behind: $0) }
    }

    /// Fails the handshake, because other clients wait and its client has not continued it for too long.
    func giveWay() { fail(.gaveWay) }

    // MARK: The handshake

    /// - Parameter octets: the received bytes that led to `progress`.
    private func goOn(
        _ progress: TLSSession.Handshake, of session: TLSSession, behind octets: UnsafeRawBufferPointer
    ) {
        switch progress {
        case .needsMore: break
        case .established(let taken):
            worker.metrics.noteHandshake(session.isResumed ? .resumed : .full)
            end()
            delegate.handshake(self, didOpen: session, with: UnsafeRawBufferPointer(rebasing: octets[taken...]))
        case .failed(let failure):
            switch failure {
            case .refusedByPeer(let number):
                let alert = TLSAlert(number)
                fail(alert.isOfCertificate ? .refusedByClient(alert) : .clientAlert(alert))
            case .peerNotCertified(let verdict): fail(.clientHandshakeFailed, verdict)
            case .protocolError: fail(.clientHandshakeFailed)
            }
        }
    }

    private func fail(_ refusal: TunnelRefusal, _ detail: String? = nil) {
        if case .refusedByClient = refusal {
            worker.metrics.noteHandshake(.untrusted)
        } else {
            worker.metrics.noteHandshake(.failed)
        }
        end()
        delegate.handshake(self, didFailBy: refusal, detail)
    }

    /// Cancels work in flight, without calling the delegate.
    func end() {
        let former = state
        state = .ended
        switch former {
        case .awaitingLeaf(let reply): worker.loop.forget(reply)
        case .beginning, .handshaking: worker.handshakes.ended(self)
        case .queued: worker.handshakes.left()
        case .reading, .ended: break
        }
    }
}
