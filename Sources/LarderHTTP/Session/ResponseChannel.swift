import EventLoop
import HTTPCaching
import HTTPMessage
import HTTPWire
import ServerTrust
import Synchronization
import UpstreamTransport

/// Connects an exchange on its loop with the task that waits for it: the head, the received bytes that the task has not consumed, and
/// the end. The loop writes, and one task reads. Either side may set the end; only the first end is kept.
final class ResponseChannel: Sendable {
    /// A class, because it is passed on often and is larger than a reference.
    final class Head: Sendable {
        let status: Status
        let fields: Fields
        let framing: BodyFraming
        let metrics: ExchangeMetrics
        /// The server's certificate chain, if the connection was opened for this exchange.
        let chain: [Certificate]
        /// The server's certificate chain in the form in which a cache stores it; also set for a reused connection. `nil` without
        /// TLS, and if the chain is not recorded.
        let recordedChain: RecordedChain?
        /// When the head arrived.
        let time: Timestamp

        init(
            status: Status, fields: Fields, framing: BodyFraming, metrics: ExchangeMetrics, chain: [Certificate] = [],
            recordedChain: RecordedChain? = nil, time: Timestamp = .now
        ) {
            self.status = status
            self.fields = fields
            self.framing = framing
            self.metrics = metrics
            self.chain = chain
            self.recordedChain = recordedChain
            self.time = time
        }
    }

    enum Failure: Error {
        case transport(TransportError)
        case cancelled
        /// The body is longer than the limit.
        case bodyTooLarge
        /// The request's own source of content failed.
        case source(any Error)
    }

    final class End: Sendable {
        let failure: Failure?
        /// The response's status; `nil` if no head arrived.
        let status: Status?
        let trailers: Fields
        let metrics: ExchangeMetrics
        /// The verdict on the server; `nil` without TLS, and if no connection was made.
        let trust: TrustVerdict?

        init(failure: Failure?, status: Status?, trailers: Fields, metrics: ExchangeMetrics, trust: TrustVerdict?) {
            self.failure = failure
            self.status = status
            self.trailers = trailers
            self.metrics = metrics
            self.trust = trust
        }
    }

    /// How the body is consumed.
    enum BodyConsumption: Sendable {
        /// The body is collected; more than `limit` bytes are an error.
        case whole(limit: Int)
        /// The body is consumed piece by piece, and reading stops while `window` bytes are unread.
        case pieces(window: Int)
        /// The body is discarded; after `limit` bytes the exchange is cancelled.
        case nothing(limit: Int)
    }

    /// A waiter is resumed by the call that takes it out of the state, so it is resumed exactly once. A checked continuation would
    /// check the same at the cost of an allocation.
    private typealias Waiter = UnsafeContinuation<Void, Never>

    /// What the loop does after receiving bytes.
    enum Reading { case goOn, hold, tooLarge, notWanted }

    private struct State {
        var head: Head?
        var octets: [UInt8] = []
        var trust: TrustVerdict?
        /// Whether the end is being recorded; from then on, no more bytes are accepted.
        var isEnding = false
        /// Set after the end is recorded everywhere, so that a reader who sees the end finds complete metrics and an unregistered
        /// transfer.
        var end: End?
        var consumption: BodyConsumption
        var isHeld = false
        var isSuspended = false
        var dropped = 0
        /// The task that waits to add more bytes, if the body does not come from a loop.
        var feeder: Waiter?
        var recording: BodyRecording?
        var headWaiter: Waiter?
        var octetsWaiter: Waiter?
        var endWaiter: Waiter?
        var whenEnded: [@Sendable (End) -> Void] = []
        var posted: MonotonicTime?

        mutating func takeFeeder() -> Waiter? {
            if !isEnding, isHeld || isSuspended { return nil }
            defer { feeder = nil }
            return feeder
        }
    }

    let transfer: Transfer
    /// Whether server certificate chains are recorded for the cache.
    let recordsChain: Bool
    /// The handshake, if the request is for a WebSocket.
    let opening: WebSocketOpening?
    let loops: SessionLoops
    let place: Int
    private let book: ExchangeCompletion?
    private let state: Guarded<State>
    /// The index of the exchange on its loop, used only there; negative before the exchange begins and after it ends.
    let loopPlace = Atomic(-1)

    init(
        _ loops: SessionLoops, place: Int, transfer: Transfer, consumption: BodyConsumption, recordsChain: Bool = false,
        opening: WebSocketOpening? = nil, closing book: ExchangeCompletion? = nil
    ) {
        self.recordsChain = recordsChain
        self.opening = opening
        self.loops = loops
        self.place = place
        self.book = book
        self.transfer = transfer
        state = Guarded(State(consumption: consumption))
    }

    // MARK: From the loop

    /// The exchange has a connection to a server with this verdict.
    func connected(by verdict: TrustVerdict) {
        state.withLock { $0.trust = verdict }
        if let failure = verdict.reported { book?.note(reported: failure) }
    }

    func received(_ head: Head) {
        let waiter = state.withLock { state in
            state.head = head
            defer { state.headWaiter = nil }
            return state.headWaiter
        }
        transfer.expectBody(of: head)
        waiter?.resume()
    }

    func received(_ bytes: Span<UInt8>) -> Reading {
        let (reading, waiter): (Reading, Waiter?) = state.withLock { state in
            if state.isEnding { return (.notWanted, nil) }
            switch state.consumption {
            case .whole(let limit):
                if state.octets.count + bytes.count > limit { return (.tooLarge, nil) }
                if state.octets.isEmpty { Self.makeRoom(for: state.head, limit: limit, in: &state.octets) }
                state.octets.append(bytes)
                return (.goOn, nil)
            case .pieces(let window):
                state.octets.append(bytes)
                state.isHeld = state.octets.count >= window
                defer { state.octetsWaiter = nil }
                return (state.isHeld ? .hold : .goOn, state.octetsWaiter)
            case .nothing(let limit):
                state.dropped += bytes.count
                return (state.dropped > limit ? .notWanted : .goOn, nil)
            }
        }
        transfer.noteReceived(bytes.count)
        waiter?.resume()
        return reading
    }

    /// Reserves the announced length, but at most 1 MiB, since the origin can announce any length.
    private static func makeRoom(for head: Head?, limit: Int, in octets: inout [UInt8]) {
        guard case .length(let length) = head?.framing else { return }
        octets.reserveCapacity(min(limit, Int(clamping: length), 1 << 20))
    }

    func noteSent(_ count: Int) { transfer.noteSent(count) }

    // MARK: Shutdown

    var hasEnded: Bool { state.withLock { $0.end != nil } }

    /// Sets the end. Only the first call has an effect.
    func ended(_ failure: Failure?, trailers: Fields = Fields(), metrics: ExchangeMetrics? = nil) {
        let ending: Ending? = state.withLock { state in
            if state.isEnding { return nil }
            state.isEnding = true
            defer { state.whenEnded = [] }
            return Ending(
                end: End(
                    failure: failure, status: state.head?.status, trailers: trailers,
                    metrics: metrics ?? state.head?.metrics ?? ExchangeMetrics(), trust: state.trust),
                posted: state.posted, whenEnded: state.whenEnded)
        }
        guard let ending else { return }
        book?.close(ending.end, posted: ending.posted)
        for body in ending.whenEnded { body(ending.end) }
        typealias Waiters = (head: Waiter?, octets: Waiter?, end: Waiter?, feeder: Waiter?)
        let (late, waiters): ([@Sendable (End) -> Void], Waiters) = state.withLock { state in
            state.end = ending.end
            defer {
                state.headWaiter = nil
                state.octetsWaiter = nil
                state.endWaiter = nil
                state.whenEnded = []
            }
            return (state.whenEnded, (state.headWaiter, state.octetsWaiter, state.endWaiter, state.takeFeeder()))
        }
        for body in late { body(ending.end) }
        waiters.head?.resume()
        waiters.octets?.resume()
        waiters.end?.resume()
        waiters.feeder?.resume()
    }

    /// The end, and the callbacks to run before the reading task can see the end.
    private struct Ending {
        let end: End
        let posted: MonotonicTime?
        let whenEnded: [@Sendable (End) -> Void]
    }

    /// Fills the channel with a response that is already complete.
    func fill(_ head: Head, _ octets: [UInt8], count: Int, trailers: Fields) -> End? {
        received(head)
        state.withLock { $0.octets = octets }
        transfer.noteReceived(count)
        ended(nil, trailers: trailers)
        return state.withLock { $0.end }
    }

    /// Adds bytes that do not come from a loop, and waits until more can be added.
    /// - Returns: `false` if the exchange has ended.
    nonisolated(nonsending) func feed(_ octets: [UInt8]) async -> Bool {
        switch received(octets.span) {
        case .tooLarge, .notWanted: return false
        case .goOn, .hold: break
        }
        await withUnsafeContinuation { continuation in
            let mayGoOn = state.withLock { state in
                state.feeder = continuation
                return state.takeFeeder() != nil
            }
            if mayGoOn { continuation.resume() }
        }
        return !hasEnded
    }

    /// Calls `body` when the exchange ends, on any thread; at once if it has already ended.
    func whenEnded(_ body: @escaping @Sendable (End) -> Void) {
        let end: End? = state.withLock { state in
            if state.end == nil { state.whenEnded.append(body) }
            return state.end
        }
        if let end { body(end) }
    }

    /// Ends the exchange and its connection. Bytes already received can still be read, and the error follows them.
    func cancel(_ failure: Failure = .cancelled) {
        if state.withLock({ $0.isEnding }) { return }
        ended(failure)
        tellLoop { $0.cancel() }
    }

    // MARK: From the task

    /// Waits for the head, or for the end if there is no head.
    nonisolated(nonsending) func head() async -> Result<Head, Failure> {
        await withUnsafeContinuation { continuation in
            let isThere = state.withLock { state in
                if state.head != nil || state.end != nil { return true }
                state.headWaiter = continuation
                return false
            }
            if isThere { continuation.resume() }
        }
        return state.withLock { state in
            if let head = state.head { return .success(head) }
            return .failure(state.end?.failure ?? .cancelled)
        }
    }

    /// Waits for the end.
    nonisolated(nonsending) func end() async -> End {
        await withUnsafeContinuation { continuation in
            let isThere = state.withLock { state in
                if state.end != nil { return true }
                state.endWaiter = continuation
                return false
            }
            if isThere { continuation.resume() }
        }
        return state.withLock { $0.end! }  // The end is not `nil`: the waiter is resumed only after the end is set.
    }

    /// The head, if it has arrived.
    var receivedHead: Head? { state.withLock { $0.head } }

    /// Moves the collected bytes out of the channel.
    func takeOctets() -> [UInt8] {
        state.withLock { state in
            let octets = state.octets
            state.octets = []
            return octets
        }
    }

    /// From now on, the bytes that `next` returns are also recorded.
    func record(_ recording: BodyRecording) { state.withLock { $0.recording = recording } }

    var isRecorded: Bool { state.withLock { $0.recording != nil } }

    /// All bytes received since the last call; `nil` at the end.
    nonisolated(nonsending) func next() async -> Result<[UInt8]?, Failure> {
        let result = await nextReceived()
        let (recording, end, isLast): (BodyRecording?, End?, Bool) = state.withLock { state in
            (state.recording, state.end, state.octets.isEmpty)
        }
        guard let recording else { return result }
        if case .success(let octets?) = result { await recording.append(octets) }
        // A caller that has all bytes of a known length may not read to the end, so the recording is finished here.
        if let end, isLast {
            if end.failure == nil { await recording.finish(end.trailers) } else { recording.abort() }
        }
        return result
    }

    /// Reads the rest of the body, so that all of it is recorded.
    nonisolated(nonsending) func drain() async -> Result<Void, SessionError> {
        while true {
            switch await next() {
            case .success(.some): continue
            case .success(nil): return .success(())
            case .failure(let failure): return .failure(SessionError(link: failure))
            }
        }
    }

    nonisolated(nonsending) private func nextReceived() async -> Result<[UInt8]?, Failure> {
        await withUnsafeContinuation { continuation in
            let isThere = state.withLock { state in
                if !state.octets.isEmpty || state.end != nil { return true }
                precondition(state.octetsWaiter == nil, "a body is read by one task")
                state.octetsWaiter = continuation
                return false
            }
            if isThere { continuation.resume() }
        }
        let (result, wasHeld, feeder): (Result<[UInt8]?, Failure>, Bool, Waiter?) = state.withLock {
            state in
            if state.octets.isEmpty, let end = state.end {
                return (end.failure.map { .failure($0) } ?? .success(nil), false, nil)
            }
            let octets = state.octets
            state.octets = []
            let wasHeld = state.isHeld
            state.isHeld = false
            return (.success(octets), wasHeld, state.takeFeeder())
        }
        goOn(wasHeld, feeder)
        return result
    }

    /// Changes how the body is consumed. With `.nothing`, unread bytes are dropped.
    func take(_ consumption: BodyConsumption) {
        let (wasHeld, feeder) = state.withLock { state in
            state.consumption = consumption
            if case .nothing = consumption {
                state.dropped = state.octets.count
                state.octets = []
            }
            let wasHeld = state.isHeld
            state.isHeld = false
            return (wasHeld, state.takeFeeder())
        }
        goOn(wasHeld, feeder)
    }

    private func goOn(_ wasHeld: Bool, _ feeder: Waiter?) {
        if let feeder { feeder.resume() } else if wasHeld { tellLoop { $0.goOnReading() } }
    }

    func setSuspended(_ suspended: Bool) {
        let feeder = state.withLock { state in
            state.isSuspended = suspended
            return state.takeFeeder()
        }
        feeder?.resume()
        tellLoop { $0.setSuspended(suspended) }
    }

    /// Sends a piece of the request's content, and waits until the next one can be sent.
    /// - Returns: `false` if the exchange has ended.
    nonisolated(nonsending) func send(_ octets: [UInt8]) async -> Bool {
        let room = Wakeup<Bool>()
        let isPosted = loops.post(to: place) { [self] loop in
            if let exchange = loop.exchange(of: self) { exchange.send(octets, room: room) } else { room.send(false) }
        }
        return isPosted ? await room.value() : false
    }

    func endContent() { tellLoop { $0.endContent() } }

    private func tellLoop(_ body: @escaping @Sendable (NetworkExchange) -> Void) {
        loops.post(to: place) { [self] loop in
            if let exchange = loop.exchange(of: self) { body(exchange) }
        }

    }

    /// The exchange begins, and is not carried out by a loop.
    func beginElsewhere() { state.withLock { $0.posted = .read() } }

    func begin(_ request: UpstreamRequest, content: [UInt8]) {
        beginElsewhere()
        let isPosted = loops.post(to: place) { $0.open(request, content: content, link: self) }
        if !isPosted { ended(.transport(.transportClosed)) }
    }
}
