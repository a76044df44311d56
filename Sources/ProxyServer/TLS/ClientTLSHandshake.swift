import CertificateAuthority
import EventLoop
import HTTPMessage
import HTTPWire
import ServerTrust
import TLSChannel
import UpstreamTransport

/// Decides what becomes of a client's TLS handshake, and hears how it ends.
protocol ClientTLSHandshakeDelegate: AnyObject {
    /// All of the ClientHello is there. The handshake goes on with `show`, with `issue`, or not at all.
    func handshake(_ handshake: ClientTLSHandshake, didRead hello: ClientHello)
    /// The client does not speak TLS.
    func handshakeDidReadOtherProtocol(_ handshake: ClientTLSHandshake)
    /// By what TLS is spoken, and whom the session is for, as `ServerTLSSession` has it.
    /// - Returns: `nil` where there is no CA any more.
    func terms(of handshake: ClientTLSHandshake) -> (context: ServerTLSContext, scope: [UInt8])?
    /// What is sent from here on is the session's.
    func handshake(_ handshake: ClientTLSHandshake, didBegin session: ServerTLSSession)
    /// - Parameter records: what came behind it.
    func handshake(_ handshake: ClientTLSHandshake, didOpen session: ServerTLSSession, with records: UnsafeRawBufferPointer)
    /// Where it has a session (`hasSession`), an alert may wait to be sent.
    /// - Parameter detail: what is known besides the reason.
    func handshake(_ handshake: ClientTLSHandshake, didFailBy refusal: TunnelRefusal, _ detail: String?)
}

/// TLS with a client, from its ClientHello to where its session is open: on a listener that speaks TLS, and inside a tunnel that is
/// intercepted. Which certificate is shown is for the delegate to say.
///
/// States and moves: `reading`, until all of the ClientHello is there → `awaitingLeaf`, where a certificate has to be made → `queued` →
/// `beginning`, on another thread → `handshaking` → `ended`; from each to `ended`. Confined to its loop.
final class ClientTLSHandshake {
    private enum State {
        case reading
        case awaitingLeaf(Reply<LeafCertificateCache.Answer>)
        case queued(HandshakeBeginning.Shown)
        case beginning
        case handshaking(ServerTLSSession)
        case ended
    }

    private let worker: LoopWorker
    private unowned let delegate: any ClientTLSHandshakeDelegate
    private var reader: ClientHelloReader
    private var state = State.reading
    /// What is sent is the session's, its alerts as well.
    private(set) var hasSession = false

    init(_ worker: LoopWorker, delegate: any ClientTLSHandshakeDelegate) {
        self.worker = worker
        self.delegate = delegate
        reader = ClientHelloReader(limits: worker.settings.parseLimits)
    }

    /// Everything that came before the session.
    var octets: [UInt8] { reader.octets }

    /// Whether what the client sends is to be read now.
    var takesInput: Bool {
        switch state {
        case .reading, .handshaking: true
        case .awaitingLeaf, .queued, .beginning, .ended: false
        }
    }

    /// - Parameter octets: not empty.
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

    /// Shows a certificate that the local CA issues for a name.
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

    /// A certificate is being made.
    var awaitsLeaf: Bool {
        if case .awaitingLeaf = state { true } else { false }
    }

    func show(_ shown: HandshakeBeginning.Shown) {
        state = .queued(shown)
        worker.handshakes.add(self)
    }

    // MARK: The queue

    /// It still waits for its turn.
    var awaitsTurn: Bool {
        if case .queued = state { true } else { false }
    }

    /// It is its turn. From here on it is under way, and tells the queue when it is over.
    /// - Returns: `nil` where nothing comes of it, of which the queue need not be told.
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

    /// It has been begun, unless OpenSSL had no memory. It may have ended meanwhile.
    func began(_ begun: BegunHandshake?) {
        guard case .beginning = state else { return }
        guard let begun else { return fail(.noLeaf(.failed)) }
        state = .handshaking(begun.session)
        hasSession = true
        delegate.handshake(self, didBegin: begun.session)
        let octets = reader.octets
        octets.withUnsafeBytes { goOn(begun.progress, of: begun.session, behind: $0) }
    }

    /// Others wait, and this one's client has not gone on for long enough.
    func giveWay() { fail(.gaveWay) }

    // MARK: The handshake

    /// - Parameter octets: with which the handshake has come so far.
    private func goOn(
        _ progress: ServerTLSSession.Handshake, of session: ServerTLSSession, behind octets: UnsafeRawBufferPointer
    ) {
        switch progress {
        case .needsMore: break
        case .established(let taken):
            end()
            delegate.handshake(self, didOpen: session, with: UnsafeRawBufferPointer(rebasing: octets[taken...]))
        case .failed(let failure):
            switch failure {
            case .refusedByClient(let number):
                let alert = TLSAlert(number)
                fail(alert.isOfCertificate ? .refusedByClient(alert) : .clientAlert(alert))
            case .clientNotCertified(let verdict): fail(.clientHandshakeFailed, verdict)
            case .protocolError: fail(.clientHandshakeFailed)
            }
        }
    }

    private func fail(_ refusal: TunnelRefusal, _ detail: String? = nil) {
        end()
        delegate.handshake(self, didFailBy: refusal, detail)
    }

    /// Lets go of what is under way. The delegate is told nothing.
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
