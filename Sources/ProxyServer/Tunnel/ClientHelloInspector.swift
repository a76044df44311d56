import EventLoop
import HTTPMessage
import HTTPWire
import ProxyCore
import UpstreamTransport

/// Holds back the first bytes that a client sends into a tunnel until it is known which host it wants to reach. Only used if
/// `Transport.looksIntoTunnels` or the exchange's `tunnelNeedsName` is `true`.
///
/// States and moves: `reading`, until the ClientHello is complete, or it is certain that none will come → `judging` → `ended`, after which
/// the tunnel continues or ends. While `judging`, the server must prove that it is the host named in the ClientHello. Confined to its loop.
final class ClientHelloInspector: TimerHandler, JudgementDelegate {
    private enum State { case reading, judging(Judgement), ended }

    private let worker: LoopWorker
    private let origin: Origin
    private let opener: Transport
    private let via: String
    private weak var tunnel: Tunnel?
    private var reader: ClientHelloReader
    private var state = State.reading
    /// The time limit for the ClientHello. It runs from the client's first byte, because clients may wait for the server to send first.
    private var timer: TimerID?

    init(_ worker: LoopWorker, to origin: Origin, openedBy opener: Transport, via: String) {
        self.worker = worker
        self.origin = origin
        self.opener = opener
        self.via = via
        reader = ClientHelloReader(limits: worker.settings.parseLimits)
    }

    func attach(to tunnel: Tunnel) { self.tunnel = tunnel }

    var isReading: Bool {
        if case .reading = state { true } else { false }
    }

    /// The next bytes from the client; not empty.
    func take(_ bytes: Span<UInt8>) {
        if timer == nil {
            let timer = worker.loop.makeTimer(self)
            self.timer = timer
            worker.loop.setTimer(timer, afterMilliseconds: worker.settings.timeouts.clientHead)
        }
        do throws(ClientHelloFault) {
            switch try reader.take(bytes) {
            case .needsMore: break
            case .hello(let hello): decide(on: hello)
            case .notTLS: decide(on: nil)
            }
        } catch {
            refuse(.unreadable(error))
        }
    }

    /// Called when the client has closed its sending side.
    func inputEnded() {
        if reader.octets.isEmpty, tunnel?.needsName == false { open() } else { decide(on: nil) }
    }

    func deadlinePassed(_ timer: TimerID) {
        if isReading { refuse(.timedOut) }
    }

    func judgement(_ judgement: Judgement, didEndWith result: Result<VettedServer, TransportError>) {
        switch result {
        case .success:
            tunnel?.note(judgement)
            if !refusesByRules() { open() }
        case .failure(let error): end { $0.refuse(error) }
        }
    }

    /// Called when the tunnel has ended.
    func cancel() { end { _ in } }

    private func decide(on hello: ClientHello?) {
        // The current settings apply, which may differ from those at the time of the CONNECT.
        let transport = worker.transports.transport(through: opener.configuration.wayName) ?? worker.transport
        if refusesByRules() { return }
        let needsName = tunnel?.needsName ?? true
        switch transport.decide(on: hello, inTunnelTo: origin, openedBy: opener, needsName: needsName) {
        case .pass: open()
        case .refuse(let refusal): refuse(refusal)
        case .judge(let host):
            let judgement = transport.judge(host: host, inTunnelTo: origin, via: via, delegate: self)
            state = .judging(judgement)
            tunnel?.note(judgement.isKept ? .probedBefore : .probed)
        }
    }

    /// Ends the tunnel if the active rules, which may differ from the rules at the time of the CONNECT, deny it.
    private func refusesByRules() -> Bool {
        guard let fault = tunnel?.renewVerdict() else { return false }
        end { $0.refuse(fault, alert: .accessDenied) }
        return true
    }

    private func open() { end { $0.open(with: reader.octets) } }

    private func refuse(_ refusal: TunnelRefusal) { end { $0.refuse(FaultMapping.fault(refusal), alert: refusal.alert) } }

    private func end(_ tell: (Tunnel) -> Void) {
        if case .judging(let judgement) = state { judgement.cancel() }
        state = .ended
        if let timer { worker.loop.removeTimer(timer) }
        timer = nil
        if let tunnel { tell(tunnel) }
        tunnel = nil
    }
}
