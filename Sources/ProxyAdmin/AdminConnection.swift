import CLarderLinux
import EventLoop
import Glibc
import HTTPMessage
import HTTPWire

/// One client connection of the admin socket: one request, one response, then close. Confined to the admin thread.
///
/// Phases and transitions:
///
///     reading ──request complete──▶ waiting ──answer──▶ writing ──all written──▶ lingering ──client's end──▶ closed
///     reading ──fault──▶ writing        any ──deadline or client's end──▶ closed
///     writing ──no next piece yet──▶ paused ──resume──▶ writing
final class AdminConnection: EventHandler, TimerHandler {
    private enum Phase { case reading, waiting, writing, paused, lingering, closed }

    private unowned let listener: AdminListener
    private let loop: EventLoop
    private let descriptor: Int32
    private var registration: Registration?
    private var timer: TimerID?
    private var phase = Phase.reading
    private var reader: AdminRequestReader
    private var method = Method.get
    private var output: [UInt8] = []
    private var outputStart = 0
    /// Makes the next piece of a streamed response.
    private var next: (() -> AdminPiece)?
    /// Called when the connection closes while a response is streamed.
    private var streamClosed: (() -> Void)?
    /// Whether the connection exceeds the limit. Such a connection gets an error and does not count as served.
    private(set) var isTurnedAway = false

    private static let readLength = 16 * 1024

    init(_ listener: AdminListener, descriptor: Int32) throws(SystemError) {
        self.listener = listener
        self.descriptor = descriptor
        loop = listener.loop
        reader = AdminRequestReader(limits: listener.limits)
        registration = try loop.register(descriptor, .read, handler: self)
        timer = loop.makeTimer(self)
        setDeadline(listener.limits.request)
    }

    /// Who is connected, for the audit log.
    var clientName: String {
        switch listener.clients {
        case .owner: "uid \(larder_peer_user(descriptor))"
        case .page: "page"
        case .everyone: "unknown"
        }
    }

    // MARK: Events

    func ready(_ events: ReadyEvents) {
        if events.isBroken { return close() }
        switch phase {
        case .reading: read()
        case .waiting, .closed: break
        case .writing: write()
        case .paused, .lingering: discardInput()
        }
    }

    func deadlinePassed(_ timer: TimerID) {
        switch phase {
        case .reading: refuse(.ofSlowRequest)
        case .waiting: refuse(.ofSlowAnswer)
        case .writing, .lingering, .closed: close()
        case .paused: break
        }
    }

    // MARK: Reading

    private func read() {
        var bytes = [UInt8](repeating: 0, count: Self.readLength)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return close() }
        switch reader.take(bytes[..<count]) {
        case .incomplete: break
        case .refused(let problem): refuse(problem)
        case .request(let request):
            method = request.head.method
            phase = .waiting
            // While the client waits, its disconnection is still reported as a hang-up.
            if let registration { loop.modify(registration, Interest()) }
            setDeadline(listener.limits.answer)
            AdminRouting.answer(request, by: listener.routes, for: listener.clients, AdminExchange(self, on: loop))
        }
    }

    private func discardInput() {
        var bytes = [UInt8](repeating: 0, count: Self.readLength)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { close() }
    }

    // MARK: Answering

    func turnAway() {
        isTurnedAway = true
        refuse(.ofBusy)
    }

    /// Sends the problem as an error response.
    func refuse(_ problem: AdminProblem, allowing methods: [String] = []) {
        let allow: (name: StaticString, value: String) = ("Allow", methods.joined(separator: ", "))
        answer(
            problem.status, contentType: "application/problem+json", body: Array((problem.json.written() + "\n").utf8),
            fields: methods.isEmpty ? [] : [allow])
    }

    /// - Parameter fields: further fields of the response. Their values have no control characters.
    func answer(
        _ status: Status, contentType: StaticString, body: [UInt8], fields: [(name: StaticString, value: String)] = []
    ) {
        guard beginHead(status, contentType: contentType) else { return }
        for field in fields { append(field.name, field.value) }
        output.append("Content-Length: ")
        output.append(decimal: UInt64(body.count))
        output.append("\r\n\r\n")
        if method != .head { output += body }
        write()
    }

    /// - Parameter closed: called once, when no further piece is needed.
    func stream(contentType: StaticString, next: @escaping () -> AdminPiece, closed: (() -> Void)? = nil) {
        guard beginHead(.ok, contentType: contentType) else {
            closed?()
            return
        }
        output.append("Transfer-Encoding: chunked\r\n\r\n")
        self.next = method == .head ? nil : next
        streamClosed = closed
        write()
    }

    /// Asks for the next piece again, after the answer `notYet`.
    func resume() {
        guard phase == .paused else { return }
        phase = .writing
        write()
    }

    private func beginHead(_ status: Status, contentType: StaticString) -> Bool {
        guard phase == .reading || phase == .waiting else { return false }
        phase = .writing
        output.append("HTTP/1.1 ")
        output.append(decimal: UInt64(status.code))
        output.append(ASCII.space)
        output.append(status.reasonPhrase)
        output.append("\r\nDate: ")
        HTTPDate.write(Timestamp(milliseconds: loop.wallClockMilliseconds), into: &output)
        output.append("\r\nContent-Type: ")
        output.append(contentType)
        output.append("\r\nCache-Control: no-store\r\nConnection: close\r\n")
        for field in listener.clients.fields { append(field.name, field.value) }
        return true
    }

    private func append(_ name: StaticString, _ value: String) {
        output.append(name)
        output.append(": ")
        output += value.utf8
        output.append("\r\n")
    }

    /// Writes until the socket accepts no more. Makes only one piece of a streamed response per call, so that other connections are served
    /// in between.
    private func write() {
        while outputStart < output.count {
            let count = output.withUnsafeBytes {
                send(descriptor, $0.baseAddress! + outputStart, $0.count - outputStart, larder_msg_nosignal)
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return waitToWrite() }
            guard count > 0 else { return close() }
            outputStart += count
        }
        guard let next else { return endWriting() }
        output.removeAll(keepingCapacity: true)
        outputStart = 0
        switch next() {
        case .piece(let bytes): appendChunk(bytes)
        case .notYet: return pause()
        case .end:
            ChunkWriter.writeLastChunk(into: &output)
            self.next = nil
        case .broken: return close()
        }
        waitToWrite()
    }

    /// Waits for `resume`. Meanwhile only the client's disconnection is noticed.
    private func pause() {
        phase = .paused
        if let registration { loop.modify(registration, .read) }
        if let timer { loop.cancelTimer(timer) }
    }

    private func appendChunk(_ bytes: [UInt8]) {
        if bytes.isEmpty { return }
        ChunkWriter.writeChunkHeader(count: bytes.count, into: &output)
        output += bytes
        ChunkWriter.writeChunkEnd(into: &output)
    }

    private func waitToWrite() {
        if let registration { loop.modify(registration, .write) }
        setDeadline(listener.limits.idle)
    }

    /// The client closes the connection after it has read the response. If Larder closed first, data that the client has not read could
    /// be lost.
    private func endWriting() {
        guard let registration, shutdown(descriptor, Int32(SHUT_WR)) == 0 else { return close() }
        phase = .lingering
        endStream()
        loop.modify(registration, .read)
        setDeadline(listener.limits.lingering)
    }

    func close() {
        guard phase != .closed else { return }
        phase = .closed
        next = nil
        endStream()
        if let timer { loop.removeTimer(timer) }
        timer = nil
        if let registration { loop.close(registration) }
        registration = nil
        listener.connectionClosed(self)
    }

    private func endStream() {
        let closed = streamClosed
        streamClosed = nil
        closed?()
    }

    private func setDeadline(_ milliseconds: Int) {
        if let timer { loop.setTimer(timer, afterMilliseconds: milliseconds) }
    }
}

extension AdminProblem {
    static let ofBusy = AdminProblem(
        status: Status(503), code: "too_many_clients", detail: "Too many clients are connected to the admin socket.")
    static let ofSlowRequest = AdminProblem(
        status: Status(408), code: "request_timeout", detail: "The request did not arrive in time.")
    static let ofSlowAnswer = AdminProblem(
        status: Status(504), code: "answer_timeout", detail: "The response was not ready in time.")
}
