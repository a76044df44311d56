import HTTPCaching
import HTTPMessage
import HTTPWire

@testable import ProxyCore

/// A client's connection with one exchange after another. It executes commands as the driver does, and checks everything that the client
/// receives.
final class SimulatedConnection {
    enum Mode { case idle, waiting, relaying, storing, checking, checked }

    let world: SimulatedWorld
    var exchange: Exchange
    private(set) var number = 0
    private var requestsLeft: Int
    private(set) var isOver = false
    private var isConnected = true
    private var client = SimulatedClient()
    private var isLeaving = false
    private var hasSentHead = false
    private var finishCount = 0
    /// Counts exchanges and fetches, to recognize events that arrive too late, as the driver does.
    private var epoch = 0
    private var upstreamNumber = 0
    private var answer: OriginAnswer?
    private var mode = Mode.idle
    private var entry: SimulatedFetch?
    private var pending: SimulatedPending?
    private var source: SimulatedPending?
    private var gathered: [UInt8] = []
    private var pendingEvents: [ExchangeEvent] = []
    private var isHandling = false
    /// The events so far, if only one seed is run.
    private var steps: [String] = []

    init(_ world: SimulatedWorld, requests: Int) {
        self.world = world
        requestsLeft = requests
        exchange = Exchange(context: world.context)
    }

    // MARK: Requests

    func start() {
        requestsLeft -= 1
        number = world.nextNumber()
        epoch += 1
        exchange.begin(id: UInt64(number), context: world.context)
        hasSentHead = false
        finishCount = 0
        answer = nil
        mode = .idle
        gathered = []
        pending = nil
        source = nil
        client = SimulatedClient(using: &world.random)
        steps = []
        do {
            try Messages.read(client.text, into: &exchange.request)
            let framing = try BodyFraming.ofRequest(exchange.request)
            handle(.requestHead(body: framing.bodyLength, at: world.now))
        } catch { world.problem("\(client.text): \(error)") }
    }

    /// Validates the response served by another exchange, in the background.
    func start(validating served: borrowing Exchange, as client: SimulatedClient) {
        requestsLeft = 0
        number = world.nextNumber()
        epoch += 1
        self.client = client
        exchange.begin(id: UInt64(number), validating: served)
        let fetch = SimulatedFetch(key: exchange.key)
        world.fetches[exchange.key] = fetch
        entry = fetch
        handle(.validates(at: world.now))
    }

    /// The client leaves at any moment.
    func leave() {
        guard isConnected, exchange.state != .idle, exchange.state != .finished else { return }
        isConnected = false
        isLeaving = true
        handle(.clientGone(at: world.now))
        isLeaving = false
        if finishCount == 0 { problem("the client has left, and the exchange goes on") }
    }

    private func problem(_ text: String) {
        let steps = steps.isEmpty ? "" : "\n" + steps.joined(separator: "\n")
        world.problem("exchange \(number) (\(client.line) \(client.fields), \(exchange.state)): \(text)\(steps)")
    }

    // MARK: Events and commands

    func handle(_ event: ExchangeEvent) {
        if isHandling { return pendingEvents.append(event) }
        isHandling = true
        pendingEvents.append(event)
        while !pendingEvents.isEmpty, world.problems.isEmpty {
            let event = pendingEvents.removeFirst()
            let wasFinished = exchange.state == .finished
            var commands = CommandBuffer()
            exchange.handle(event, into: &commands)
            if world.isTracing { steps.append("  \(event)\n    \((0..<commands.count).map { commands[$0] })") }
            if wasFinished, commands.count > 0 { problem("\(commands[0]) after the end") }
            for index in 0..<commands.count { execute(commands[index]) }
        }
        pendingEvents = []
        isHandling = false
        if finishCount > 0, mode == .idle { goOn() }
    }

    private func later(_ event: @escaping (SimulatedConnection) -> Void) {
        let epoch = epoch
        world.later { [self] in if self.epoch == epoch { event(self) } }
    }

    /// For a response that has arrived, if its fetch was not canceled.
    private func laterUpstream(_ event: @escaping (SimulatedConnection) -> Void) {
        let number = upstreamNumber
        world.later { [self] in if upstreamNumber == number { event(self) } }
    }

    private func execute(_ command: ExchangeCommand) {
        if finishCount > 0 { problem("\(command) behind finish") }
        switch command {
        case .lookUp(let onDisk): lookUp(onDisk: onDisk)
        case .gatherRequestBody:
            expect(mode == .idle && !hasSentHead, command)
            later { one in
                let content = [UInt8(one.world.random.below(2))]
                let now = one.world.now
                one.handle(
                    one.world.random.chance(80)
                        ? .requestBodyEnded(content: content, at: now) : .requestBodyTooLong(at: now))
            }
        case .joinFetch: joinFetch()
        case .validateInBackground:
            if world.fetches[exchange.key] == nil { world.add().start(validating: exchange, as: client) }
        case .fetch: fetch()
        case .sendStored: sendStored()
        // No responses are stored in part here.
        case .complete, .joinBody, .fillRest: problem("nothing is stored in part")
        // No client needs to authenticate.
        case .judgeCredentials: problem("nobody needs credentials")
        // No rule has a limit.
        case .askApprover: problem("nobody is to be asked")
        case .countRequest: problem("nothing is to be counted")
        // The mode is live.
        case .lookUpRecording, .findNearest, .beginRecording, .relayRecorded: problem("there are no recordings")
        // No rule requires a transform.
        case .transform: problem("nothing is to be made")
        // No response came over TLS.
        case .judgeRecordedChain: problem("no chain is recorded")
        case .relay(let store): relay(store: store)
        case .checkBody:
            expect(mode == .waiting && answer != nil, command)
            mode = .checking
        case .sendChecked(let store): sendChecked(store: store)
        case .discardUpstreamBody:
            expect(answer != nil, command)
            endFetch()
        case .freshen:
            expect(!exchange.changes.freshened.isEmpty, command)
            for one in exchange.changes.freshened {
                world.replace(one.old, by: one.new)
                if one.new === exchange.cache.selected { release(.complete(one.new)) }
            }
        case .remove:
            expect(!exchange.changes.removed.isEmpty, command)
            for removed in exchange.changes.removed { world.remove(removed) }
        case .releaseJoined: release(.notShareable)
        case .invalidate:
            expect(!exchange.changes.invalidatedKeys.isEmpty, command)
            world.invalidate(exchange.changes.invalidatedKeys)
        case .purge: later { $0.handle(.purged(count: 0, at: $0.world.now)) }
        case .sendError, .sendLocal:
            expect(mode == .idle || mode == .waiting || mode == .checking || mode == .checked, command)
            mode = .idle
            sendHead { command == .sendError ? $0.writeError(at: $1, into: &$2) : $0.writeLocal(at: $1, into: &$2) }
            later { $0.handle(.deliveryEnded(isComplete: true, at: $0.world.now)) }
        case .openTunnel:
            later { one in
                let now = one.world.now
                one.handle(
                    one.world.random.chance(80) ? .tunnelOpened(at: now) : .upstreamFailed(.connectionRefused, at: now))
            }
        case .splice: later { $0.handle(.deliveryEnded(isComplete: true, at: $0.world.now)) }
        // No request asks to switch protocols.
        case .relaySwitched: expect(false, command)
        // Parts are cut by the driver.
        case .completeUpstream: expect(false, command)
        case .cancelUpstream:
            expect(isLeaving, command)
            cancelUpstream()
        case .abortClient:
            expect(hasSentHead, command)
            client.wasAborted = true
        case .finish: finish()
        }
    }

    private func expect(_ isLegal: Bool, _ command: ExchangeCommand) {
        if !isLegal { problem("\(command) while \(mode)") }
    }

    // MARK: The store and other fetches

    private func lookUp(onDisk: Bool) {
        expect(mode == .idle && !hasSentHead, .lookUp(onDisk: onDisk))
        let key = exchange.key
        later { one in
            let all = one.world.stored[key] ?? []
            let knowsAll = onDisk || one.world.random.chance(60)
            let responses = knowsAll ? all : Array(all.prefix(one.world.random.below(all.count + 1)))
            one.handle(.lookedUp(responses, isComplete: knowsAll, at: one.world.now))
        }
    }

    private func joinFetch() {
        expect(entry == nil && mode == .idle, .joinFetch)
        guard let found = world.fetches[exchange.key] else {
            let new = SimulatedFetch(key: exchange.key)
            world.fetches[exchange.key] = new
            entry = new
            return later { $0.handle(.leadsFetch(at: $0.world.now)) }
        }
        if let result = found.result { return later { $0.receive(result) } }
        found.waiters.append { [self, epoch] result in
            world.later { if self.epoch == epoch { self.receive(result) } }
        }
    }

    private func receive(_ result: SimulatedFetch.Result) {
        guard exchange.state == .joining else { return }
        switch result {
        case .complete(let response): handle(.fetchShared(response, at: world.now))
        case .pending(let response, let pending):
            source = pending
            let length: BodyLength = pending.length.map { .known($0) } ?? .unknown
            handle(.fetchShared(response, length: length, at: world.now))
            if exchange.state == .fetching { source = nil }
        case .notShareable: handle(.fetchNotShared(at: world.now))
        case .abandoned: handle(.fetchAbandoned(at: world.now))
        }
    }

    private func release(_ result: SimulatedFetch.Result) {
        guard let entry else { return }
        self.entry = nil
        world.fetches[entry.key] = nil
        publish(result, to: entry)
    }

    private func publish(_ result: SimulatedFetch.Result, to entry: SimulatedFetch) {
        entry.result = result
        let waiters = entry.waiters
        entry.waiters = []
        for waiter in waiters { waiter(result) }
    }

    // MARK: The origin

    private func fetch() {
        expect(mode == .idle && !hasSentHead, .fetch)
        mode = .waiting
        upstreamNumber += 1
        var bytes: [UInt8] = []
        exchange.writeForwardedHead(into: &bytes)
        var head = RequestHead()
        do { try Messages.read(String(decoding: bytes, as: UTF8.self), into: &head) } catch {
            return problem("forwards \(error)")
        }
        let answer = world.origin.answer(head, owner: number, at: world.now, using: &world.random)
        laterUpstream { one in
            if answer.end == .fails {
                one.endFetch()
                return one.handle(.upstreamFailed(.connectionTerminated, at: one.world.now))
            }
            one.receiveHead(answer)
        }
    }

    private func receiveHead(_ answer: OriginAnswer) {
        self.answer = answer
        answer.confirmedAt = world.now
        let number = upstreamNumber
        do {
            let received = ReceivedHead()
            try Messages.read(Messages.responseText(answer.status, answer.fields), into: &received.head)
            let framing = try BodyFraming.ofResponse(received.head, to: exchange.request.method)
            handle(.upstreamHead(received, body: framing.bodyLength, at: world.now))
        } catch { problem("\(error)") }
        // The exchange may have discarded this response, and may have sent another request.
        if number == upstreamNumber { receiveBody(of: answer, from: 0) }
    }

    private func receiveBody(of answer: OriginAnswer, from start: Int) {
        laterUpstream { one in
            let rest = answer.body.count - start
            if rest == 0 || (answer.end == .cut && one.world.random.chance(40)) { return one.endBody(of: answer) }
            let count = one.world.random.chance(50) ? rest : 1 + one.world.random.below(rest)
            one.receivePiece(answer.body[start..<start + count])
            one.receiveBody(of: answer, from: start + count)
        }
    }

    private func receivePiece(_ bytes: ArraySlice<UInt8>) {
        switch mode {
        case .relaying: client.body += bytes
        case .storing:
            pending?.append(bytes)
            gathered += bytes
            if source == nil { client.body += bytes }
        case .checking: gathered += bytes
        case .idle, .waiting, .checked: break
        }
    }

    /// The origin's response has ended, complete or truncated.
    private func endBody(of answer: OriginAnswer) {
        let isWhole = answer.end == .complete
        switch mode {
        case .relaying:
            endFetch()
            handle(.deliveryEnded(isComplete: isWhole, at: world.now))
        case .storing:
            let stored = isWhole ? exchange.makeStoredResponse(body: .bytes(gathered)) : nil
            if let stored { world.put(stored) }
            if isWhole, stored == nil { problem("a response that is to be kept cannot be made") }
            pending?.state = isWhole ? .complete : .failed
            release(stored.map { .complete($0) } ?? .notShareable)
            endFetch()
            if source == nil { handle(.deliveryEnded(isComplete: isWhole, at: world.now)) }
        case .checking:
            if !isWhole {
                endFetch()
                return handle(.upstreamFailed(.responseIncomplete, at: world.now))
            }
            mode = .checked
            let isLarge = gathered.count > 100
            let count = UInt64(gathered.count)
            later { one in
                let outcome: BodyCheckOutcome = isLarge ? .tooLarge : answer.isWellFormed ? .passed : .malformedCoding
                one.handle(.bodyChecked(outcome, length: count, at: one.world.now))
            }
        case .idle, .waiting, .checked: break
        }
        if finishCount > 0 { goOn() }
    }

    private func endFetch() {
        mode = .idle
        upstreamNumber += 1
    }

    private func cancelUpstream() {
        let isWanted = entry.map { !$0.waiters.isEmpty || $0.result != nil } ?? false
        if mode == .storing, isWanted { return }
        pending?.state = .failed
        release(.abandoned)
        endFetch()
    }

    // MARK: The client

    private func sendHead(_ write: (borrowing Exchange, Timestamp, inout [UInt8]) -> Void) {
        if hasSentHead { problem("a second head") }
        hasSentHead = true
        var bytes: [UInt8] = []
        write(exchange, world.now, &bytes)
        do {
            let head = try WrittenHead(bytes, method: exchange.request.method)
            let faults = head.faults(in: exchange)
            if !faults.isEmpty { problem("\(faults): \(String(decoding: bytes, as: UTF8.self))") }
            client.head = head
        } catch { problem("\(error): \(String(decoding: bytes, as: UTF8.self))") }
    }

    private func relay(store: Bool) {
        expect(mode == .waiting && answer != nil, .relay(store: store))
        if store { judgeStorage() }
        mode = store ? .storing : .relaying
        if exchange.isBackground { return expect(store, .relay(store: store)) }
        sendHead { $0.writeRelayedHead(at: $1, into: &$2) }
        guard store, world.random.chance(50) else { return }
        if world.random.chance(10) {
            // The store accepts nothing now.
            var none = CommandBuffer()
            exchange.handle(.storageRefused(.storeBusy), into: &none)
            mode = .relaying
            return release(.notShareable)
        }
        var length: UInt64?
        if case .known(let known) = exchange.upstream.body { length = known }
        let pending = SimulatedPending(length: length)
        self.pending = pending
        source = pending
        if let entry, let stored = exchange.makeStoredResponse(body: .bytes([])) {
            publish(.pending(stored, pending), to: entry)
        }
        readSource(from: 0)
    }

    private func readSource(from start: Int) {
        later { one in
            guard let source = one.source, one.exchange.state == .delivering else { return }
            one.client.body += source.bytes[start...]
            let end = source.bytes.count
            switch source.state {
            case .pending: source.whenMore { [weak one] in one?.readSource(from: end) }
            case .complete: one.handle(.deliveryEnded(isComplete: true, at: one.world.now))
            case .failed: one.handle(.deliveryEnded(isComplete: false, at: one.world.now))
            }
        }
    }

    private func sendChecked(store: Bool) {
        expect(mode == .checked, .sendChecked(store: store))
        if store { judgeStorage() }
        if !exchange.isBackground { sendHead { $0.writeRelayedHead(at: $1, into: &$2) } }
        if store, let stored = exchange.makeStoredResponse(body: .bytes(gathered)) {
            world.put(stored)
            release(.complete(stored))
        }
        release(.notShareable)
        let range = exchange.delivery.range.map { Int($0.lowerBound)..<Int($0.upperBound) } ?? 0..<gathered.count
        if exchange.delivery.sendsContent, !exchange.isBackground { client.body += gathered[range] }
        endFetch()
        later { $0.handle(.deliveryEnded(isComplete: true, at: $0.world.now)) }
    }

    private func sendStored() {
        expect(mode == .idle, .sendStored)
        guard let selected = exchange.cache.selected else { return problem("sendStored of nothing") }
        sendHead { $0.writeStoredHead(at: $1, into: &$2) }
        client.judgeReuse(in: exchange, of: world.origin.answers, at: world.now).map(problem)
        if exchange.delivery.sendsContent, source != nil { return readSource(from: 0) }
        guard case .bytes(let bytes) = selected.body else { return }
        let breaksOff = world.random.chance(3) && exchange.delivery.sendsContent
        if exchange.delivery.sendsContent {
            let range = exchange.delivery.range.map { Int($0.lowerBound)..<Int($0.upperBound) } ?? 0..<bytes.count
            client.body += breaksOff ? bytes[range].dropLast() : bytes[range]
        }
        later { $0.handle(.deliveryEnded(isComplete: !breaksOff, at: $0.world.now)) }
    }

    /// An independent check of what may be stored at all.
    private func judgeStorage() {
        guard let answer else { return }
        if answer.isForOwnerAlone { problem("keeps what is for one client: \(answer.fields)") }
        if !answer.isWellFormed, exchange.obligations.checksBody, !answer.body.isEmpty { problem("keeps what a check refused") }
    }

    // MARK: Ends

    private func finish() {
        finishCount += 1
        if finishCount > 1 { problem("finished twice") }
        if exchange.state != .finished { problem("finish in \(exchange.state)") }
        if isConnected, !isLeaving, !exchange.isBackground {
            client.judge(exchange, number: number, of: world.origin.answers).map(problem)
        }
        source = nil
    }

    /// Starts another request on the same connection, once nothing of the last one is in flight.
    private func goOn() {
        guard finishCount > 0, mode == .idle, !isOver else { return }
        if entry != nil { problem("finished, and still leads a fetch") }
        epoch += 1
        let mayGoOn = isConnected && exchange.delivery.keepsConnection && !client.wasAborted
        guard mayGoOn, requestsLeft > 0 else {
            isOver = true
            return
        }
        start()
    }
}
