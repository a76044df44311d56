import CertificateAuthority
import HTTPWire
import ServerTrust
import TLSChannel
import UpstreamTransport

/// The beginning of a connection to a TLS listener: chooses the certificate for the client, and decides how the connection continues.
/// Confined to its loop; its connection keeps it alive.
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

    /// Logs the failure, because there is no request to report it with.
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

    /// Each context has its own ticket keys, so a ticket is only valid for this listener.
    private static let scope = Array("listener".utf8)

    func handshake(_ handshake: ClientTLSHandshake, didBegin session: TLSSession) { connection.beginTLS(session) }

    func handshake(_ handshake: ClientTLSHandshake, didOpen session: TLSSession, with records: UnsafeRawBufferPointer) {
        connection.openTLS(
            certificateNames: tls.asksForCertificates ? session.clientNames : [], with: records, isHTTP2: session.isForHTTP2)
    }

    func handshake(_ handshake: ClientTLSHandshake, didFailBy refusal: TunnelRefusal, _ detail: String?) {
        refuse(refusal, detail)
    }
}
