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
/// Confined to its loop and used for one exchange after the other. When the client leaves while others wait for the same
/// response, the driver goes on without a connection until the response is complete.
final class ExchangeDriver: TunnelDelegate {
    // Constants that hold what they name are used without being counted: so what every request needs of the worker stands here
    // too. The worker lets go of its drivers at its end.
    let worker: LoopWorker
    let loop: EventLoop
    let store: ResponseStore
    let accessLog: AccessLogBuffer
    let traces: TraceRing
    @exclusivity(unchecked) var exchange: Exchange
    /// The origin's latest head, on its way into the exchange.
    let receivedHead = ReceivedHead()
    private(set) var connection: ClientConnection?
    /// Counts the exchanges, so that an answer that comes too late is recognised.
    private(set) var epoch: UInt64 = 0
    @exclusivity(unchecked) private var events = EventQueue()
    @exclusivity(unchecked) private var isHandling = false
    @exclusivity(unchecked) private var isInUse = false

    @exclusivity(unchecked) var upload: RequestUpload
    @exclusivity(unchecked) var fetch: Fetch
    @exclusivity(unchecked) var delivery = BodyDelivery()
    @exclusivity(unchecked) var transforming = Transforming()
    private(set) var startedAt = MonotonicTime(nanoseconds: 0)
    private(set) var peer: PeerAddress
    var metrics = ExchangeMetrics()
    /// What recordings have to do with the exchange; `nil` where nothing has.
    @exclusivity(unchecked) private(set) var recordings: ActiveRecordings?
    /// Where the exchange is recorded.
    var recorder: ExchangeRecorder?
    /// The same, where the log's line waits for what it comes to.
    var loggedRecorder: ExchangeRecorder?
    /// The request's content where it is too long to be held, for recordings.
    var longContent: LongRequestContent?
    /// What the request's content takes of the memory for all that are gathered.
    @exclusivity(unchecked) var gatheredShare: GatheredMemory.Share?
    private var lookUp: Reply<LookUpResult>?
    private var joined: (entry: FetchEntry, number: Int, reply: Reply<SharedFetch>)?
    /// Runs while a wait for another's fetch is bounded.
    var waitTimer: TimerID?
    private var opening: TunnelOpening?
    private var closesConnection = false
    /// The exchange is over, and the rest of the request's body is thrown away up to `drainEnd`.
    var isDraining = false
    var drainEnd: UInt64 = 0

    init(_ worker: LoopWorker) {
        self.worker = worker
        loop = worker.loop
        store = worker.store
        accessLog = worker.accessLog
        traces = worker.traces
        exchange = Exchange(context: worker.context)
        peer = PeerAddress(address: IPAddress(ipv4: 0), port: 0)
        upload = RequestUpload()
        fetch = Fetch()
    }

    /// Wall-clock time, read once per batch.
    var now: Timestamp { Timestamp(milliseconds: loop.wallClockMilliseconds) }

    // MARK: Life

    func attach(to connection: ClientConnection) {
        self.connection = connection
        begin(for: connection.peer)
        exchange.begin(id: worker.nextRequestID(), context: worker.context)
        // Of the same settings as the context.
        if let active = worker.recordings { recordings = active }
    }

    /// For a background exchange, which the peer has led to.
    func attachInBackground(as peer: PeerAddress) {
        begin(for: peer)
        upload.begin(.none, limits: worker.settings.parseLimits)
    }

    private func begin(for peer: PeerAddress) {
        self.peer = peer
        metrics = ExchangeMetrics()
        // Nothing that came for the exchange before, after its end, may be taken for this one's.
        delivery.reset()
        isInUse = true
        epoch &+= 1
        closesConnection = false
        startedAt = loop.now
    }

    /// The request's head is complete in `exchange.request`.
    func start(_ framing: BodyFraming) {
        startedAt = loop.now
        upload.begin(framing, limits: worker.settings.parseLimits)
        var tellsSender = worker.identifiesClients
        if case .other = exchange.request.method { tellsSender = true }
        if tellsSender { tell(.sender(requestSender)) }
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
        handle(.requestRejected(fault, at: worker.now))
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
        isDraining = false
        handle(.clientGone(at: worker.now))
    }

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
        leaveRecordings()
        worker.giveBack(self)
    }

    /// Nothing of the exchange is recorded or replayed any more.
    private func leaveRecordings() {
        guard recordings != nil else { return }
        recordings = nil
        tell(.recordingsLeft)
        longContent = nil
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
        case .gatherRequestBody: gatherRequestBody()
        case .lookUpRecording: lookUpRecording()
        case .findNearest: findNearest()
        case .beginRecording: beginRecording()
        case .relayRecorded: relayRecorded()
        case .joinFetch: joinFetch()
        case .joinBody: joinBody()
        case .fetch: startFetch()
        case .validateInBackground: worker.validateInBackground(self)
        case .fillRest: fillRest()
        case .sendStored: sendStored()
        case .complete: completePartial()
        case .relay(let store): relay(store: store)
        case .checkBody: beginCheck()
        case .transform: transform()
        case .judgeRecordedChain: judgeRecordedChain()
        case .sendChecked(let store): sendChecked(store: store)
        case .discardUpstreamBody: discardUpstreamBody()
        case .freshen: freshen()
        case .remove: removeOutdated()
        case .releaseJoined: releaseJoined(.notShareable, isUnshareable: exchange.isStorageRefused)
        case .invalidate: invalidate()
        case .purge: purge()
        case .sendError: sendGenerated { exchange.writeError(at: worker.now, into: &$0) }
        case .sendLocal: sendGenerated { exchange.writeLocal(at: worker.now, into: &$0) }
        case .openTunnel: openTunnel()
        case .splice: splice()
        case .relaySwitched: relaySwitched()
        case .completeUpstream: completeUpstream()
        case .cancelUpstream: cancelUpstream()
        case .abortClient: abortClient()
        case .finish: finish()
        }
    }

    // MARK: The store

    func lookUpInMemory() {
        if awaitsPart() { return }
        tellParts()
        switch store.inMemory(exchange.key.span) {
        case .found(let variants):
            handle(.lookedUp(variants.responses, isComplete: variants.isComplete, at: now))
        case .absent:
            handle(.lookedUp([], isComplete: true, at: now))
        case .unknown:
            lookUpOnDisk()
        }
    }

    private func lookUpOnDisk() {
        let epoch = epoch
        let reply = worker.loop.reply { [self] (result: LookUpResult) in
            guard self.epoch == epoch else { return }
            lookUp = nil
            tellParts()
            handle(.lookedUp(responses(result), isComplete: true, at: worker.now))
            connection?.flush()
        }
        lookUp = reply
        worker.store.lookUp(exchange.key, reply: reply)
    }

    private func responses(_ result: LookUpResult) -> [StoredResponse] {
        switch result {
        case .found(let variants): return variants.responses
        case .absent: return []
        case .unavailable:
            // What memory has is then all there is.
            let key = exchange.key
            let answer = worker.store.inMemory(key.span)
            guard case .found(let variants) = answer else { return [] }
            return variants.responses
        }
    }

    private func freshen() {
        if !isOutdated {
            for one in exchange.changes.freshened { worker.store.freshen(one.old, as: one.new, since: fetch.moment) }
        }
        guard let selected = exchange.cache.selected, exchange.changes.freshened.contains(where: { $0.new === selected }) else {
            return
        }
        releaseJoined(.complete(selected))
    }

    /// Nobody joins what is under way any more; what it brings the store refuses.
    private func invalidate() {
        worker.fetches.invalidate(exchange.changes.invalidatedKeys)
        worker.store.invalidate(exchange.changes.invalidatedKeys)
    }

    // MARK: Collapsing

    private func joinFetch() {
        let epoch = epoch
        let join = worker.fetches.join(exchange.key) {
            worker.loop.reply { [self] (shared: SharedFetch) in
                guard self.epoch == epoch else { return }
                let told = joined
                joined = nil
                endWait()
                receive(shared)
                // Only now, so that the fetch sees the reader before it misses the waiter.
                if let told { told.entry.leave(told.number) }
                connection?.flush()
            }
        }
        switch join {
        case .leads(let entry):
            fetch.entry = entry
            guard let stored = storedMeanwhile() else { return handle(.leadsFetch(at: worker.now)) }
            releaseJoined(.complete(stored))
            handle(.fetchShared(stored, at: worker.now))
        case .waits(let entry, let number, let reply):
            joined = (entry, number, reply)
            limitWait()
        case .shared(let shared): receive(shared)
        case .alone: handle(.fetchesAlone(at: worker.now))
        }
    }

    /// A fetch of the same may have ended, and its response been stored, after our look-up and before we came to lead.
    private func storedMeanwhile() -> StoredResponse? {
        guard case .forward(.uriMiss)? = exchange.trace.reuse else { return nil }
        let key = exchange.key
        let answer = worker.store.inMemory(key.span)
        guard case .found(let variants) = answer else { return nil }
        return variants.responses.first
    }

    private func receive(_ shared: SharedFetch) {
        switch shared {
        case .complete(let response):
            handle(.fetchShared(response, at: worker.now))
        case .pending(let response, let pending):
            guard let reader = pending.attach() else { return handle(.fetchNotShared(at: worker.now)) }
            delivery.reader = reader
            let length: BodyLength = pending.plan.length.map { .known($0) } ?? .unknown
            handle(.fetchShared(response, length: length, at: worker.now))
        case .notShareable:
            handle(.fetchNotShared(at: worker.now))
        case .abandoned:
            handle(.fetchAbandoned(at: worker.now))
        }
    }

    /// Ends what others have joined: they are told, and whoever comes later starts anew.
    func releaseJoined(_ result: SharedFetch, isUnshareable: Bool = false) {
        guard let entry = fetch.entry else { return }
        fetch.entry = nil
        worker.fetches.remove(entry, isUnshareable: isUnshareable)
        entry.publish(result)
    }

    /// Waits no longer for what it has joined.
    /// - Returns: whether it did wait.
    func leaveJoined() -> Bool {
        endWait()
        guard let joined else { return false }
        self.joined = nil
        worker.loop.forget(joined.reply)
        joined.entry.leave(joined.number)
        return true
    }

    // MARK: Answers of our own

    private func sendGenerated(_ write: (inout [UInt8]) -> Void) {
        guard let connection else { return }
        noteUnreadBody()
        let before = connection.output.buffer.count
        write(&connection.output.buffer)
        delivery.sentCount += UInt64(connection.output.buffer.count - before)
        handle(.deliveryEnded(isComplete: true, at: worker.now))
    }

    /// Ends the message so that it cannot be taken for complete. Where its framing tells that, the connection ends in order, so that
    /// the answers before it on the same connection still arrive; a reset would take them with it.
    private func abortClient() {
        guard exchange.delivery.endsWithConnection, let connection else { return giveConnectionBack(keepsConnection: false) }
        self.connection = nil
        connection.abort()
    }

    // MARK: Tunnels

    private func openTunnel() {
        let transport = worker.transport
        if transport.intercepts(tunnelTo: tunnelOrigin) {
            delivery.isEntered = true
            return handle(.tunnelOpened(at: worker.now))
        }
        if isTunnelClosedByRule {
            return handle(.upstreamFailed(.offlineMiss(detail: "tunnel"), at: worker.now))
        }
        let opening = transport.openTunnel(to: tunnelOrigin, via: exchange.tunnelVia, delegate: self)
        self.opening = opening
        delivery.connectOutcome = opening.outcome
        worker.openingTunnels += 1
    }

    /// A rule has closed the way for this host, whatever the gate says.
    var isTunnelClosedByRule: Bool { exchange.obligations.mode != nil && exchange.mode.isClosed }

    /// A tunnel that was entered hides its requests after all: it is open.
    func noteHidden(_ reason: UninspectedReason) {
        delivery.uninspected = reason
        // The recordings that the exchange had were given back with its CONNECT.
        if exchange.mode.records { noteUnrecordedHost(in: worker.recordings) }
    }

    private var tunnelOrigin: Origin {
        Origin(scheme: .http, host: String(decoding: exchange.originHost, as: UTF8.self), port: exchange.originPort)
    }

    func tunnel(_ opening: TunnelOpening, didConnect descriptor: Int32, to address: IPAddress?) {
        self.opening = nil
        worker.openingTunnels -= 1
        note(opening)
        delivery.tunnelDescriptor = descriptor
        delivery.tunnelOpener = opening.transport
        handle(.tunnelOpened(at: worker.now))
    }

    func tunnel(_ opening: TunnelOpening, didFailWith error: TransportError) {
        self.opening = nil
        worker.openingTunnels -= 1
        note(opening)
        handle(.upstreamFailed(tellFault(error), at: worker.now))
        connection?.flush()
    }

    private func splice() {
        if exchange.mode.records, !delivery.isEntered { noteUnrecordedHost(in: recordings) }
        // A tunnel may stand for longer than anybody waits for a recording.
        leaveRecordings()
        if delivery.isEntered { return enterTunnel() }
        guard let connection, let upstream = delivery.tunnelDescriptor, let opener = delivery.tunnelOpener else { return }
        delivery.tunnelDescriptor = nil
        delivery.tunnelOpener = nil
        connection.output.buffer.append(Tunnel.greeting)
        guard let client = connection.handOver() else { return closeDescriptor(upstream) }
        self.connection = nil
        let gate =
            worker.transport.looksIntoTunnels
            ? ClientHelloInspector(worker, to: tunnelOrigin, openedBy: opener, via: exchange.tunnelVia) : nil
        Tunnel.start(
            worker, connection: connection, client: client, upstream: SwitchedConnection(descriptor: upstream), kind: .blind,
            gate: gate, owner: self)
    }

    private func enterTunnel() {
        guard let connection else { return }
        connection.output.buffer.append(Tunnel.greeting)
        self.connection = nil
        connection.user = exchange.incoming.sender?.user ?? []
        connection.intercept(
            ConnectInterceptor(
                worker, to: tunnelOrigin, kind: exchange.request.target.hostKind, via: exchange.tunnelVia, on: connection,
                owner: self))
    }

    /// What became of the opening of a tunnel, for the log.
    func note(_ opening: TunnelOpening) {
        delivery.connectOutcome = opening.outcome
        delivery.judgedChain = opening.chain
    }

    func tunnelRefused(_ fault: Fault, _ counts: TunnelCounts) {
        note(counts)
        handle(.tunnelRefused(fault, at: worker.now))
    }

    func tunnelEnded(_ counts: TunnelCounts) {
        note(counts)
        handle(.deliveryEnded(isComplete: true, at: worker.now))
    }

    private func note(_ counts: TunnelCounts) {
        delivery.sentCount = counts.toClient
        upload.receivedCount = counts.toUpstream
    }

    /// Others have its descriptor.
    func releaseConnection() { connection = nil }

    // MARK: Ends

    private func finish() {
        record()
        if gatheredShare != nil { letGoOfGathered() }
        if exchange.isBackground { noteBackgroundEnd() }
        if let lookUp {
            loop.forget(lookUp)
            self.lookUp = nil
        }
        if joined != nil || waitTimer != nil { _ = leaveJoined() }
        if exchange.transform.source != nil {
            giveUpTransforming()
            leaveTransforming()
        }
        if let opening {
            opening.cancel()
            worker.openingTunnels -= 1
            self.opening = nil
        }
        delivery.reset()
        if exchange.transform.source != nil { letGoOfTransformed() }
        epoch &+= 1
        let keeps = exchange.delivery.keepsConnection && !closesConnection
        if keeps, !upload.isComplete, connection != nil { return beginDraining() }
        giveConnectionBack(keepsConnection: keeps)
    }

    func giveConnectionBack(keepsConnection: Bool) {
        guard let connection else { return }
        self.connection = nil
        connection.exchangeEnded(keepsConnection: keepsConnection)
    }
}
