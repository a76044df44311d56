import AccessLog
import EventLoop
import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyCore
import Recordings
import ResponseStore
import UpstreamTransport

/// Carries out what an exchange decides: it calls the store, the origin and the client's connection, and reports the results to the
/// exchange. It makes no decisions.
///
/// Its parts do the work, each with its own state. Each part gets the driver as an argument, and calls the driver's `handle` and `tell`,
/// and the other parts. Confined to its loop and reused for one exchange after another. If the client leaves while other requests wait for
/// the same response, the driver continues without a connection until the response is complete.
final class ExchangeDriver {
    // Strong `let`s avoid retain and release on every use. The driver therefore has its own references to those parts of the
    // worker that every request needs. The worker releases its drivers at its end.
    let worker: LoopWorker
    let loop: EventLoop
    let store: ResponseStore
    let accessLog: AccessLogBuffer
    let traces: TraceRing
    @exclusivity(unchecked) var exchange: Exchange
    private(set) var client: ExchangeClient?
    /// The client's connection, for requests that turn it into a tunnel; `nil` for a stream of an HTTP/2 connection, because such requests
    /// always come over HTTP/1.
    var connection: ClientConnection? { client as? ClientConnection }
    /// Counts the exchanges, to recognize replies that arrive too late.
    private(set) var epoch: UInt64 = 0
    @exclusivity(unchecked) private var events = EventQueue()
    private var isHandling = false
    private var isInUse = false

    let upload = RequestUpload()
    let joining = FetchJoining()
    let fetch = OriginFetch()
    let storing = ResponseStoring()
    let checking = BodyChecking()
    let transforming = Transforming()
    let delivery = BodyDelivery()
    let recording = ExchangeRecording()
    let tunnel = ClientTunnel()
    let limiting = RuleLimiting()
    let approving = Approving()
    @exclusivity(unchecked) var logged = LoggedFacts()
    private(set) var startedAt = MonotonicTime(nanoseconds: 0)
    private(set) var peer: PeerAddress
    /// A pending look-up on disk.
    var lookUp: Reply<LookUpResult>?
    private var closesConnection = false
    /// Whether the client connected to an origin's address, without knowing of the proxy.
    private(set) var isTransparent = false

    init(_ worker: LoopWorker) {
        self.worker = worker
        loop = worker.loop
        store = worker.store
        accessLog = worker.accessLog
        traces = worker.traces
        exchange = Exchange(context: worker.context)
        peer = PeerAddress(address: IPAddress(ipv4: 0), port: 0)
    }

    /// Wall-clock time, read once in each batch.
    var now: Timestamp { Timestamp(milliseconds: loop.wallClockMilliseconds) }

    // MARK: Lifecycle

    func attach(to client: ExchangeClient) {
        self.client = client
        isTransparent = client.isTransparent
        begin(for: client.peer)
        exchange.begin(id: worker.nextRequestID(), context: worker.context)
        // `worker.recordings` belongs to the same settings as `worker.context`.
        if let active = worker.recordings { recording.begin(active) }
    }

    /// Begins a background exchange that was caused by a request of the client with this address.
    func attachInBackground(as peer: PeerAddress) {
        isTransparent = false
        begin(for: peer)
        upload.begin(.none, limits: worker.settings.parseLimits)
    }

    @inline(__always)
    private func begin(for peer: PeerAddress) {
        self.peer = peer
        fetch.resetMetrics()
        // Clears facts that were noted after the end of the previous exchange.
        if delivery.isTouched { delivery.reset() }
        if logged.isTouched { logged.reset() }
        if limiting.isUsed { limiting.reset() }
        isInUse = true
        epoch &+= 1
        closesConnection = false
        startedAt = loop.now
    }

    /// Called when the request's head is complete in `exchange.request`.
    func start(_ framing: BodyFraming) {
        startedAt = loop.now
        upload.begin(framing, limits: worker.settings.parseLimits)
        if worker.identifiesClients || exchange.asksForClient { tell(.sender(requestSender)) }
        handle(.requestHead(body: framing.bodyLength, at: now))
    }

    /// Called when the head in `exchange.request` is complete, but the request must be refused.
    func refuse(_ fault: Fault, _ framing: BodyFraming) {
        startedAt = loop.now
        upload.begin(framing, limits: worker.settings.parseLimits)
        handle(.requestRefused(fault, at: now))
    }

    func reject(_ fault: Fault) {
        upload.begin(.none, limits: worker.settings.parseLimits)
        closesConnection = true
        handle(.requestRejected(fault, at: now))
    }

    /// Called when the connection ends between requests, so that there is no exchange to log.
    func abandon() {
        client = nil
        isInUse = false
        leaveRecordings()
        worker.giveBack(self)
    }

    func clientGone() {
        client = nil
        upload.stopDraining()
        handle(.clientGone(at: now))
    }

    // MARK: Calls from the client's connection

    var isReadingRequestBody: Bool { !upload.isComplete }
    var wantsRequestBody: Bool { upload.wantsBytes(for: self) }
    func requestBodyArrived() { upload.bytesArrived(for: self) }

    /// Called when the client has not sent the rest of the request's body in time.
    func requestBodyStalled() { upload.fail(.requestTimeout, for: self) }

    /// Called when the client has closed its sending side within the request's body.
    func requestBodyCut() { upload.fail(.malformedRequest(detail: "incomplete_body"), for: self) }

    /// Called when the connection has written all its output.
    /// - Returns: whether there is more to write at once.
    func outputDrained() -> Bool { delivery.outputDrained(for: self) }

    // MARK: Events and commands

    /// Handles an event and executes the resulting commands; events that these commands cause are handled afterwards.
    func handle(_ event: consuming ExchangeEvent) {
        if isHandling { return events.append(event) }
        isHandling = true
        step(event)
        while !events.isEmpty { step(events.removeFirst()) }
        isHandling = false
        giveBackIfDone()
    }

    /// Returns the driver to the pool once the exchange has ended and no other request needs its fetch.
    func giveBackIfDone() {
        guard isInUse, !isHandling, client == nil, case .finished = exchange.state, !fetch.isActive else { return }
        isInUse = false
        if recording.isActive { leaveRecordings() }
        worker.giveBack(self)
    }

    /// Called when the exchange no longer records or replays.
    func leaveRecordings() {
        guard recording.isActive else { return }
        recording.leave()
        tell(.recordingsLeft)
        upload.forgetLongContent()
    }

    /// Handles an event that causes no commands. May be called while another event is handled, because the next write depends on the
    /// result.
    func tell(_ event: borrowing ExchangeEvent) {
        var commands = CommandBuffer()
        exchange.handle(event, into: &commands)
    }

    private func step(_ event: borrowing ExchangeEvent) {
        var commands = CommandBuffer()
        exchange.handle(event, into: &commands)
        var index = 0
        while index < commands.count {
            execute(commands[index])
            index += 1
        }
    }

    private func execute(_ command: ExchangeCommand) {
        switch command {
        case .lookUp(let onDisk): onDisk ? lookUpOnDisk() : lookUpInMemory()
        case .judgeCredentials: judgeCredentials()
        case .countRequest: limiting.count(for: self)
        case .askApprover: approving.ask(for: self)
        case .gatherRequestBody: upload.gather(for: self)
        case .lookUpRecording: recording.lookUp(for: self)
        case .findNearest: recording.findNearest(for: self)
        case .beginRecording: recording.beginRecording(for: self)
        case .relayRecorded: recording.relay(for: self)
        case .joinFetch: joining.join(for: self)
        case .joinBody: joining.joinBody(for: self)
        case .fetch: fetch.start(for: self)
        case .validateInBackground: worker.validateInBackground(self)
        case .fillRest: fillRest()
        case .sendStored: delivery.sendStored(for: self)
        case .complete: storing.complete(for: self)
        case .relay(let store): fetch.relay(store: store, for: self)
        case .checkBody: checking.begin(for: self)
        case .transform: transforming.begin(for: self)
        case .judgeRecordedChain: judgeRecordedChain()
        case .sendChecked(let store): checking.send(store: store, for: self)
        case .discardUpstreamBody: fetch.discard(for: self)
        case .freshen: storing.freshen(for: self)
        case .remove: storing.removeOutdated(for: self)
        case .releaseJoined: storing.releaseJoined(.notShareable, isUnshareable: exchange.isStorageRefused, for: self)
        case .invalidate: invalidate()
        case .purge: purge()
        case .sendError: sendGenerated { exchange.writeError(at: now, into: &$0) }
        case .sendLocal: sendGenerated { exchange.writeLocal(at: now, into: &$0) }
        case .openTunnel: tunnel.open(for: self)
        case .splice: tunnel.splice(for: self)
        case .relaySwitched: tunnel.relaySwitched(for: self)
        case .completeUpstream: fetch.completeForStore(for: self)
        case .cancelUpstream: fetch.cancel(for: self)
        case .abortClient: abortClient()
        case .finish: finish()
        }
    }

    // MARK: Generated responses

    private func sendGenerated(_ write: (inout [UInt8]) -> Void) {
        guard let client else { return }
        upload.noteUnread(for: self)
        if isTransparent, client.tunnel == nil {
            // The client expects TLS, and could not read a response to the CONNECT.
            closesConnection = true
            delivery.sendGenerated(on: client) { $0 += transparentAlert.record }
        } else {
            delivery.sendGenerated(on: client, write)
        }
        handle(.deliveryEnded(isComplete: true, at: now))
    }

    /// Ends an incomplete message. If its framing shows that it is incomplete, the connection is closed cleanly, so that earlier responses
    /// on it still arrive; a reset would discard them.
    private func abortClient() {
        guard exchange.delivery.endsWithConnection, let client else { return giveConnectionBack(keepsConnection: false) }
        self.client = nil
        client.abort()
    }

    // MARK: End of the exchange

    private func finish() {
        log()
        upload.exchangeEnded()
        if exchange.isBackground { noteBackgroundEnd() }
        if let lookUp {
            loop.forget(lookUp)
            self.lookUp = nil
        }
        joining.exchangeEnded(for: self)
        if exchange.obligations.asks { approving.exchangeEnded(for: self) }
        let transforms = exchange.transform.source != nil
        if transforms { transforming.exchangeEnded(for: self) }
        if tunnel.isUsed { tunnel.exchangeEnded(for: self) }
        delivery.reset()
        logged.reset()
        if transforms { transforming.letGo(for: self) }
        epoch &+= 1
        let keeps = exchange.delivery.keepsConnection && !closesConnection
        if keeps, !upload.isComplete, let client, client.drainsContent { return upload.beginDraining(for: self) }
        giveConnectionBack(keepsConnection: keeps)
    }

    func giveConnectionBack(keepsConnection: Bool) {
        guard let client else { return }
        self.client = nil
        client.exchangeEnded(keepsConnection: keepsConnection)
    }

    /// Leaves the client's connection, because another object now owns the descriptor.
    func releaseConnection() { client = nil }
}

extension ExchangeDriver: TimerHandler {
    func deadlinePassed(_ timer: TimerID) {
        if approving.isTimed(by: timer) {
            approving.tookTooLong(for: self)
        } else if transforming.isTimed(by: timer) {
            transforming.tookTooLong(for: self)
        } else {
            joining.tookTooLong(for: self)
        }
    }
}
