import EventLoop
import Glibc
import HTTPMessage
import ServerTrust
import TLSChannel

/// One attempt to connect with TLS: a connection, and on it the handshake, in which `HandshakeJudge` verifies the server. Confined to its
/// loop.
///
/// States and moves: `connecting` → `shakingHands` (watched, with the rest of the time limit) → `ended`.
final class SecureAttempt: ConnectAttempt, ConnectObserver, EventHandler, TimerHandler {
    private enum State {
        case connecting((any ConnectAttempt)?)
        case shakingHands(TLSSession, Registration)
        case ended
    }

    private unowned let connector: Connector
    private let loop: EventLoop
    private let judge: HandshakeJudge
    private let target: ConnectTarget
    private let deadline: MonotonicTime
    private var observer: (any ConnectObserver)?
    private var state = State.connecting(nil)
    /// The connection; `nil` until it is open.
    private var peer: ConnectedPeer?
    private var channel = ByteChannel(descriptor: -1)
    private var connectedAt = MonotonicTime.never
    private var timer: TimerID?

    init(
        _ connector: Connector, on loop: EventLoop, to target: ConnectTarget, judgedBy judge: HandshakeJudge,
        deadline: MonotonicTime, observer: any ConnectObserver
    ) {
        self.connector = connector
        self.loop = loop
        self.target = target
        self.judge = judge
        self.deadline = deadline
        self.observer = observer
    }

    func begin(_ attempt: any ConnectAttempt) { state = .connecting(attempt) }

    func cancel() {
        observer = nil
        if case .connecting(let attempt) = state { attempt?.cancel() }
        end()?.close()
    }

    // MARK: Connecting

    func didConnect(_ peer: ConnectedPeer) {
        connectedAt = loop.now
        self.peer = peer
        channel = ByteChannel(descriptor: peer.descriptor)
        guard let session = connector.makeSession(judgedBy: judge, offering: target.protocols) else {
            return fail(.outOfResources(code: ENOMEM))
        }
        channel.begin(session)
        do throws(SystemError) {
            state = .shakingHands(session, try loop.register(peer.descriptor, .read, handler: self))
        } catch {
            return fail(.outOfResources(code: error.code))
        }
        let timer = loop.makeTimer(self)
        loop.setTimer(timer, at: deadline)
        self.timer = timer
        proceed(session, with: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    func didFailToConnect(_ error: TransportError) { fail(error) }

    // MARK: The handshake

    func deadlinePassed(_ timer: TimerID) { fail(.timedOut(.connect)) }

    func ready(_ events: ReadyEvents) {
        guard case .shakingHands(let session, let registration) = state else { return }
        var total: UInt64 = 0
        if events.isWritable {
            if channel.sendRecords(counting: &total) == .failed { return fail(.tlsFailed) }
            updateInterest(of: registration)
        }
        let buffers = connector.buffers
        // Until the session is open, the received bytes are the records of its handshake.
        switch channel.receive(into: buffers.records, through: buffers) {
        case .bytes(let count): proceed(session, with: UnsafeRawBufferPointer(rebasing: buffers.records[..<count]))
        case .wouldBlock, .needsMore: break
        case .ended, .cut, .failed: fail(.tlsFailed)
        }
    }

    private func proceed(_ session: TLSSession, with records: UnsafeRawBufferPointer) {
        guard case .shakingHands(_, let registration) = state else { return }
        var total: UInt64 = 0
        switch session.handshake(records) {
        case .needsMore:
            if channel.sendRecords(counting: &total) == .failed { return fail(.tlsFailed) }
            updateInterest(of: registration)
        case .failed:
            // The records may contain an alert for the server.
            _ = channel.sendRecords(counting: &total)
            fail(.tlsFailed)
        case .established(let taken): succeed(session, behind: UnsafeRawBufferPointer(rebasing: records[taken...]))
        }
    }

    private func updateInterest(of registration: Registration) {
        loop.modify(registration, channel.unsentCount > 0 ? [.read, .write] : .read)
    }

    /// - Parameter records: the bytes that were received after the handshake.
    private func succeed(_ session: TLSSession, behind records: UnsafeRawBufferPointer) {
        let buffer = connector.contentBuffer
        // The channel reports an end or a failure in these records to its reader.
        let early: [UInt8] =
            if case .bytes(let count) = channel.open(records, into: buffer) { Array(buffer[..<count]) } else { [] }
        let channel = UpstreamTLSChannel(
            channel, isForHTTP2: session.isForHTTP2, judgedBy: judge, through: connector.buffers, early: early)
        connector.didJudge(judge, for: target)
        connector.note(session.isResumed ? .resumed : .full)
        let observer = observer
        guard var peer = end() else { return }
        peer.channel = channel
        peer.handshakeTime = loop.now.microseconds(since: connectedAt)
        guard let observer else { return peer.close() }
        observer.didConnect(peer)
        // Sends the last bytes of the handshake. Usually the observer has already sent them together with a request.
        channel.flush()
    }

    // MARK: End of the attempt

    private func fail(_ error: TransportError) {
        if case .shakingHands = state { connector.note(judge.failure == nil ? .failed : .untrusted) }
        let observer = observer
        end()?.close()
        observer?.didFailToConnect(judge.failure.map { .untrusted($0) } ?? TransportError(alertTo: judge, or: error))
    }

    /// - Returns: the connection, for its next owner. No loop watches it.
    private func end() -> ConnectedPeer? {
        observer = nil
        switch state {
        case .connecting: break
        case .shakingHands(_, let registration): loop.deregister(registration)
        // The connector may no longer exist, so it is not used.
        case .ended: return nil
        }
        state = .ended
        if let timer { loop.removeTimer(timer) }
        timer = nil
        connector.ended(self)
        defer { peer = nil }
        return peer
    }
}
