import EventLoop
import Synchronization

/// A handle to observe, suspend and cancel one transfer. The caller creates it if needed; otherwise the session does.
///
/// Used for one call of a session, including all its redirects and retries. A second call with the same handle throws
/// `transfer_used`.
public final class Transfer: Sendable {
    private struct State {
        var description = TransferSnapshot(number: 0)
        var isBegun = false
        var isCancelled = false
        var isSuspended = false
        /// Cancels the current wait.
        var canceller: (@Sendable () -> Void)?
        var link: ResponseChannel?
        var whenResumed: [Wakeup<Bool>] = []
        var meter = ProgressMeter()
        var observers: [AsyncStream<TransferProgress>.Continuation] = []
    }

    private let state = Guarded(State())
    private let isCancelledNow = Atomic(false)

    /// A handle for one call.
    public init() {}

    // MARK: From the caller

    /// Cancels the transfer: the waiting caller gets `cancelled`, and the connection to the origin is closed.
    public func cancel() {
        let canceller = state.withLock { state in
            state.isCancelled = true
            defer { state.canceller = nil }
            return state.canceller
        }
        isCancelledNow.store(true, ordering: .relaxed)
        canceller?()
    }

    /// Suspends the transfer: nothing new begins, and no bytes are read or sent, except those already in the kernel. The
    /// timeout for the whole exchange keeps running.
    public func suspend() {
        let link: ResponseChannel? = state.withLock { state in
            if state.isSuspended { return nil }
            state.isSuspended = true
            return state.link
        }
        link?.setSuspended(true)
    }

    /// Resumes a suspended transfer.
    public func resume() {
        let (link, waiting): (ResponseChannel?, [Wakeup<Bool>]) = state.withLock { state in
            if !state.isSuspended { return (nil, []) }
            state.isSuspended = false
            defer { state.whenResumed = [] }
            return (state.link, state.whenResumed)
        }
        link?.setSuspended(false)
        for wakeup in waiting { wakeup.send(true) }
    }

    /// Whether the transfer is suspended.
    public var isSuspended: Bool { state.withLock { $0.isSuspended } }
    /// Whether the transfer was cancelled.
    public var isCancelled: Bool { isCancelledNow.load(ordering: .relaxed) }

    /// The current state.
    public var snapshot: TransferSnapshot {
        state.withLock { state in
            var snapshot = state.description
            snapshot.progress = state.meter.progress
            snapshot.isSuspended = state.isSuspended
            return snapshot
        }
    }

    /// The progress from now on. Values never decrease, and the last fraction is 1 if the transfer succeeds. Slow readers get only
    /// the newest value.
    public var progress: AsyncStream<TransferProgress> {
        let (stream, continuation) = AsyncStream.makeStream(of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        let isOver: Bool = state.withLock { state in
            continuation.yield(state.meter.progress)
            if state.description.phase == .ended { return true }
            state.observers.append(continuation)
            return false
        }
        if isOver { continuation.finish() }
        return stream
    }

    // MARK: From the session

    /// - Returns: `false`, without any change, if an earlier call has used this handle.
    func begin(number: UInt64, method: HTTPMethod, uri: TargetURI, priority: SessionRequest.Priority) -> Bool {
        state.withLock { state in
            if state.isBegun { return false }
            state.isBegun = true
            state.description = TransferSnapshot(number: number)
            state.description.method = method
            state.description.uri = uri
            state.description.priority = priority
            return true
        }
    }

    func enter(_ phase: TransferSnapshot.Phase, uri: TargetURI? = nil) {
        state.withLock { state in
            state.description.phase = phase
            if let uri { state.description.uri = uri }
        }
    }

    /// Sets the closure that `cancel` calls during the next wait, or from now on for a WebSocket.
    /// - Returns: `false` if the transfer is already cancelled.
    func arm(_ canceller: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.isCancelled { return false }
            state.canceller = canceller
            return true
        }
    }

    private func disarm() { state.withLock { $0.canceller = nil } }

    /// Waits for a value, or for the transfer's cancellation.
    nonisolated(nonsending) func awaiting<Value: Sendable>(_ wakeup: Wakeup<Value>, ifCancelled value: Value) async -> Value {
        guard arm({ wakeup.send(value) }) else { return value }
        let result = await wakeup.value()
        disarm()
        return result
    }

    /// Waits while the transfer is suspended.
    /// - Returns: `false` if the transfer was cancelled.
    nonisolated(nonsending) func waitWhileSuspended() async -> Bool {
        let wakeup: Wakeup<Bool>? = state.withLock { state in
            state.description.phase = .waiting
            guard state.isSuspended else { return nil }
            let wakeup = Wakeup<Bool>()
            state.whenResumed.append(wakeup)
            return wakeup
        }
        if let wakeup { return await awaiting(wakeup, ifCancelled: false) }
        return !isCancelled
    }

    /// Sets the current exchange, which is cancelled and suspended with the transfer.
    /// - Parameters:
    ///   - uri: the URI of the request that is about to be sent; `nil` if no request is sent.
    ///   - length: the length of the content that is about to be sent, if it is known.
    /// - Returns: `false` if the transfer is already cancelled.
    func attach(_ link: ResponseChannel, asking uri: TargetURI? = nil, sending length: UInt64? = nil) -> Bool {
        state.withLock { state in
            if state.isCancelled { return false }
            state.canceller = { link.cancel() }
            state.link = link
            state.meter.beginExchange()
            if let uri {
                state.description.phase = .sending
                state.description.uri = uri
            }
            if let length { state.meter.expectedToSend = length }
            return true
        }
    }

    /// Suspends an exchange that began while the transfer was suspended.
    func passSuspension(to link: ResponseChannel) {
        if isSuspended { link.setSuspended(true) }
    }

    func detach() {
        state.withLock { state in
            state.link = nil
            state.canceller = nil
        }
    }

    // MARK: Progress

    /// The head has arrived; the body follows.
    func expectBody(of head: ResponseChannel.Head) {
        change(.receiving) { meter in
            if case .length(let length) = head.framing { meter.expectedToReceive = length }
            if head.framing == .none { meter.expectedToReceive = 0 }
        }
    }

    /// The exchange resumes a body: its first `offset` bytes were received before.
    func resumeReceiving(at offset: UInt64, of total: UInt64?) {
        change { meter in
            meter.receivedBefore = offset
            meter.expectedToReceive = total.map { $0 - min($0, offset) }
        }
    }

    func noteReceived(_ count: Int) { change { $0.received += UInt64(count) } }
    func noteSent(_ count: Int) { change { $0.sent += UInt64(count) } }

    private func change(_ phase: TransferSnapshot.Phase? = nil, _ body: (inout ProgressMeter) -> Void) {
        state.withLock { state in
            if let phase { state.description.phase = phase }
            body(&state.meter)
            guard !state.observers.isEmpty else { return }
            let progress = state.meter.progress
            for observer in state.observers { observer.yield(progress) }
        }
    }

    /// Ends the transfer. Later changes are not reported.
    func end(succeeded: Bool) {
        let observers = state.withLock { state in
            state.description.phase = .ended
            state.link = nil
            state.canceller = nil
            if succeeded { state.meter.complete() }
            let progress = state.meter.progress
            if succeeded { for observer in state.observers { observer.yield(progress) } }
            defer { state.observers = [] }
            return state.observers
        }
        for observer in observers { observer.finish() }
    }
}
