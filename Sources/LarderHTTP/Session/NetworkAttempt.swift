import EventLoop
import HTTPMessage
import HTTPSerialization
import HTTPWire
import UpstreamTransport

/// One exchange with an origin, on the transfer's task: waits until the exchange may begin, sends the request, and waits for the
/// response.
struct NetworkAttempt {
    private let run: TransferTask
    private let request: PreparedRequest
    private var session: HTTPSession { run.session }
    private var transfer: Transfer { run.transfer }

    private var throttle: PacketThrottle? { request.options?.throttle ?? session.configuration.throttle }

    init(_ run: TransferTask, _ request: PreparedRequest) {
        self.run = run
        self.request = request
    }

    nonisolated(nonsending) func arrival() async throws(SessionError) -> TransferTask.OpenResponse {
        // The rules of caching forward an unsafe method whatever the policy is, but the caller's word counts for every method.
        if request.options?.isOffline == true { throw SessionError(.offline) }
        if request.cachePolicy == .storedOnly { throw SessionError(.notStored) }
        let began = MonotonicTime.read()
        try await session.waitForNetwork(transfer)
        try await takeTurn()
        let link = makeLink(since: began)
        let content: PreparedRequest.Content
        let head: [UInt8]
        do throws(SessionError) {
            content = try await request.content(session.files, isThrottled: throttle != nil)
            head = try writtenHead(content.framing)
        } catch {
            link.ended(.cancelled)
            throw error
        }
        var length: UInt64?
        if case .length(let known) = content.framing { length = known }
        guard transfer.attach(link, asking: request.uri, sending: length) else {
            link.ended(.cancelled)
            throw SessionError(.cancelled)
        }
        run.ledger.noteExchange(request.uri)
        send(head, content, over: link)
        if case .whole = run.consumption { return try await wholeArrival(over: link) }
        switch await link.head() {
        case .success(let head):
            return TransferTask.OpenResponse(head, to: request, link, limits: session.configuration.limits)
        case .failure(let failure):
            transfer.detach()
            throw SessionError(link: failure)
        }
    }

    private func writtenHead(_ framing: BodyFraming) throws(SessionError) -> [UInt8] {
        var head = try request.head(framing)
        guard let opening = run.opening else { return head }
        // The lines stand before the empty line at the end.
        head.removeLast(2)
        head += opening.lines()
        head.append("\r\n")
        return head
    }

    private func makeLink(since began: MonotonicTime) -> ResponseChannel {
        ResponseChannel(
            session.loops, place: session.loops.place(of: request.uri.origin), transfer: transfer, consumption: run.consumption,
            recordsChain: session.configuration.cache != nil, opening: run.opening,
            closing: ExchangeCompletion(turns: session.turns, ledger: run.ledger, uri: request.uri, began: began))
    }

    private func send(_ head: [UInt8], _ content: PreparedRequest.Content, over link: ResponseChannel) {
        if let network = session.configuration.network {
            return SubstituteExchange.begin(on: network, request, content, over: link)
        }
        var upstream = UpstreamRequest(
            origin: request.uri.origin, method: request.method.known, head: head, body: content.framing,
            timeouts: request.upstreamTimeouts)
        upstream.takesProxyChallenges = true
        upstream.acceptsTrailers = true
        upstream.isForSwitch = run.opening != nil
        upstream.tunnelsForSwitch = run.opening != nil
        link.begin(upstream, content: content.octets)
        transfer.passSuspension(to: link)
        guard let source = content.source else { return }
        let feeding = Task { [throttle] in await source.send(over: link, throttle) }
        link.whenEnded { _ in feeding.cancel() }
    }

    nonisolated(nonsending) private func wholeArrival(over link: ResponseChannel) async throws(SessionError)
        -> TransferTask.OpenResponse
    {
        let end = await link.end()
        transfer.detach()
        guard let head = link.receivedHead else { throw SessionError(link: end.failure ?? .cancelled) }
        let arrived = TransferTask.OpenResponse(
            head, to: request, link, end: end, octets: link.takeOctets(), limits: session.configuration.limits)
        guard let failure = end.failure else { return arrived }
        var error = SessionError(link: failure).about(arrived.response)
        error.partialBody = arrived.octets
        throw error
    }

    // MARK: Turns

    /// Waits until the exchange may begin.
    nonisolated(nonsending) private func takeTurn() async throws(SessionError) {
        while true {
            guard await transfer.waitWhileSuspended() else { throw SessionError(.cancelled) }
            try await waitForTurn()
            if !transfer.isSuspended { return }
            session.turns.end(request.uri.origin)
        }
    }

    nonisolated(nonsending) private func waitForTurn() async throws(SessionError) {
        let origin = request.uri.origin
        switch session.turns.enter(origin, request.priority) {
        case .turn: break
        case .full: throw SessionError(.queueFull)
        case .waiting(let wakeup, let number):
            let limit = request.timeouts.queue.inMilliseconds
            let callOff = limit > 0 ? session.loops.after(milliseconds: limit) { wakeup.send(.timedOut) } : nil
            let outcome = await transfer.awaiting(wakeup, ifCancelled: .cancelled)
            callOff?()
            if outcome == .turn { return }
            session.turns.leave(number, origin)
            throw outcome == .timedOut ? SessionError(transport: .timedOut(.queue)) : SessionError(.cancelled)
        }
    }
}
