import EventLoop
import HTTPMessage
import HTTPWire
import ParentSelection

/// Sends a request to each parent that is down, and to each parent that has not responded for a while, at fixed intervals. A parent that
/// sends any response is up. One loop probes for all loops. Confined to that loop; its transport stops it.
final class ParentProbes: TimerHandler {
    private unowned let transport: Transport
    private let group: ParentGroup
    private var timer: TimerID?
    private var probes: [ParentProbe] = []

    init(_ transport: Transport, of group: ParentGroup) {
        self.transport = transport
        self.group = group
        let timer = transport.loop.makeTimer(self)
        self.timer = timer
        transport.loop.setTimer(timer, afterMilliseconds: interval)
    }

    private var interval: Int { transport.configuration.parentProbeMilliseconds }

    func stop() {
        if let timer { transport.loop.removeTimer(timer) }
        timer = nil
        let probes = probes
        self.probes = []
        for probe in probes { probe.cancel() }
    }

    func deadlinePassed(_ timer: TimerID) {
        transport.loop.setTimer(timer, afterMilliseconds: interval)
        let now = transport.loop.now.nanoseconds
        let span = UInt64(interval) * 1_000_000
        for member in group.snapshot.membersToProbe(since: now > span ? now - span : 0)
        where !probes.contains(where: { $0.member == member })
            && transport.configuration.gate.isOpen(to: group.members[member].host)
        {
            let probe = ParentProbe(member) { [unowned self] probe, isUp in self.ended(probe, isUp: isUp) }
            probes.append(probe)
            probe.exchange = transport.open(request(to: member), delegate: probe)
        }
    }

    /// The parent answers the request itself, because it must not forward it (RFC 9110 §7.6.2). The host does not exist (RFC 2606 §2).
    private func request(to member: Int) -> UpstreamRequest {
        let head = "OPTIONS * HTTP/1.1\r\nHost: larder.invalid\r\nMax-Forwards: 0\r\n\r\n"
        var request = UpstreamRequest(
            origin: Origin(scheme: .http, host: "larder.invalid", port: 80), method: .options, head: Array(head.utf8))
        var timeouts = transport.configuration.timeouts
        timeouts.connect = Self.limit
        timeouts.firstByte = Self.limit
        request.timeouts = timeouts
        request.probedParent = member
        request.takesProxyChallenges = true
        return request
    }

    /// The time limit for the connection, and for the response, in milliseconds.
    private static let limit = 3_000

    private func ended(_ probe: ParentProbe, isUp: Bool) {
        probes.removeAll { $0 === probe }
        if isUp { group.succeeded(probe.member, at: transport.loop.now) } else { group.failed(probe.member, by: .unreachable) }
    }
}

/// One probe.
private final class ParentProbe: OriginExchangeDelegate {
    let member: Int
    var exchange: OriginExchange?
    private let completion: (ParentProbe, Bool) -> Void

    init(_ member: Int, _ completion: @escaping (ParentProbe, Bool) -> Void) {
        self.member = member
        self.completion = completion
    }

    func cancel() { exchange?.cancel() }

    func exchange(_ exchange: OriginExchange, didReceiveInformational head: borrowing ResponseHead) {}
    func exchange(_ exchange: OriginExchange, didReceiveHead head: inout ResponseHead, framing: BodyFraming) {}
    func exchange(_ exchange: OriginExchange, didReceiveBody bytes: Span<UInt8>) {}
    func exchange(_ exchange: OriginExchange, didDivertBody count: Int) {}
    func exchange(_ exchange: OriginExchange, didEndWithTrailers trailers: borrowing Fields) { completion(self, true) }
    func exchange(_ exchange: OriginExchange, didSwitchProtocols head: inout ResponseHead, on connection: SwitchedConnection) {
        connection.close()
    }
    func exchange(_ exchange: OriginExchange, didFailWith error: TransportError) {
        if error != .transportClosed { completion(self, false) }
    }
    func exchangeIsReadyForBody(_ exchange: OriginExchange) {}
}
