import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyCore
import ResponseStore
import UpstreamTransport

/// The origin's side: the request goes out, the answer comes in and goes where the exchange said.
extension ExchangeDriver: OriginExchangeDelegate {
    func startFetch() {
        // What was joined, if anything was, could not be used.
        delivery.reader = nil
        delivery.readerStart = 0
        fetch.reset()
        fetch.moment = worker.store.moment(of: exchange.key)
        if exchange.incoming.isForSwitch { noteUnrecordedSwitch() }
        openUpstream(body: upload.framing, isForSwitch: exchange.incoming.isForSwitch) { exchange.writeForwardedHead(into: &$0) }
        if let upstream = fetch.upstream { sendGatheredRequestBody(to: upstream) }
        if !upload.isComplete { requestBodyArrived() }
    }

    func openUpstream(body: BodyFraming, isForSwitch: Bool = false, _ writeHead: (inout [UInt8]) -> Void) {
        var head: [UInt8] = []
        head.reserveCapacity(512)
        writeHead(&head)
        let scheme = originScheme
        fetch.upstream = worker.transport.open(
            UpstreamRequest(
                origin: Origin(
                    scheme: scheme, host: String(decoding: exchange.originHost, as: UTF8.self), port: exchange.originPort),
                method: exchange.request.method, head: head, body: body,
                via: worker.transport.asksForTunnel(to: scheme) ? exchange.tunnelVia : "",
                isRetryable: exchange.request.method.isIdempotent, isForSwitch: isForSwitch),
            delegate: self)
    }

    /// An https origin is asked inside TLS or not at all.
    var originScheme: Origin.Scheme {
        switch exchange.request.target.scheme {
        case .http: .http
        case .https: .https
        }
    }

    // MARK: The response
    //
    // A fetch that was let go may still be on its way to its end: only what the fetch at hand says is heard.

    func exchange(_ upstream: OriginExchange, didReceiveInformational head: borrowing ResponseHead) {
        guard upstream == fetch.upstream, !fetch.isContinuing else { return }
        recordInformational(head)
        sendInformational(head)
        connection?.flush()
    }

    /// Writes an interim response for the client, where it speaks HTTP/1.1 (RFC 9110 §15.2).
    func sendInformational(_ head: borrowing ResponseHead) {
        guard let connection else { return }
        let before = connection.output.buffer.count
        exchange.writeInformational(head, into: &connection.output.buffer)
        delivery.headCount += UInt64(connection.output.buffer.count - before)
    }

    func exchange(_ upstream: OriginExchange, didReceiveHead head: inout ResponseHead, framing: BodyFraming) {
        guard upstream == fetch.upstream else { return }
        if fetch.isContinuing { return receiveContinuation(head, framing) }
        swap(&receivedHead.head, &head)
        noteMetrics(of: upstream)
        let chain = metrics.trustMark > 0 ? upstream.recordedChain.flatMap(worker.store.shared) : nil
        handle(
            .upstreamHead(
                receivedHead, body: framing.bodyLength, trust: metrics.trustMark, chain: chain, at: worker.now))
        connection?.flushSoon()
    }

    func noteMetrics(of upstream: OriginExchange) {
        metrics = upstream.metrics
        // A later connection for the same request may be one that was used before.
        let chain = upstream.judgedChain
        if !chain.isEmpty { delivery.judgedChain = chain }
    }

    func exchange(_ upstream: OriginExchange, didReceiveBody bytes: Span<UInt8>) {
        guard upstream == fetch.upstream else { return }
        fetch.receivedCount += UInt64(bytes.count)
        defer { connection?.flushSoon() }
        switch fetch.mode {
        case .none, .checked: break
        case .direct: sendDirect(bytes)
        case .recording: record(bytes)
        case .gathering:
            gather(bytes)
            abandonUnlessWanted()
        case .pending:
            guard let pending = fetch.pending else { return }
            append(bytes, to: pending)
            pump()
            abandonUnlessWanted()
        case .checking: gatherForCheck(bytes)
        }
    }

    func exchange(_ upstream: OriginExchange, didEndWithTrailers trailers: borrowing Fields) {
        guard upstream == fetch.upstream else { return }
        fetch.upstream = nil
        if continuesShortPiece() { return }
        let trailers = HopByHop.endToEnd(copy trailers, under: exchange.response.fields)
        switch fetch.mode {
        case .none: endFetch()
        case .checked: fetch.hasEnded = true
        case .direct:
            endFetch()
            endDirect(trailers)
        case .recording:
            endRecording(trailers)
            endFetch()
            endDirect(trailers)
        case .gathering:
            storeGathered(trailers)
            endFetch()
            endDirect(trailers)
        case .pending:
            finishPending(trailers)
            endFetch()
            endPending(isComplete: true)
        case .checking:
            fetch.hasEnded = true
            check()
        }
        connection?.flushSoon()
        giveBackIfDone()
    }

    func exchange(_ upstream: OriginExchange, didFailWith error: TransportError) {
        guard upstream == fetch.upstream else { return }
        noteMetrics(of: upstream)
        fetch.upstream = nil
        let fault = tellFault(error)
        if continues(brokenBy: fault) { return }
        fetchBroke(fault)
    }

    /// The fault, of which the exchange is told what a client is to learn besides.
    func tellFault(_ error: TransportError) -> Fault {
        if case .untrusted(let failure) = error { tell(.serverRejected(TrustRefusal(failure))) }
        return FaultMapping.fault(error)
    }

    /// What was to come of the origin's message does not come.
    func fetchBroke(_ fault: Fault) {
        if recorder != nil { endRecording(failedBy: fault) }
        switch fetch.mode {
        case .none, .checking:
            fetch.mode = .none
            handle(.upstreamFailed(fault, at: worker.now))
            endFetch()
        case .checked: break
        case .direct, .gathering, .recording:
            if fetch.mode == .gathering { worker.store.noteUnstored(.bodyIncomplete) }
            endFetch()
            handle(.deliveryEnded(isComplete: false, at: worker.now))
        case .pending:
            fetch.pending?.abort()
            endFetch()
            endPending(isComplete: false)
        }
        connection?.flushSoon()
        giveBackIfDone()
    }

    /// Its readers take the rest from the store, or see that it broke off; where it has none, nothing is left to do.
    private func endPending(isComplete: Bool) {
        guard exchange.isBackground else { return pump() }
        handle(.deliveryEnded(isComplete: isComplete, at: worker.now))
    }

    /// Until the store has it under its key, whoever asks for it finds the pending response.
    private func finishPending(_ trailers: Fields) {
        guard let pending = fetch.pending else { return }
        if pending.finish(trailers: trailers) {
            tell(.bodyStored)
            removeOutdated()
        }
        // What is not kept is for those who read it already.
        guard !pending.isTooLongToKeep, let entry = fetch.entry else { return }
        fetch.entry = nil
        let fetches = worker.fetches
        pending.whenStored(worker.loop.reply { (_: PendingOutcome) in fetches.remove(entry) })
    }

    /// The origin's part is over. Whoever still waits for it asks for itself.
    func endFetch() {
        if recorder != nil { dropRecording() }
        releaseJoined(.notShareable)
        fetch.reset()
    }

    // MARK: Where the content goes

    /// The exchange has decided: the head goes to the client, the content to it and perhaps into the store.
    func relay(store: Bool) {
        if store { beginStoring() } else { fetch.mode = .direct }
        if exchange.isBackground { return relayToNobody() }
        if fetch.mode == .pending { cutPart() }
        sendRelayedHead()
        delivery.source = fetch.mode == .pending ? .pending : .origin
        boundSending()
        divertIfLarge()
        if exchange.delivery.length == .none || exchange.delivery.length == .known(0) {
            if exchange.request.method == .head || fetch.mode == .direct { delivery.source = .none }
        }
    }

    func sendRelayedHead() {
        guard let connection else { return }
        noteUnreadBody()
        let before = connection.output.buffer.count
        exchange.writeRelayedHead(at: worker.now, into: &connection.output.buffer)
        delivery.headCount += UInt64(connection.output.buffer.count - before)
        delivery.isChunked = exchange.delivery.isChunked
    }

    private func beginStoring() {
        if exchange.ranges.part != nil {
            if !beginStoringPart() { fetch.mode = .direct }
            return
        }
        if fetch.entry == nil { worker.fetches.noteShareable(exchange.key) }
        if case .known(let length) = exchange.upstream.body,
            length > UInt64(worker.settings.proxyLimits.gatheredBodyLength) || exchange.partToCut != nil
        {
            if !beginPending(length: length) { fetch.mode = .direct }
        } else if !worker.store.admitNew() {
            // Said now, since Cache-Status goes with the head.
            tell(.storageRefused(.storeBusy))
            releaseJoined(.notShareable)
            fetch.mode = .direct
        } else {
            fetch.mode = .gathering
            if case .known(let length) = exchange.upstream.body { fetch.gathered.reserveCapacity(Int(length)) }
        }
    }

    /// - Returns: `false` where the store takes no further body now, or is not to have this one.
    private func beginPending(length: UInt64?) -> Bool {
        if isOutdated {
            noteInvalidated()
            // A large body is shared by way of the store alone: those who wait ask anew, together.
            releaseJoined(.abandoned)
            return false
        }
        guard let stored = exchange.makeStoredResponse(body: .bytes([])) else { return false }
        if let length, length > worker.store.greatestBodyLength(of: stored) {
            noteBodyTooLarge()
            releaseJoined(.notShareable)
            return false
        }
        let plan = PendingPlan(
            response: stored, length: length, keptLength: exchange.keptBodyLength,
            isInPlaceOfPart: exchange.partToCut != nil, since: fetch.moment)
        guard let pending = worker.store.beginPending(plan) else {
            tell(.storageRefused(.storeBusy))
            releaseJoined(.notShareable)
            return false
        }
        fetch.mode = .pending
        fetch.pending = pending
        // Each reader is one for whom the fetch goes on: a client that has left is none.
        if connection != nil { delivery.reader = pending.attach() }
        fetch.entry?.publish(.pending(stored, pending))
        return true
    }

    private func append(_ bytes: Span<UInt8>, to pending: PendingResponse) {
        let flow = pending.append(bytes)
        // The pending response itself is counted where it ends.
        if pending.isTooLongToKeep, !exchange.isStorageRefused { refuseTooLarge() }
        guard flow == .pause else { return }
        pauseUpstream()
        let number = fetch.number
        let reply = worker.loop.reply { [self] (_: FlowControl) in
            guard fetch.number == number else { return }
            resumeUpstream()
        }
        pending.whenReady(reply)
    }

    func sendDirect(_ bytes: Span<UInt8>) {
        guard let connection, exchange.request.method != .head else { return }
        appendContent(bytes, to: connection)
        if connection.output.pendingCount >= worker.settings.proxyLimits.relayWindow {
            connection.flush()
            pauseIfBehind()
        }
    }

    private func gather(_ bytes: Span<UInt8>) {
        fetch.gathered.append(bytes)
        if fetch.gathered.count > worker.settings.proxyLimits.gatheredBodyLength { turnIntoPending() } else { sendDirect(bytes) }
    }

    /// The body has turned out larger than what is gathered: from here on it goes through the store.
    private func turnIntoPending() {
        let sent = delivery.sentCount
        guard mayKeep(fetch.gathered), beginPending(length: nil), let pending = fetch.pending else {
            fetch.mode = .direct
            // The others have been told to ask for themselves: there is nobody to whom the rest could go.
            if connection == nil { return abandonFetch() }
            let rest = Array(fetch.gathered[Int(sent)...])
            fetch.gathered = []
            return sendDirect(rest.span)
        }
        append(fetch.gathered.span, to: pending)
        fetch.gathered = []
        if connection == nil { return }
        delivery.source = .pending
        delivery.offset = sent
        pump()
    }

    /// Where nobody had said the length, the body itself tells whether it is short enough.
    private func mayKeep(_ body: borrowing [UInt8]) -> Bool {
        guard let limit = exchange.keptBodyLength, UInt64(body.count) > limit else { return true }
        noteBodyTooLarge()
        releaseJoined(.notShareable)
        return false
    }

    private func endDirect(_ trailers: borrowing Fields) {
        if let connection, delivery.isChunked {
            ChunkWriter.writeLastChunk(trailers: copy trailers, into: &connection.output.buffer)
        }
        handle(.deliveryEnded(isComplete: true, at: worker.now))
    }

    private func storeGathered(_ trailers: borrowing Fields) {
        guard mayKeep(fetch.gathered),
            let stored = exchange.makeStoredResponse(body: .bytes(fetch.gathered), trailers: copy trailers)
        else { return }
        fetch.gathered = []
        keep(stored, isPromised: true)
    }

    /// Stores a response that is complete, unless its key was invalidated meanwhile: it is then for those who have joined alone.
    /// - Parameter isPromised: The head has said that it is stored.
    func keep(_ stored: StoredResponse, isPromised: Bool) {
        // Asked first because of what a purge makes stale: it is kept from those who come, not from those who have joined.
        if isOutdated {
            noteInvalidated()
            return releaseJoined(.complete(stored))
        }
        switch worker.store.put(stored, isPromised: isPromised, since: fetch.moment) {
        case .accepted(let kept):
            if exchange.transform.source != nil { shelve(for: kept) }
            releaseJoined(.complete(kept))
        case .busy: tell(.storageRefused(.storeBusy))
        case .invalidated:
            tell(.storageRefused(.invalidated))
            releaseJoined(.complete(stored))
        }
    }

    /// The key was invalidated or purged after the request had gone out: the response may tell what was before (RFC 9111 §4.4).
    var isOutdated: Bool { worker.store.isInvalidated(exchange.key, since: fetch.moment) }

    private func noteInvalidated() {
        tell(.storageRefused(.invalidated))
        worker.store.noteUnstored(.invalidated)
    }

    /// What comes is too long for the store, and what it has of an older response does not hold any more.
    func noteBodyTooLarge() {
        worker.store.noteUnstored(.bodyTooLong)
        refuseTooLarge()
    }

    private func refuseTooLarge() {
        tell(.storageRefused(.bodyTooLarge))
        removeOutdated()
    }

    /// What no longer holds, or may not be stored any more, leaves the store.
    func removeOutdated() {
        for removed in exchange.changes.removed { worker.store.remove(removed) }
    }

    // MARK: Back-pressure

    func pauseUpstream() {
        guard let upstream = fetch.upstream, !fetch.isUpstreamPaused else { return }
        fetch.isUpstreamPaused = true
        upstream.pauseReading()
    }

    func resumeUpstream() {
        guard let upstream = fetch.upstream, fetch.isUpstreamPaused, !fetch.isRecordingBehind else { return }
        fetch.isUpstreamPaused = false
        upstream.resumeReading()
    }

    private func pauseIfBehind() {
        guard fetch.mode == .direct || fetch.mode == .gathering || fetch.mode == .recording, let connection else { return }
        if connection.output.pendingCount >= worker.settings.proxyLimits.relayWindow { pauseUpstream() }
    }

    // MARK: Ends

    /// The fetch is let go. One without content comes to its end by itself, and its connection is used again.
    func discardUpstreamBody() {
        if exchange.upstream.body != .none { fetch.upstream?.cancel() }
        fetch.reset()
    }

    /// The client has left. Others may be waiting for the same response, or reading it; then the fetch goes on for them.
    func cancelUpstream() {
        let ownReaders = delivery.reader == nil ? 0 : 1
        switch fetch.mode {
        case .gathering where isWanted(readersBesides: 0), .pending where isWanted(readersBesides: ownReaders):
            worker.keepRunning(self)
        case .recording where isToBeRecordedWhole:
            worker.keepRunning(self)
            // It may have waited for who has left.
            resumeUpstream()
        case .none, .direct, .gathering, .pending, .checking, .checked, .recording: abandonFetch()
        }
    }

    func isWanted(readersBesides count: Int) -> Bool {
        if fetch.entry?.isAwaited == true || fetch.isWorthFinishing { return true }
        if exchange.isBackground, exchange.state != .finished { return true }
        if fetch.isForStore, fetch.pending?.isToBeKept == true { return true }
        return fetch.pending.map { $0.readerCount > count } ?? false
    }

    /// Its own client has left, and perhaps the last of the others by now.
    private func abandonUnlessWanted() {
        if connection == nil, fetch.isActive, !isWanted(readersBesides: 0) { abandonFetch() }
    }

    func abandonFetch() {
        if recorder != nil { dropRecording() }
        if fetch.mode == .gathering { worker.store.noteUnstored(.bodyIncomplete) }
        fetch.upstream?.cancel()
        fetch.pending?.abort()
        releaseJoined(.abandoned)
        fetch.reset()
        if exchange.isBackground { handle(.deliveryEnded(isComplete: false, at: worker.now)) }
        giveBackIfDone()
    }
}
