import AccessLog
import EventLoop
import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyCore
import Recordings
import ResponseStore
import UpstreamTransport

/// Carries out what an exchange decides: asks the store, the origin and the client's connection, and tells the exchange what
/// came of it. It decides nothing by itself.
///
/// The work is done by its parts, each with its own state. A part gets the driver as an argument, and calls back by `handle`, `tell`
/// and the other parts. Confined to its loop and used for one exchange after the other. When the client leaves while others wait for
/// the same response, the driver goes on without a connection until the response is complete.
final class ExchangeDriver {
    // Constants that hold what they name are used without being counted: so what every request needs of the worker stands here
    // too. The worker lets go of its drivers at its end.
    let worker: LoopWorker
    let loop: EventLoop
    let store: ResponseStore
    let accessLog: AccessLogBuffer
    let traces: TraceRing
    @exclusivity(unchecked) var exchange: Exchange
    private(set) var connection: ClientConnection?
    /// Counts the exchanges, so that an answer that comes too late is recognised.
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
    private(set) var startedAt = MonotonicTime(nanoseconds: 0)
    private(set) var peer: PeerAddress
    /// A look-up on the disk.
    var lookUp: Reply<LookUpResult>?
    private var closesConnection = false

    init(_ worker: LoopWorker) {
        self.worker = worker
        loop = worker.loop
        store = worker.store
        accessLog = worker.accessLog
        traces = worker.traces
        exchange = Exchange(context: worker.context)
        peer = PeerAddress(address: IPAddress(ipv4: 0), port: 0)
    }

    /// Wall-clock time, read once per batch.
    var now: Timestamp { Timestamp(milliseconds: loop.wallClockMilliseconds) }

    // MARK: Life

    func attach(to connection: ClientConnection) {
        self.connection = connection
        begin(for: connection.peer)
        exchange.begin(id: worker.nextRequestID(), context: worker.context)
        // Of the same settings as the context.
        if let active = worker.recordings { recording.begin(active) }
    }

    /// For a background exchange, which the peer has led to.
    func attachInBackground(as peer: PeerAddress) {
        begin(for: peer)
        upload.begin(.none, limits: worker.settings.parseLimits)
    }

    @inline(__always)
    private func begin(for peer: PeerAddress) {
        self.peer = peer
        fetch.resetMetrics()
        // Nothing that came for the exchange before, after its end, may be taken for this one's.
        if delivery.isTouched { delivery.reset() }
        isInUse = true
        epoch &+= 1
        closesConnection = false
        startedAt = loop.now
    }

    /// The request's head is complete in `exchange.request`.
    func start(_ framing: BodyFraming) {
        startedAt = loop.now
        upload.begin(framing, limits: worker.settings.parseLimits)
        if worker.identifiesClients || exchange.asksForAddress { tell(.sender(requestSender)) }
        handle(.requestHead(body: framing.bodyLength, at: now))
    }

    /// The head in `exchange.request` is whole, and of a request that is not carried out.
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

    /// The connection ends between requests: there is no exchange to speak of.
    func abandon() {
        connection = nil
        isInUse = false
        leaveRecordings()
        worker.giveBack(self)
    }

    func clientGone() {
        connection = nil
        upload.stopDraining()
        handle(.clientGone(at: now))
    }

    // MARK: The connection's side

    var isReadingRequestBody: Bool { !upload.isComplete }
    var wantsRequestBody: Bool { upload.wantsBytes(for: self) }
    func requestBodyArrived() { upload.bytesArrived(for: self) }

    /// The client has not sent the rest of the request's body in time.
    func requestBodyStalled() { upload.fail(.requestTimeout, for: self) }

    /// The client has ended its side in the middle of the request's body.
    func requestBodyCut() { upload.fail(.malformedRequest(detail: "incomplete_body"), for: self) }

    /// The connection has written everything it had.
    /// - Returns: whether there is more to write at once.
    func outputDrained() -> Bool { delivery.outputDrained(for: self) }

    // MARK: Events and commands

    /// Gives an event to the exchange and does what it asks; events that come of that are given in turn.
    func handle(_ event: consuming ExchangeEvent) {
        if isHandling { return events.append(event) }
        isHandling = true
        step(event)
        while !events.isEmpty { step(events.removeFirst()) }
        isHandling = false
        giveBackIfDone()
    }

    /// Once the exchange is over and nothing goes on for others, the next request may have this driver.
    func giveBackIfDone() {
        guard isInUse, !isHandling, connection == nil, case .finished = exchange.state, !fetch.isActive else { return }
        isInUse = false
        if recording.isActive { leaveRecordings() }
        worker.giveBack(self)
    }

    /// Nothing of the exchange is recorded or replayed any more.
    func leaveRecordings() {
        guard recording.isActive else { return }
        recording.leave()
        tell(.recordingsLeft)
        upload.forgetLongContent()
    }

    /// Gives an event that asks for nothing, also while another is being carried out: what is written next goes by it.
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
        guard let connection else { return }
        upload.noteUnread(for: self)
        delivery.sendGenerated(on: connection, write)
        handle(.deliveryEnded(isComplete: true, at: now))
    }

    /// Ends the message so that it cannot be taken for complete. Where its framing tells that, the connection ends in order, so that
    /// the answers before it on the same connection still arrive; a reset would take them with it.
    private func abortClient() {
        guard exchange.delivery.endsWithConnection, let connection else { return giveConnectionBack(keepsConnection: false) }
        self.connection = nil
        connection.abort()
    }

    // MARK: Ends

    private func finish() {
        log()
        upload.exchangeEnded()
        if exchange.isBackground { noteBackgroundEnd() }
        if let lookUp {
            loop.forget(lookUp)
            self.lookUp = nil
        }
        joining.exchangeEnded(for: self)
        let transforms = exchange.transform.source != nil
        if transforms { transforming.exchangeEnded(for: self) }
        if tunnel.isUsed { tunnel.exchangeEnded(for: self) }
        delivery.reset()
        if transforms { transforming.letGo(for: self) }
        epoch &+= 1
        let keeps = exchange.delivery.keepsConnection && !closesConnection
        if keeps, !upload.isComplete, connection != nil { return upload.beginDraining(for: self) }
        giveConnectionBack(keepsConnection: keeps)
    }

    func giveConnectionBack(keepsConnection: Bool) {
        guard let connection else { return }
        self.connection = nil
        connection.exchangeEnded(keepsConnection: keepsConnection)
    }

    /// Others have its descriptor.
    func releaseConnection() { connection = nil }
}

extension ExchangeDriver: TimerHandler {
    func deadlinePassed(_ timer: TimerID) {
        if transforming.isTimed(by: timer) { transforming.tookTooLong(for: self) } else { joining.tookTooLong(for: self) }
    }
}
