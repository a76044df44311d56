import CertificateAuthority
import HTTPWire
import ServerTrust
import TLSChannel
import UpstreamTransport

/// The beginning of a connection to a listener that speaks TLS: which certificate its client is shown, and what becomes of the connection.
/// Confined to its loop; its connection keeps it.
final class ListenerHandshake: FirstBytesReader {
    private let worker: LoopWorker
    private let tls: ListenerTLS
    private unowned let connection: ClientConnection
    private lazy var handshake = ClientTLSHandshake(worker, delegate: self)

    init(_ worker: LoopWorker, _ tls: ListenerTLS, on connection: ClientConnection) {
        self.worker = worker
        self.tls = tls
        self.connection = connection
    }

    var takesInput: Bool { handshake.takesInput }

    func take(_ octets: UnsafeRawBufferPointer) { handshake.take(octets) }

    func inputEnded() -> Bool { false }

    func connectionEnded() { handshake.end() }

    func deadlinePassed(isLast: Bool) { refuse(.timedOut) }

    /// No request can tell of it.
    private func refuse(_ refusal: TunnelRefusal, _ detail: String? = nil) {
        worker.warn(of: refusal, detail, with: connection.peer, at: address)
        connection.endHandshake()
    }

    private var address: PeerAddress { PeerAddress(localOf: connection.descriptor) }
}

extension ListenerHandshake: ClientTLSHandshakeDelegate {
    func handshake(_ handshake: ClientTLSHandshake, didRead hello: ClientHello) {
        switch tls.shown {
        case .identity(let identity): handshake.show(.identity(identity))
        case .authority(let names):
            guard let name = ListenerTLS.name(among: names, asked: hello.serverName, at: address) else {
                return refuse(.noLeaf(.noName))
            }
            handshake.issue(for: name)
        }
    }

    func handshakeDidReadOtherProtocol(_ handshake: ClientTLSHandshake) { refuse(.notTLS) }

    func terms(of handshake: ClientTLSHandshake) -> (context: ServerTLSContext, scope: [UInt8])? { (tls.context, Self.scope) }

    /// Each context has ticket keys of its own, so that a ticket is this listener's.
    private static let scope = Array("listener".utf8)

    func handshake(_ handshake: ClientTLSHandshake, didBegin session: ServerTLSSession) { connection.beginTLS(session) }

    func handshake(_ handshake: ClientTLSHandshake, didOpen session: ServerTLSSession, with records: UnsafeRawBufferPointer) {
        connection.openTLS(user: tls.asksForCertificates ? session.clientName : [], with: records)
    }

    func handshake(_ handshake: ClientTLSHandshake, didFailBy refusal: TunnelRefusal, _ detail: String?) {
        refuse(refusal, detail)
    }
}
