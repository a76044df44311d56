import EventLoop
internal import WebSocketWire

/// Connects a WebSocket's connection on its loop with the tasks that use it: the messages that no task has read, the waiting tasks, and
/// the end. The loop writes, and one task reads. Only the first end is kept.
final class WebSocketChannel: Sendable {
    enum Sent: Sendable { case sent, closed, cancelled }

    private struct State {
        var messages: [WebSocketMessage] = []
        /// The index of the next unread message. Read messages are removed from time to time, so that reading takes constant time.
        var readCount = 0
        var unreadLength = 0
        var isHeld = false
        /// Whether a message may be sent: no Close frame was sent or received.
        var isOpen = true
        var isOver = false
        /// Why the connection failed; `nil` if it was closed.
        var failure: SessionError?
        var closing: WebSocket.Closing?
        var reader: Wakeup<Void>?
        var enders: [Wakeup<Void>] = []
        var pings: [UInt64: Wakeup<Sent>] = [:]
        var lastPing: UInt64 = 0
        var whenOver: (@Sendable (SessionError?) -> Void)?
    }

    private let loops: SessionLoops
    private let place: Int
    /// The number of the connection on its loop.
    let number: UInt64
    private let unreadLimit: Int
    private let state = Guarded(State())

    init(_ loops: SessionLoops, place: Int, number: UInt64, _ options: WebSocketOptions) {
        self.loops = loops
        self.place = place
        self.number = number
        unreadLimit = max(1, options.limits.unreadLength)
    }

    // MARK: From the loop

    /// - Returns: whether the connection may deliver another message.
    func received(_ message: WebSocketMessage) -> Bool {
        let (isHeld, reader): (Bool, Wakeup<Void>?) = state.withLock { state in
            state.messages.append(message)
            // Each message counts for more than its bytes, so that empty messages are limited too.
            state.unreadLength += message.bytes.count + Self.messageOverhead
            state.isHeld = state.unreadLength >= unreadLimit
            defer { state.reader = nil }
            return (state.isHeld, state.reader)
        }
        reader?.send(())
        return !isHeld
    }

    private static let messageOverhead = 64

    /// A pong answers its ping and the earlier ones (RFC 6455 §5.5.3).
    func received(pong number: UInt64) {
        let answered: [Wakeup<Sent>] = state.withLock { state in
            let answered = state.pings.filter { $0.key <= number }
            for number in answered.keys { state.pings[number] = nil }
            return Array(answered.values)
        }
        for wakeup in answered { wakeup.send(.sent) }
    }

    /// No more messages can be sent.
    func stopSending() { state.withLock { $0.isOpen = false } }

    /// Sets the end. Only the first call has an effect.
    func ended(_ failure: SessionError?, closing: WebSocket.Closing? = nil) {
        typealias Waiting = (whenOver: (@Sendable (SessionError?) -> Void)?, pings: [Wakeup<Sent>], others: [Wakeup<Void>])
        let waiting: Waiting? = state.withLock { state in
            if state.isOver { return nil }
            state.isOver = true
            state.isOpen = false
            state.failure = failure
            state.closing = closing
            defer {
                state.reader = nil
                state.enders = []
                state.pings = [:]
                state.whenOver = nil
            }
            return (state.whenOver, Array(state.pings.values), state.enders + [state.reader].compactMap { $0 })
        }
        guard let waiting else { return }
        waiting.whenOver?(failure)
        for wakeup in waiting.pings { wakeup.send(.closed) }
        for wakeup in waiting.others { wakeup.send(()) }
    }

    // MARK: From the task

    /// The length of the unread messages, with an allowance for each of them.
    var unreadLength: Int { state.withLock { $0.unreadLength } }
    var isOpen: Bool { state.withLock { $0.isOpen } }
    var closing: WebSocket.Closing? { state.withLock { $0.closing } }

    /// Calls `body` with the failure when the connection ends, on any thread; at once if it has ended.
    func whenOver(_ body: @escaping @Sendable (SessionError?) -> Void) {
        let (isOver, failure): (Bool, SessionError?) = state.withLock { state in
            if !state.isOver { state.whenOver = body }
            return (state.isOver, state.failure)
        }
        if isOver { body(failure) }
    }

    func next() async throws(SessionError) -> WebSocket.Message? {
        while true {
            let wakeup = Wakeup<Void>()
            let (message, isOver, failure, mayGoOn) = takeMessage(orWaitBy: wakeup)
            if mayGoOn { tellLoop { $0.resumeReading() } }
            if let message { return WebSocket.Message(message) }
            if let failure { throw failure }
            if isOver { return nil }
            await withTaskCancellationHandler {
                await wakeup.value()
            } onCancel: {
                wakeup.send(())
            }
            if Task.isCancelled, !hasNews { throw SessionError(.cancelled) }
        }
    }

    /// Whether `next` would return at once.
    private var hasNews: Bool { state.withLock { $0.readCount < $0.messages.count || $0.isOver } }

    private typealias Taken = (message: WebSocketMessage?, isOver: Bool, failure: SessionError?, mayGoOn: Bool)

    private func takeMessage(orWaitBy wakeup: Wakeup<Void>) -> Taken {
        state.withLock { state in
            guard state.readCount < state.messages.count else {
                if !state.isOver { state.reader = wakeup }
                return (nil, state.isOver, state.failure, false)
            }
            let message = state.messages[state.readCount]
            state.messages[state.readCount] = .binary([])
            state.readCount += 1
            if state.readCount == state.messages.count {
                state.messages.removeAll(keepingCapacity: state.readCount <= Self.keptCount)
                state.readCount = 0
            }
            state.unreadLength -= message.bytes.count + Self.messageOverhead
            let mayGoOn = state.isHeld && state.unreadLength < unreadLimit
            if mayGoOn { state.isHeld = false }
            return (message, false, nil, mayGoOn)
        }
    }

    private static let keptCount = 64

    /// Posts the frames of one message.
    func post(_ frames: [UInt8]) -> Wakeup<Sent> {
        let wakeup = Wakeup<Sent>()
        tellLoop(orElse: { wakeup.send(.closed) }, { $0.send(frames, wakeup) })
        return wakeup
    }

    /// Waits until a message is sent.
    func awaitSending(_ wakeup: Wakeup<Sent>?) async throws(SessionError) {
        guard let wakeup else { throw closedError }
        switch await withTaskCancellationHandler(operation: { await wakeup.value() }, onCancel: { wakeup.send(.cancelled) }) {
        case .sent: return
        case .cancelled: throw SessionError(.cancelled)
        case .closed: throw closedError
        }
    }

    private var closedError: SessionError {
        let failure = state.withLock { $0.failure }
        return failure?.within(.webSocketClosed) ?? SessionError(.webSocketClosed, "the connection is closed")
    }

    func ping() async throws(SessionError) {
        let wakeup = Wakeup<Sent>()
        let number: UInt64? = state.withLock { state in
            guard state.isOpen else { return nil }
            state.lastPing += 1
            state.pings[state.lastPing] = wakeup
            return state.lastPing
        }
        guard let number else { throw closedError }
        tellLoop(orElse: { wakeup.send(.closed) }, { $0.sendPing(number) })
        defer { state.withLock { $0.pings[number] = nil } }
        try await awaitSending(wakeup)
    }

    func close(_ code: WebSocket.CloseCode, _ reason: String) {
        guard isOpen else { return }
        var bytes = Array(reason.utf8)
        if bytes.count > WebSocketClosing.reasonLimit {
            var end = WebSocketClosing.reasonLimit
            while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
            bytes.removeLast(bytes.count - end)
        }
        // `noStatus` is never sent.
        let closing = code == .noStatus ? nil : WebSocketClosing(code: code.rawValue, reason: bytes)
        tellLoop { $0.close(closing) }
    }

    /// Waits for the end.
    func end() async {
        let wakeup = Wakeup<Void>()
        let isOver: Bool = state.withLock { state in
            if !state.isOver { state.enders.append(wakeup) }
            return state.isOver
        }
        if isOver { return }
        await withTaskCancellationHandler {
            await wakeup.value()
        } onCancel: {
            wakeup.send(())
        }
    }

    /// Ends the connection at once.
    func cancel(_ code: SessionError.Code) {
        ended(SessionError(code))
        tellLoop { $0.cut() }
    }

    private func tellLoop(
        orElse isGone: @escaping @Sendable () -> Void = {}, _ body: @escaping @Sendable (WebSocketConnection) -> Void
    ) {
        let number = number
        let isPosted = loops.post(to: place) { loop in
            if let connection = loop.webSockets[number] { body(connection) } else { isGone() }
        }
        if !isPosted { isGone() }
    }
}
