import CLarderLinux
import EventLoop
import Glibc
import HTTPMessage
import RESPWire
import ServerTrust
import TLSChannel

/// Gets the events of a connection.
protocol EngineConnectionOwner: AnyObject {
    /// The engine has accepted the greeting.
    func didOpen(_ connection: EngineConnection, _ greeting: EngineGreeting)
    /// The connection has ended; all its commands have failed.
    func didClose(_ connection: EngineConnection, because failure: EngineFailure)
    func received(push: [RESPValue], on connection: EngineConnection)
}

/// One connection to an engine. Commands are pipelined: those of one batch of the loop are sent together. Confined to its loop.
///
/// States and moves: connecting ──connected──▶ shakingHands (with TLS) ──▶ greeting ──the reply to HELLO──▶ open; from each to closed.
final class EngineConnection: EventHandler, TimerHandler, BatchHandler {
    typealias Completion = (Result<RESPValue, EngineFailure>) -> Void

    enum State: Equatable { case connecting, shakingHands, greeting, open, closed }

    private struct Waiting {
        let sentAt: MonotonicTime
        /// Whether the engine answers by a push message, unless it refuses the command.
        let isForPush: Bool
        let completion: Completion
    }

    /// The maximum number of commands without a reply, and of bytes that are not sent yet.
    static let waitingLimit = 8192
    static let outputLimit = 32 << 20

    let address: EngineAddress
    private(set) var state = State.connecting
    private let loop: EventLoop
    private let configuration: EngineConfiguration
    private let buffers: EngineBuffers
    private unowned let owner: any EngineConnectionOwner
    private var channel = ByteChannel(descriptor: -1)
    private var registration: Registration?
    private var timer: TimerID?
    private var session: TLSSession?
    private var judge: HandshakeJudge?
    private var reader = RESPReader()
    private var waiting = WaitingQueue<Waiting>()
    private var output: [UInt8] = []
    private var isFlushPlanned = false

    init(
        to address: EngineAddress, at place: SocketAddress, on loop: EventLoop, _ configuration: EngineConfiguration,
        _ buffers: EngineBuffers, owner: any EngineConnectionOwner
    ) {
        self.address = address
        self.loop = loop
        self.configuration = configuration
        self.buffers = buffers
        self.owner = owner
        connect(to: place)
    }

    // MARK: Commands

    /// Sends a command. The completion is called exactly once, never from within this call.
    /// - Returns: `false` if the connection cannot take it; the completion is not called then.
    func send(_ words: [RESPWord], _ completion: @escaping Completion) -> Bool {
        guard state == .open, waiting.count < Self.waitingLimit, output.count < Self.outputLimit else { return false }
        append(words, completion)
        return true
    }

    /// Subscribes to a channel. The engine confirms that by a push message.
    func subscribe(to channel: [UInt8]) -> Bool {
        guard state == .open, waiting.count < Self.waitingLimit, output.count < Self.outputLimit else { return false }
        append(["SUBSCRIBE", RESPWord(channel)], isForPush: true) { _ in }
        return true
    }

    private func append(_ words: [RESPWord], isForPush: Bool = false, _ completion: @escaping Completion) {
        RESPWriter.append(words, to: &output)
        waiting.append(Waiting(sentAt: loop.now, isForPush: isForPush, completion: completion))
        planFlush()
    }

    private func planFlush() {
        if isFlushPlanned { return }
        isFlushPlanned = true
        loop.atEndOfBatch(self)
    }

    func batchEnded() {
        isFlushPlanned = false
        if state == .greeting || state == .open { flush() }
    }

    /// Closes the connection if the engine has left a command unanswered for too long.
    func checkSilence() {
        guard state == .open, let first = waiting.first,
            loop.now.milliseconds(since: first.sentAt) >= configuration.silence
        else { return }
        close(because: .timedOut)
    }

    // MARK: Connecting

    private func connect(to place: SocketAddress) {
        let descriptor = socket(place.family, larder_sock_stream | larder_sock_nonblock | larder_sock_cloexec, 0)
        channel = ByteChannel(descriptor: descriptor)
        let timer = loop.makeTimer(self)
        self.timer = timer
        guard descriptor >= 0 else { return loop.setTimer(timer, afterMilliseconds: 1) }
        var one: Int32 = 1
        // If the kernel refuses the option, small writes may be delayed, but nothing fails.
        _ = setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        let result = place.withPointer { Glibc.connect(descriptor, $0, $1) }
        let isBegun = result == 0 || errno == EINPROGRESS || errno == EINTR
        registration = try? loop.register(descriptor, [.write], handler: self)
        // A failure is reported from the loop, because the owner does not know this connection yet.
        let isWatched = isBegun && registration != nil
        loop.setTimer(timer, afterMilliseconds: isWatched ? configuration.connecting : 1)
    }

    func deadlinePassed(_ timer: TimerID) {
        if state != .open { close(because: state == .connecting ? .unreachable : .timedOut) }
    }

    private func connected() {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        if getsockopt(channel.descriptor, SOL_SOCKET, SO_ERROR, &code, &length) != 0 { code = errno }
        guard code == 0 else { return close(because: .unreachable) }
        guard configuration.url.isSecure else { return greet() }
        guard let trust = configuration.trust(address.host, address.port), let context = buffers.tlsContext else {
            return close(because: .tls("TLS cannot be set up"))
        }
        let judge = HandshakeJudge(policy: trust, host: address.host) { [loop] in
            Timestamp(milliseconds: loop.wallClockMilliseconds)
        }
        guard let session = TLSSession(context, judgedBy: judge, offering: []) else {
            return close(because: .tls("TLS cannot be set up"))
        }
        (self.judge, self.session) = (judge, session)
        channel.begin(session)
        state = .shakingHands
        proceed(with: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    private func proceed(with records: UnsafeRawBufferPointer) {
        guard let session else { return }
        var total: UInt64 = 0
        let outcome = session.handshake(records)
        // The records may contain an alert for the server.
        let sent = channel.sendRecords(counting: &total)
        switch outcome {
        case .failed:
            let reason = judge?.failure.map { $0.reason.rawValue } ?? "the handshake failed"
            close(because: .tls(reason))
        case .needsMore:
            if sent == .failed { return close(because: .closed) }
            updateInterest()
        case .established(let taken):
            let received = channel.open(UnsafeRawBufferPointer(rebasing: records[taken...]), into: buffers.content)
            greet()
            if case .bytes(let count) = received { process(UnsafeRawBufferPointer(rebasing: buffers.content[..<count])) }
        }
    }

    private func greet() {
        state = .greeting
        var words: [RESPWord] = ["HELLO", "3"]
        if let password = configuration.password?() {
            words += ["AUTH", RESPWord(configuration.user ?? "default"), RESPWord(password)]
        }
        words += ["SETNAME", "larder"]
        append(words) { [unowned self] in greeted($0) }
        updateInterest()
    }

    private func greeted(_ result: Result<RESPValue, EngineFailure>) {
        switch result {
        case .failure: break
        case .success(.error(let error)):
            let isUnknown = error.code == .noProtocol || error.text.contains("unknown command")
            close(because: isUnknown ? .tooOld : .refused(error))
        case .success(let value):
            guard let greeting = EngineGreeting(value) else { return close(because: .malformed) }
            guard greeting.isSupported else { return close(because: .tooOld) }
            state = .open
            if let timer { loop.cancelTimer(timer) }
            owner.didOpen(self, greeting)
        }
    }

    // MARK: Sending

    private func flush() {
        var total: UInt64 = 0
        if channel.isSecured {
            if !output.isEmpty {
                guard output.withUnsafeBytes({ channel.seal($0) }) else { return close(because: .closed) }
                output.removeAll(keepingCapacity: output.capacity <= Self.keptCapacity)
            }
            if channel.sendRecords(counting: &total) == .failed { return close(because: .closed) }
        } else if !sendPlain() {
            return close(because: .closed)
        }
        updateInterest()
    }

    private static let keptCapacity = 256 << 10

    private func sendPlain() -> Bool {
        var offset = 0
        while offset < output.count {
            let count = output.withUnsafeBytes {
                Glibc.send(
                    channel.descriptor, $0.baseAddress! + offset, $0.count - offset, larder_msg_nosignal | larder_msg_dontwait)
            }
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EAGAIN { break }
                return false
            }
            offset += count
        }
        if offset == output.count {
            output.removeAll(keepingCapacity: output.capacity <= Self.keptCapacity)
        } else {
            output.removeFirst(offset)
        }
        return true
    }

    private func updateInterest() {
        guard let registration, state != .closed else { return }
        let isBlocked = channel.isSecured ? channel.unsentCount > 0 : !output.isEmpty && !isFlushPlanned
        loop.modify(registration, isBlocked ? [.read, .write] : .read)
    }

    // MARK: Receiving

    func ready(_ events: ReadyEvents) {
        if state == .connecting { return connected() }
        if events.isWritable {
            if state == .shakingHands {
                var total: UInt64 = 0
                if channel.sendRecords(counting: &total) == .failed { return close(because: .closed) }
                updateInterest()
            } else {
                flush()
            }
        }
        if events.isReadable || events.isBroken { receive() }
    }

    /// The number of reads in a row, so that one engine does not keep the loop from others.
    private static let readLimit = 8

    private func receive() {
        var readCount = 0
        while state != .closed, readCount < Self.readLimit {
            readCount += 1
            switch channel.receive(into: buffers.content, through: buffers.records) {
            case .bytes(let count):
                let octets = UnsafeRawBufferPointer(rebasing: buffers.content[..<count])
                if state == .shakingHands {
                    // The content buffer is reused while the handshake ends.
                    let records = Array(octets)
                    records.withUnsafeBytes { proceed(with: $0) }
                } else {
                    process(octets)
                }
            case .needsMore: continue
            case .wouldBlock: return
            case .ended, .cut, .failed: return close(because: .closed)
            }
        }
    }

    private func process(_ octets: UnsafeRawBufferPointer) {
        reader.append(octets)
        do throws(RESPFault) {
            while state != .closed, let value = try reader.next() {
                if case .push(let message) = value {
                    if message.first?.string == "subscribe" {
                        // The confirmation comes in the order of the replies.
                        guard let first = waiting.first, first.isForPush else { return close(because: .malformed) }
                        _ = waiting.popFirst()
                    }
                    owner.received(push: message, on: self)
                } else if let first = waiting.popFirst() {
                    first.completion(.success(value))
                } else {
                    return close(because: .malformed)
                }
            }
        } catch {
            close(because: .malformed)
        }
    }

    // MARK: The end

    func close(because failure: EngineFailure) {
        guard state != .closed else { return }
        state = .closed
        if let timer { loop.removeTimer(timer) }
        if let registration {
            loop.close(registration)
        } else if channel.descriptor >= 0 {
            Glibc.close(channel.descriptor)
        }
        // The caller may still use this object, which its owner releases.
        withExtendedLifetime(self) {
            owner.didClose(self, because: failure)
            while let next = waiting.popFirst() { next.completion(.failure(failure)) }
        }
    }
}

/// Buffers and the TLS context for all connections of a loop.
final class EngineBuffers {
    let content = UnsafeMutableRawBufferPointer.allocate(byteCount: RecordBuffers.contentLength, alignment: 16)
    let records = RecordBuffers()
    let tlsContext: ClientTLSContext?

    init(isSecure: Bool) { tlsContext = isSecure ? ClientTLSContext(logsKeys: false) : nil }

    deinit { content.deallocate() }
}

/// What an engine tells about itself in its reply to HELLO.
struct EngineGreeting: Equatable, Sendable {
    let server: String
    let version: String
    let isCluster: Bool

    init?(_ reply: RESPValue) {
        guard let elements = reply.elements, elements.count.isMultiple(of: 2) else { return nil }
        var words: [String: String] = [:]
        for index in stride(from: 0, to: elements.count, by: 2) {
            if let name = elements[index].string, let value = elements[index + 1].string { words[name] = value }
        }
        guard let server = words["server"], let version = words["version"] else { return nil }
        self.server = server
        self.version = version
        isCluster = words["mode"] == "cluster"
    }

    /// The scripts need Redis 7.
    var isSupported: Bool { version.split(separator: ".").first.flatMap { Int($0) } ?? 0 >= 7 }
}
