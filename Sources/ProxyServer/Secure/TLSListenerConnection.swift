import CLinux
import CertificateAuthority
import EventLoop
import Glibc
import HTTPMessage
import HTTPWire
import ServerTrust
import TLSChannel
import UpstreamTransport

/// A client's connection to a listener that speaks TLS: the handshake, and then the way between the client and one end of a pair of
/// sockets, at whose other end a `ClientConnection` is served as any other, so that tunnels and TLS inside of TLS need not know of it.
///
/// States and moves: `hello`, until all of the ClientHello is there → `awaitingLeaf`, where a certificate has to be made → `queued` →
/// `beginning`, on another thread → `handshaking` → `open` → `ended`; from each to `ended`. Confined to its loop, whose worker keeps it. How
/// long an open one may be idle is for the connection inside to say; once that has gone, what it has left is delivered for as long as the
/// client takes it.
final class TLSListenerConnection: EventHandler, TimerHandler, QueuedHandshake, QueuedReader {
    private enum State {
        case hello
        case awaitingLeaf(Reply<LeafCertificateCache.Answer>)
        case queued(HandshakeBeginning.Shown)
        case beginning
        case handshaking(ServerTLSSession)
        case open(ServerTLSSession)
        case ended
    }

    private final class InnerEnd: EventHandler {
        unowned let tlsConnection: TLSListenerConnection
        init(_ tlsConnection: TLSListenerConnection) { self.tlsConnection = tlsConnection }
        func ready(_ events: ReadyEvents) { tlsConnection.innerReady(events) }
    }

    /// Of one of these and of the connection inside, with the pair of sockets between them.
    static let descriptorCount = 3

    private let worker: LoopWorker
    private let tls: ListenerTLS
    let peer: PeerAddress
    private let client: Registration
    private var timer: TimerID?
    private var state = State.hello
    private var reader: ClientHelloReader
    private var inner: Int32 = -1
    /// `nil` before there is one, and once the connection inside has gone.
    private var innerRegistration: Registration?
    /// What the connection inside has not taken yet.
    private var unread: [UInt8] = []
    /// There is a connection inside, or was.
    private(set) var hasLetIn = false
    private var hasClientEnded = false
    private var hasInnerEnded = false
    private var hasInnerGone = false
    /// The client was told that no more is sent.
    private var hasToldClient = false
    private var isLingering = false
    /// It is ready to be read on, and others are before it.
    private var awaitsTurn = false
    private var isBroken = false

    static func start(_ worker: LoopWorker, descriptor: Int32, peer: PeerAddress, tls: ListenerTLS) throws(SystemError)
        -> TLSListenerConnection
    {
        let first = FirstHandler()
        let client = try worker.loop.register(descriptor, .read, handler: first)
        let tlsConnection = TLSListenerConnection(worker, client: client, peer: peer, tls: tls)
        worker.loop.setHandler(tlsConnection, of: client)
        return tlsConnection
    }

    /// Stands in until there is a TLS connection.
    private final class FirstHandler: EventHandler {
        func ready(_ events: ReadyEvents) {}
    }

    private init(_ worker: LoopWorker, client: Registration, peer: PeerAddress, tls: ListenerTLS) {
        self.worker = worker
        self.client = client
        self.peer = peer
        self.tls = tls
        reader = ClientHelloReader(limits: worker.settings.parseLimits)
        timer = worker.loop.makeTimer(self)
        setDeadline(worker.settings.timeouts.clientHandshake)
    }

    /// Whoever is let in has shown a certificate.
    var isCertified: Bool { tls.asksForCertificates }

    private var session: ServerTLSSession? {
        switch state {
        case .handshaking(let session), .open(let session): session
        case .hello, .awaitingLeaf, .queued, .beginning, .ended: nil
        }
    }

    private func setDeadline(_ milliseconds: Int) {
        if let timer { worker.loop.setTimer(timer, afterMilliseconds: milliseconds) }
    }

    // MARK: Events

    func ready(_ events: ReadyEvents) {
        isBroken = isBroken || events.isBroken
        if isBroken, !isLetIn { return close() }
        if awaitsTurn { return }
        if let queue = queue(for: events), !queue.admits(self) {
            awaitsTurn = true
            return settle()
        }
        if isBroken { return close() }
        if events.isReadable { readClient() }
        pump()
    }

    /// Where it has to wait with what it does: with those that come, or with those that go.
    private func queue(for events: ReadyEvents) -> FairnessQueue? {
        if isLetIn { return events.tellsOfEnd ? worker.departures : nil }
        return events.isReadable ? worker.interceptions : nil
    }

    func resumeReading() {
        awaitsTurn = false
        if case .ended = state { return }
        if isBroken { return close() }
        readClient()
        pump()
    }

    private var isLetIn: Bool {
        if case .open = state { true } else { false }
    }

    private func innerReady(_ events: ReadyEvents) {
        if events.isBroken { innerHasGone() }
        if events.isWritable { giveUnread() }
        pump(reading: events.isReadable)
    }

    func deadlinePassed(_ timer: TimerID) { if hasLetIn { close() } else { refuse(.timedOut) } }

    // MARK: The handshake

    private func readClient() {
        let buffer = worker.recordBuffers.innerRecords
        let count = recv(client.descriptor, buffer.baseAddress, buffer.count, 0)
        if count == 0 { return clientHasEnded() }
        if count < 0 {
            if errno != EAGAIN && errno != EINTR { close() }
            return
        }
        let octets = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        switch state {
        case .hello: octets.withMemoryRebound(to: UInt8.self) { readHello($0.span) }
        case .handshaking(let session): handshake(session, octets)
        case .open(let session): open(octets, with: session)
        case .awaitingLeaf, .queued, .beginning, .ended: break
        }
    }

    private func readHello(_ octets: Span<UInt8>) {
        do throws(ClientHelloFault) {
            switch try reader.take(octets) {
            case .needsMore: break
            case .hello(let hello): chooseCertificate(for: hello)
            case .notTLS: refuse(.notTLS)
            }
        } catch {
            refuse(.unreadable(error))
        }
    }

    private func chooseCertificate(for hello: ClientHello) {
        let names: [LeafName]
        switch tls.shown {
        case .identity(let identity): return queue(.identity(identity))
        case .authority(let shown): names = shown
        }
        guard let leaves = worker.interception?.leaves else { return refuse(.noLeaf(.noAuthority)) }
        guard let name = ListenerTLS.name(among: names, asked: hello.serverName, at: address) else {
            return refuse(.noLeaf(.noName))
        }
        let now = POSIXTime(worker.now)
        if let leaf = leaves.leaf(for: name, at: now) { return queue(.leaf(leaf)) }
        let reply = worker.loop.reply { [weak self] (answer: LeafCertificateCache.Answer) in
            guard let self, case .awaitingLeaf = state else { return }
            switch answer {
            case .success(let leaf): queue(.leaf(leaf))
            case .failure(let missing): refuse(.noLeaf(missing))
            }
        }
        state = .awaitingLeaf(reply)
        leaves.make(name, at: now, on: worker.shared.leafMaker.handle, reply: reply)
    }

    private func queue(_ shown: HandshakeBeginning.Shown) {
        state = .queued(shown)
        worker.handshakes.add(self)
    }

    var awaitsHandshake: Bool {
        if case .queued = state { true } else { false }
    }

    func beginHandshake() -> HandshakeBeginning? {
        guard case .queued(let shown) = state else { return nil }
        state = .beginning
        return HandshakeBeginning(context: tls.context, shown: shown, scope: Self.scope, octets: reader.octets)
    }

    func handshakeBegan(_ begun: BegunHandshake?) {
        guard case .beginning = state else { return }
        guard let begun else { return refuse(.noLeaf(.failed)) }
        state = .handshaking(begun.session)
        let octets = reader.octets
        octets.withUnsafeBytes { goOn(begun.progress, of: begun.session, behind: $0) }
        pump()
    }

    /// Each context has ticket keys of its own, so that a ticket is this listener's.
    private static let scope = Array("listener".utf8)

    private func handshake(_ session: ServerTLSSession, _ octets: UnsafeRawBufferPointer) {
        goOn(session.handshake(octets), of: session, behind: octets)
    }

    /// - Parameter octets: with which the handshake has come so far.
    private func goOn(
        _ progress: ServerTLSSession.Handshake, of session: ServerTLSSession, behind octets: UnsafeRawBufferPointer
    ) {
        switch progress {
        case .needsMore: break
        case .established(let taken):
            worker.handshakes.ended(self)
            state = .open(session)
            reader = ClientHelloReader(limits: worker.settings.parseLimits)
            letIn(session)
            open(UnsafeRawBufferPointer(rebasing: octets[taken...]), with: session)
        case .failed(let failure):
            // An alert may stand in what is to be sent; nobody waits for whether it arrives.
            _ = session.output.withUnsafeBytes { send(client.descriptor, $0.baseAddress, $0.count, larder_msg_nosignal) }
            switch failure {
            case .refusedByClient(let number): refuse(.refusedByClient(TLSAlert(number)))
            case .clientNotCertified(let verdict): refuse(.clientHandshakeFailed, verdict)
            case .protocolError: refuse(.clientHandshakeFailed)
            }
        }
    }

    func giveWay() { refuse(.gaveWay) }

    /// Nobody is let in, of which no request can tell.
    private func refuse(_ refusal: TunnelRefusal, _ detail: String? = nil) {
        worker.warn(of: refusal, detail, with: peer, at: address)
        close()
    }

    private var address: PeerAddress { PeerAddress(localOf: client.descriptor) }

    private func letIn(_ session: ServerTLSSession) {
        var pair: (Int32, Int32) = (-1, -1)
        let made = withUnsafeMutableBytes(of: &pair) {
            socketpair(
                AF_UNIX, Int32(larder_sock_stream | larder_sock_nonblock | larder_sock_cloexec), 0,
                $0.assumingMemoryBound(to: Int32.self).baseAddress)
        }
        guard made == 0 else { return refuse(.clientHandshakeFailed, String(cString: strerror(errno))) }
        do throws(SystemError) {
            innerRegistration = try worker.loop.register(pair.0, .read, handler: InnerEnd(self))
            inner = pair.0
        } catch {
            closeDescriptor(pair.0)
            closeDescriptor(pair.1)
            return refuse(.clientHandshakeFailed, String(cString: strerror(error.code)))
        }
        if let timer { worker.loop.cancelTimer(timer) }
        hasLetIn = true
        worker.adopt(descriptor: pair.1, peer: peer, behind: self, user: tls.asksForCertificates ? session.clientName : [])
    }

    // MARK: To the connection inside

    private func open(_ octets: UnsafeRawBufferPointer, with session: ServerTLSSession) {
        let buffer = worker.readBuffer
        var records = octets
        while case .open = state {
            switch session.receive(records, into: buffer) {
            case .octets(let count): give(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            case .needsMore: return
            case .ended: return clientHasEnded()
            case .failed: return abort()
            }
            records = UnsafeRawBufferPointer(start: nil, count: 0)
        }
    }

    private func give(_ octets: UnsafeRawBufferPointer) {
        var given = 0
        if unread.isEmpty { given = max(0, send(inner, octets.baseAddress, octets.count, larder_msg_nosignal)) }
        // Who has gone takes nothing.
        if given < octets.count, !hasInnerGone { unread.append(contentsOf: octets[given...]) }
    }

    private func giveUnread() {
        if !unread.isEmpty {
            let given = unread.withUnsafeBytes { send(inner, $0.baseAddress, $0.count, larder_msg_nosignal) }
            if given > 0 { unread.removeFirst(given) }
        }
        if unread.isEmpty, hasClientEnded { shutdown(inner, Int32(SHUT_WR)) }
    }

    private func clientHasEnded() {
        guard case .open = state else { return close() }
        hasClientEnded = true
        if unread.isEmpty { shutdown(inner, Int32(SHUT_WR)) }
    }

    // MARK: To the client

    /// Sends what there is, and what the connection inside has written, for as long as the client takes it.
    private func pump(reading: Bool = false) {
        guard let session else { return settle() }
        var mayRead = reading || hasInnerGone
        while case .open = state {
            guard deliver(session) else { return }
            guard session.output.isEmpty else { break }
            if hasInnerEnded {
                if finish(session) { continue }
                break
            }
            guard mayRead, readInner(session) else { break }
            mayRead = hasInnerGone
        }
        if case .handshaking = state, !deliver(session) { return }
        settle()
    }

    /// - Returns: `false` where the client has gone.
    private func deliver(_ session: ServerTLSSession) -> Bool {
        while !session.output.isEmpty {
            let count = session.output.withUnsafeBytes { send(client.descriptor, $0.baseAddress, $0.count, larder_msg_nosignal) }
            if count > 0 {
                session.output.removeFirst(count)
                if hasInnerGone { setDeadline(worker.settings.timeouts.clientBody) }
            } else if errno == EAGAIN || errno == EINTR {
                return true
            } else {
                close()
                return false
            }
        }
        return true
    }

    /// - Returns: whether something came.
    private func readInner(_ session: ServerTLSSession) -> Bool {
        let buffer = worker.readBuffer
        let count = recv(inner, buffer.baseAddress, buffer.count, 0)
        if count > 0 { return session.send(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
        if count < 0, errno == EAGAIN || errno == EINTR { return false }
        hasInnerEnded = true
        return true
    }

    /// The connection inside has said all.
    /// - Returns: whether there is more to send for it.
    private func finish(_ session: ServerTLSSession) -> Bool {
        if !hasToldClient {
            hasToldClient = true
            session.end()
            return true
        }
        shutdown(client.descriptor, Int32(SHUT_WR))
        if hasInnerGone {
            if hasClientEnded {
                close()
            } else if !isLingering {
                // Once: what the client goes on sending makes it no longer.
                isLingering = true
                setDeadline(worker.settings.timeouts.lingering)
            }
        }
        return false
    }

    private func innerHasGone() {
        guard !hasInnerGone else { return }
        hasInnerGone = true
        unread = []
        if let innerRegistration { worker.loop.deregister(innerRegistration) }
        innerRegistration = nil
        setDeadline(worker.settings.timeouts.clientBody)
    }

    // MARK: Interest and ends

    /// In bytes.
    private static let outputLimit = 256 * 1024

    private func settle() {
        let isSending = session?.output.isEmpty == false
        let takes: Bool
        switch state {
        case .hello, .handshaking: takes = true
        // Who has TLS answer by itself, and takes nothing of it, has no more and more of it made.
        case .open(let session): takes = unread.isEmpty && !hasClientEnded && session.output.count <= Self.outputLimit
        case .awaitingLeaf, .queued, .beginning: takes = false
        case .ended: return
        }
        var interest = Interest()
        if takes { interest.formUnion(isLetIn ? [.read, .peerClose] : .read) }
        if isSending { interest.insert(.write) }
        // A connection that is broken says so once.
        worker.loop.modify(client, awaitsTurn ? .edgeTriggered : interest)
        guard let innerRegistration else { return }
        var innerInterest = Interest()
        if !isSending, !hasInnerEnded { innerInterest.insert(.read) }
        if !unread.isEmpty { innerInterest.insert(.write) }
        worker.loop.modify(innerRegistration, innerInterest)
    }

    /// Ends so that a message under way cannot be taken for complete: without a word, and with a reset.
    func abort() {
        if case .ended = state { return }
        resetOnClose(client.descriptor)
        close()
    }

    func close() {
        let former = state
        state = .ended
        switch former {
        case .ended: return
        case .awaitingLeaf(let reply): worker.loop.forget(reply)
        case .beginning, .handshaking: worker.handshakes.ended(self)
        case .queued: worker.handshakes.left()
        case .hello, .open: break
        }
        if let timer { worker.loop.removeTimer(timer) }
        timer = nil
        worker.loop.close(client)
        if let innerRegistration {
            worker.loop.close(innerRegistration)
        } else if inner >= 0 {
            closeDescriptor(inner)
        }
        innerRegistration = nil
        inner = -1
        worker.tlsConnectionEnded(self)
    }
}
