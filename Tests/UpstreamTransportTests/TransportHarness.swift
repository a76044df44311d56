import EventLoop
import HTTPMessage
import HTTPWire
import TestSupport

@testable import UpstreamTransport

/// Records the calls that a delegate receives.
final class Recorder: OriginExchangeDelegate, TunnelDelegate {
    var informational: [UInt16] = []
    var status: UInt16?
    var framing: BodyFraming?
    var fields = Fields()
    var body: [UInt8] = []
    var pieces: [Int] = []
    var trailers: Fields?
    var error: TransportError?
    var endCount = 0
    var readyCount = 0
    var metrics = ExchangeMetrics()
    var tunnelDescriptor: Int32?
    var switched: SwitchedConnection?
    var tunnelAddress: IPAddress?

    var onHead: (OriginExchange) -> Void = { _ in }
    var onBody: (OriginExchange) -> Void = { _ in }
    var onDiversion: (OriginExchange, Int) -> Void = { _, _ in }
    var onReady: (OriginExchange) -> Void = { _ in }
    var onEnd: (OriginExchange) -> Void = { _ in }

    var hasEnded: Bool { endCount > 0 }
    var isComplete: Bool { endCount == 1 && error == nil && tunnelDescriptor == nil }
    var text: String { String(decoding: body, as: UTF8.self) }

    func exchange(_ exchange: OriginExchange, didReceiveInformational head: borrowing ResponseHead) {
        informational.append(head.status.code)
    }
    func exchange(_ exchange: OriginExchange, didReceiveHead head: inout ResponseHead, framing: BodyFraming) {
        status = head.status.code
        self.framing = framing
        fields = head.fields
        onHead(exchange)
    }
    func exchange(_ exchange: OriginExchange, didReceiveBody bytes: Span<UInt8>) {
        body.append(bytes)
        pieces.append(bytes.count)
        onBody(exchange)
    }
    func exchange(_ exchange: OriginExchange, didDivertBody count: Int) {
        onDiversion(exchange, count)
    }
    func exchange(_ exchange: OriginExchange, didEndWithTrailers trailers: borrowing Fields) {
        self.trailers = copy trailers
        endCount += 1
        metrics = exchange.metrics
        onEnd(exchange)
    }
    func exchange(
        _ exchange: OriginExchange, didSwitchProtocols head: inout ResponseHead, on connection: SwitchedConnection
    ) {
        status = head.status.code
        switched = connection
        endCount += 1
        onEnd(exchange)
    }
    func exchange(_ exchange: OriginExchange, didFailWith error: TransportError) {
        self.error = error
        endCount += 1
        metrics = exchange.metrics
        onEnd(exchange)
    }
    func exchangeIsReadyForBody(_ exchange: OriginExchange) {
        readyCount += 1
        onReady(exchange)
    }
    func tunnel(_ tunnel: TunnelOpening, didConnect descriptor: Int32, to address: IPAddress?) {
        tunnelDescriptor = descriptor
        tunnelAddress = address
        endCount += 1
    }
    func tunnel(_ tunnel: TunnelOpening, didFailWith error: TransportError) {
        self.error = error
        endCount += 1
    }
}

/// A transport on an event loop that the test turns itself.
final class TransportHarness {
    let loop: EventLoop
    let transport: Transport
    let budgets: UpstreamBudgets

    init(budgets: UpstreamBudgets = UpstreamBudgets(), _ change: (inout TransportConfiguration) -> Void = { _ in }) throws {
        loop = try EventLoop()
        var configuration = TransportConfiguration()
        change(&configuration)
        self.budgets = budgets
        transport = Transport(loop: loop, configuration: configuration, budgets: budgets)
    }

    deinit { transport.close() }

    /// Turns the loop until the condition holds, and returns `false` if the deadline passes first.
    @discardableResult
    func run(until condition: () -> Bool) -> Bool {
        let limit = MonotonicTime.read().advanced(milliseconds: Int(Deadline.milliseconds))
        while !condition() {
            if MonotonicTime.read() > limit { return false }
            loop.turn(waitingAtMost: 20)
        }
        return true
    }

    func open(
        _ recorder: Recorder, scheme: Origin.Scheme = .http, port: UInt16, host: String = "127.0.0.1", method: Method = .get,
        path: String = "/", fields: String = "", body: BodyFraming = .none, timeouts: UpstreamTimeouts? = nil,
        isRetryable: Bool = true
    ) -> OriginExchange {
        let head = "\(method.name) \(path) HTTP/1.1\r\nHost: \(host):\(port)\r\n\(fields)\r\n"
        return transport.open(
            UpstreamRequest(
                origin: Origin(scheme: scheme, host: host, port: port), method: method, head: Array(head.utf8), body: body,
                timeouts: timeouts, isRetryable: isRetryable), delegate: recorder)
    }

    /// Runs one exchange to its end.
    func fetch(
        _ scheme: Origin.Scheme = .http, port: UInt16, host: String = "127.0.0.1", method: Method = .get, path: String = "/"
    ) -> Recorder {
        let recorder = Recorder()
        _ = open(recorder, scheme: scheme, port: port, host: host, method: method, path: path)
        run { recorder.hasEnded }
        return recorder
    }

    func openTunnel(to host: String, port: UInt16) -> Recorder {
        let recorder = Recorder()
        _ = transport.openTunnel(to: Origin(scheme: .https, host: host, port: port), via: "1.1 one, 1.0 two", delegate: recorder)
        run { recorder.hasEnded }
        return recorder
    }
}
