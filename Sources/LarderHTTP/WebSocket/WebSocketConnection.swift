import EventLoop
import HTTPMessage
import UpstreamTransport
internal import WebSocketWire

/// A WebSocket's connection on its loop: reads frames, answers pings, and writes frames.
///
/// States and moves: `open` → `closing` (we have sent a Close frame, and wait for the server's) → `ending` (all frames were exchanged, or
/// the connection failed; waits for the server to end the connection, as RFC 6455 §7.1.1 says) → `over`. Each state may go to any later
/// one. Confined to the loop, which keeps the object alive until it is over.
final class WebSocketConnection: EventHandler, TimerHandler, BatchHandler {
    private enum State { case open, closing, ending, over }

    private let channel: WebSocketChannel
    private unowned let owner: SessionLoop
    private var loop: EventLoop { owner.loop }
    private let connection: SwitchedConnection
    private let reader: WebSocketReader
    private var registration: Registration?
    private var timer: TimerID?
    private let pingMilliseconds: Int
    private let closeMilliseconds: Int
    private var state = State.open
    /// Received bytes that were not read, and the offset of the first of them.
    private var input: [UInt8]
    private var inputOffset = 0
    private var output: [UInt8] = []
    private var outputOffset = 0
    /// How many bytes were put into `output`, and how many of them the kernel has.
    private var queuedCount: UInt64 = 0
    private var sentCount: UInt64 = 0
    private var senders: [(end: UInt64, wakeup: Wakeup<WebSocketChannel.Sent>)] = []
    /// Whether the channel has enough unread messages.
    private var isHeld = false
    private var isContinuing = false
    private var wantsToWrite = false
    /// The last ping that came while bytes were unsent. RFC 6455 §5.5.3 permits that only the last ping is answered, so pings need no
    /// limit, and reading need not stop while the server reads nothing.
    private var unansweredPing: [UInt8]?
    /// Whether the kernel accepts no more bytes.
    private var isSendingBroken = false
    /// Whether our direction of the connection ends as soon as the output is empty.
    private var endsSending = false
    /// Whether bytes have arrived since the last ping of `pingMilliseconds`.
    private var isHeard = true

    /// How many times one turn reads, so that the connection does not delay others.
    private static let readsInTurn = 8
    /// A larger buffer for unsent bytes is not kept.
    private static let keptLength = 64 << 10

    static func start(
        _ connection: SwitchedConnection, _ channel: WebSocketChannel, _ options: WebSocketOptions,
        _ compression: DeflateParameters?, on owner: SessionLoop
    ) {
        let socket = WebSocketConnection(connection, channel, options, compression, on: owner)
        owner.webSockets[channel.number] = socket
        socket.begin()
    }

    private init(
        _ connection: SwitchedConnection, _ channel: WebSocketChannel, _ options: WebSocketOptions,
        _ compression: DeflateParameters?, on owner: SessionLoop
    ) {
        self.connection = connection
        self.channel = channel
        self.owner = owner
        input = connection.received
        reader = WebSocketReader(.client, limits: options.limits.onWire, compression: compression)
        pingMilliseconds = options.pingInterval.inMilliseconds
        closeMilliseconds = max(1, options.closeTimeout.inMilliseconds)
    }

    private func begin() {
        timer = loop.makeTimer(self)
        do throws(SystemError) {
            registration = try loop.register(connection.descriptor, [.read, .peerClose, .edgeTriggered], handler: self)
        } catch {
            channel.ended(SessionError(.outOfResources, "\(error)"))
            return finish()
        }
        if pingMilliseconds > 0 { setTimer(pingMilliseconds) }
        continueLater()
    }

    // MARK: Reading

    func ready(_ events: ReadyEvents) {
        owner.expectJobs()
        if events.isWritable { flush() }
        if events.isReadable || events.isBroken { read() }
    }

    func batchEnded() {
        isContinuing = false
        owner.expectJobs()
        read()
    }

    /// The task has read messages.
    func resumeReading() {
        isHeld = false
        read()
    }

    /// Reads at the end of the batch, because the loop's buffer may be in use now.
    private func continueLater() {
        if isContinuing || state == .over { return }
        isContinuing = true
        loop.atEndOfBatch(self)
    }

    private var mayRead: Bool {
        switch state {
        case .open: !isHeld
        case .closing, .ending: true
        case .over: false
        }
    }

    private func read() {
        var turns = Self.readsInTurn
        while mayRead {
            if inputOffset < input.count {
                readInput()
                continue
            }
            if turns == 0 { return continueLater() }
            turns -= 1
            let buffer = owner.readBuffer
            switch connection.receive(into: buffer) {
            case .octets(let count):
                isHeard = true
                if state == .ending { continue }
                input.removeAll(keepingCapacity: input.capacity <= 1 << 17)
                input.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                inputOffset = 0
            case .wouldBlock where isSendingBroken: return inputEnded()
            case .wouldBlock: return
            case .ended, .failed: return inputEnded()
            }
        }
    }

    /// Reads the bytes in `input` until they are used up, or reading has to stop.
    private func readInput() {
        let bytes = input
        do throws(WebSocketFault) {
            while mayRead, state != .ending, let event = try reader.next(bytes.span, from: &inputOffset) { handle(event) }
        } catch {
            let code: SessionError.Code = error.isLimit ? .bodyTooLarge : .webSocketViolation
            fail(SessionError(code, error.rawValue), closing: WebSocketClosing(code: error.closeCode))
        }
        if state == .ending { inputOffset = input.count }
    }

    private func handle(_ event: WebSocketReader.Event) {
        switch event {
        case .message(let message):
            // After our Close frame, messages are not delivered.
            if state == .open { isHeld = !channel.received(message) }
        case .ping(let payload):
            guard state == .open else { return }
            if output.isEmpty { write(.pong, payload) } else { unansweredPing = payload }
        case .pong(let payload):
            if payload.count == 8 { channel.received(pong: payload.reduce(0) { $0 << 8 | UInt64($1) }) }
        case .close(let closing):
            // RFC 6455 §5.5.1: the answer has the code of the frame that it answers.
            if state == .open {
                write(.close, closing.map { WebSocketWriter.payload(of: WebSocketClosing(code: $0.code)) } ?? [])
            }
            awaitEnd(nil, WebSocket.Closing(closing))
        }
    }

    private func inputEnded() {
        switch state {
        case .open: channel.ended(SessionError(.connectionTerminated, "the connection ended without a Close frame"))
        case .closing: channel.ended(nil)
        case .ending, .over: break
        }
        finish()
    }

    // MARK: Writing

    /// Sends the frames of one message.
    func send(_ frames: [UInt8], _ wakeup: Wakeup<WebSocketChannel.Sent>) {
        guard state == .open else {
            wakeup.send(.closed)
            return
        }
        queuedCount += UInt64(frames.count)
        senders.append((queuedCount, wakeup))
        if output.isEmpty { output = frames } else { output += frames }
        flush()
    }

    func sendPing(_ number: UInt64) {
        guard state == .open else { return }
        write(.ping, (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) })
    }

    private func write(_ opcode: WebSocketOpcode, _ payload: [UInt8]) {
        let start = output.count
        WebSocketWriter.write(opcode, payload, maskingKey: UInt32.random(in: .min ... .max), into: &output)
        queuedCount += UInt64(output.count - start)
        flush()
    }

    private func flush() {
        while state != .over, outputOffset < output.count {
            let bytes = output
            switch connection.send(bytes.span.extracting(outputOffset...)) {
            case .octets(let count):
                outputOffset += count
                sentCount += UInt64(count)
            case .wouldBlock:
                setWriting(true)
                if outputOffset > Self.keptLength {
                    output.removeFirst(outputOffset)
                    outputOffset = 0
                }
                return wakeSenders()
            case .failed:
                // The server may have sent its Close frame before, so reading decides how the connection ends.
                isSendingBroken = true
                output = []
                outputOffset = 0
                dropSenders()
                return continueLater()
            }
        }
        if output.capacity > Self.keptLength { output = [] } else { output.removeAll(keepingCapacity: true) }
        outputOffset = 0
        setWriting(false)
        wakeSenders()
        if let ping = unansweredPing, state == .open {
            unansweredPing = nil
            write(.pong, ping)
        }
        if endsSending, case .wouldBlock = connection.endSending() { setWriting(true) }
    }

    private func setWriting(_ writes: Bool) {
        guard writes != wantsToWrite, let registration else { return }
        wantsToWrite = writes
        loop.modify(registration, writes ? [.read, .write, .peerClose, .edgeTriggered] : [.read, .peerClose, .edgeTriggered])
    }

    private func wakeSenders() {
        var count = 0
        while count < senders.count, senders[count].end <= sentCount {
            senders[count].wakeup.send(.sent)
            count += 1
        }
        senders.removeFirst(count)
    }

    private func dropSenders() {
        for sender in senders { sender.wakeup.send(.closed) }
        senders = []
    }

    // MARK: Closing

    /// Sends a Close frame, and waits for the server's.
    func close(_ closing: WebSocketClosing?) {
        guard state == .open else { return }
        channel.stopSending()
        state = .closing
        write(.close, closing.map(WebSocketWriter.payload) ?? [])
        setTimer(closeMilliseconds)
        continueLater()
    }

    /// Fails the connection (RFC 6455 §7.1.7): the server need not end it first. Its bytes are still read, so that it gets the Close frame.
    private func fail(_ error: SessionError, closing: WebSocketClosing) {
        if state == .open { write(.close, WebSocketWriter.payload(of: closing)) }
        awaitEnd(error, nil)
        endsSending = true
        flush()
    }

    /// All frames were exchanged, or no more will be. The server ends the connection first, so that it has the TIME_WAIT state.
    private func awaitEnd(_ failure: SessionError?, _ closing: WebSocket.Closing?) {
        if state == .over { return }
        state = .ending
        channel.ended(failure, closing: closing)
        setTimer(closeMilliseconds)
    }

    /// Ends the connection at once, with a Close frame if the kernel takes it.
    func cut() {
        if state == .open { write(.close, WebSocketWriter.payload(of: WebSocketClosing(code: 1001))) }
        channel.ended(SessionError(.cancelled))
        finish()
    }

    private func finish() {
        if state == .over { return }
        state = .over
        dropSenders()
        if outputOffset == output.count { _ = connection.endSending() }
        if let registration { loop.deregister(registration) }
        registration = nil
        connection.close()
        if let timer { loop.removeTimer(timer) }
        timer = nil
        owner.webSockets[channel.number] = nil
    }

    // MARK: Time

    private func setTimer(_ milliseconds: Int) {
        if let timer { loop.setTimer(timer, afterMilliseconds: milliseconds) }
    }

    func deadlinePassed(_ timer: TimerID) {
        owner.expectJobs()
        switch state {
        case .open: keepAlive()
        case .closing:
            channel.ended(nil)
            finish()
        case .ending, .over: finish()
        }
    }

    /// Sends a ping, if the last one was answered. While the session does not read, it cannot know.
    private func keepAlive() {
        guard isHeard || !mayRead else {
            var error = SessionError(.timeout, "the server has not answered a ping")
            error.phase = .idle
            channel.ended(error)
            return finish()
        }
        isHeard = false
        sendPing(0)
        setTimer(pingMilliseconds)
    }
}
