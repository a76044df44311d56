import CLarderCurl
import EventLoop
import Glibc
import HTTPMessage
import ServerTrust
import TLSChannel

/// Opens connections. If only one address is possible, it connects directly (`DirectAttempt`). Otherwise it uses libcurl's multi
/// interface in the loop, with happy eyeballs, tunnels through proxies, and name lookup on another thread. On a connection of either
/// kind, `SecureAttempt` makes the TLS handshake.
///
/// libcurl only connects (`CONNECT_ONLY`). The connector then takes the connected socket from libcurl: the close callback keeps the
/// descriptor open while the easy handle is reused for the next attempt.
///
/// Moves: `connect` adds a handle, or queues the attempt if too many are in progress. Sockets and timers drive libcurl through
/// `act`; `nudge` covers the work for which libcurl sets no timer. `collectFinished` reports each finished attempt, outside of
/// any libcurl callback. A timer callback never calls libcurl: zero means "at the end of the batch".
final class Connector {
    private let loop: EventLoop
    private let multi: UnsafeMutableRawPointer
    private let addresses: AddressPolicy
    /// The policy for addresses that Larder sends to a SOCKS5 proxy.
    let destinations: AddressPolicy
    private let audit: PinAudit?
    private var timer: TimerID?
    private var nudgeTimer: TimerID?
    private var nextNudge = MonotonicTime.never
    private var isKickPlanned = false
    private var isTurnPlanned = false
    private var isClosed = false
    private var watched: [Int32: WatchedSocket] = [:]
    private var handles = EasyHandles()
    private var attempts: [UnsafeMutableRawPointer: CurlAttempt] = [:]
    /// Attempts that wait until others have ended, in order. There are at most twice as many of them as exchanges and client tunnels that
    /// wait for a connection.
    private var waiting: [QueuedAttempt] = []
    private var cancelledCount = 0
    /// The maximum number of simultaneous lookups. Each lookup runs on its own thread and uses some descriptors. It counts until its
    /// thread ends; after a timeout it counts for as long as its thread may still run.
    private let lookUpLimit: Int
    private let gate: EgressGate
    /// How many attempts wait for their name lookup.
    private var lookUpCount = 0
    /// When lookups that have timed out stop counting against `lookUpLimit`.
    private var overdue: [MonotonicTime] = []
    var keptDescriptor: Int32 = -1
    private var secureAttempts: [ObjectIdentifier: SecureAttempt] = [:]
    private var tunnelAttempts: [ObjectIdentifier: ProxyTunnelAttempt] = [:]
    private var relays: [ObjectIdentifier: ProxyRelay] = [:]
    /// The TLS configuration, created for the first connection with TLS.
    private lazy var context = ClientTLSContext(logsKeys: writeKeys != nil)
    private let writeKeys: (@Sendable (UnsafePointer<CChar>) -> Void)?
    private let sessions = KeptSessions()
    private(set) var handshakes = HandshakeCounts()
    /// The loop's buffers for records, and for their content.
    private(set) lazy var buffers = RecordBuffers()
    let contentBuffer: UnsafeMutableRawBufferPointer

    /// Initializes libcurl, once for each process, before any handle is created.
    private static let isReady: Bool = larder_curl_global_init() == CURLE_OK

    /// - Parameter contentBuffer: the loop's buffer for decrypted content, with space for `RecordBuffers.contentLength` bytes.
    init(
        loop: EventLoop, addresses: AddressPolicy, destinations: AddressPolicy, lookUpLimit: Int, gate: EgressGate,
        contentBuffer: UnsafeMutableRawBufferPointer,
        audit: PinAudit?, writeKeys: (@Sendable (UnsafePointer<CChar>) -> Void)?
    ) {
        precondition(Self.isReady, "libcurl did not initialise")
        guard let multi = curl_multi_init() else { preconditionFailure("out of memory") }
        self.loop = loop
        self.multi = multi
        self.addresses = addresses
        self.destinations = destinations
        self.lookUpLimit = lookUpLimit
        self.gate = gate
        self.audit = audit
        self.contentBuffer = contentBuffer
        self.writeKeys = writeKeys
        // The pointer in the callbacks is valid until `close`, which the owner calls before it releases the connector.
        let this = Unmanaged.passUnretained(self).toOpaque()
        check(larder_curl_multi_set_socket(multi, connectorWatchesSocket))
        check(larder_curl_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, this))
        check(larder_curl_multi_set_timer(multi, connectorSetsTimer))
        check(larder_curl_multi_set_pointer(multi, CURLMOPT_TIMERDATA, this))
        timer = loop.makeTimer(ConnectorTimer(self))
        nudgeTimer = loop.makeTimer(CurlWorkTimer(self))
    }

    /// Begins to connect. `milliseconds` is the time limit; zero means libcurl's default of five minutes.
    func connect(to target: ConnectTarget, milliseconds: Int, observer: any ConnectObserver) -> any ConnectAttempt {
        guard let trust = target.trust else { return open(target, milliseconds: milliseconds, observer: observer) }
        let limit = milliseconds > 0 ? milliseconds : Self.defaultMilliseconds
        let attempt = SecureAttempt(
            self, on: loop, to: target, judgedBy: judge(for: target, by: trust), deadline: loop.now.advanced(milliseconds: limit),
            observer: observer)
        secureAttempts[ObjectIdentifier(attempt)] = attempt
        attempt.begin(open(target, milliseconds: milliseconds, observer: attempt))
        return attempt
    }

    private func open(_ target: ConnectTarget, milliseconds: Int, observer: any ConnectObserver) -> any ConnectAttempt {
        if let proxy = target.tunnelProxy {
            if proxy.scheme == .https { return openTunnel(to: target, through: proxy, milliseconds, observer) }
            if proxy.scheme == .socks5, !target.looksUpOnly {
                return SOCKSAttempt(self, on: loop, to: target, milliseconds: milliseconds, observer: observer)
            }
        }
        return openPlainly(target, milliseconds: milliseconds, observer: observer)
    }

    private func openTunnel(
        to target: ConnectTarget, through proxy: UpstreamProxy, _ milliseconds: Int, _ observer: any ConnectObserver
    ) -> any ConnectAttempt {
        let limit = milliseconds > 0 ? milliseconds : Self.defaultMilliseconds
        let attempt = ProxyTunnelAttempt(
            self, on: loop, to: target, through: proxy, deadline: loop.now.advanced(milliseconds: limit), observer: observer)
        tunnelAttempts[ObjectIdentifier(attempt)] = attempt
        attempt.begin(milliseconds: milliseconds)
        return attempt
    }

    /// Opens a connection without TLS: to the target itself, or through a proxy without TLS.
    func openPlainly(_ target: ConnectTarget, milliseconds: Int, observer: any ConnectObserver) -> any ConnectAttempt {
        if let address = target.onlyAddress {
            return DirectAttempt(
                loop, to: address, port: target.port, policy: addresses, milliseconds: milliseconds, observer: observer)
        }
        guard waiting.isEmpty, lookUpsUnderWay < lookUpLimit else {
            let limit = milliseconds > 0 ? milliseconds : Self.defaultMilliseconds
            let attempt = QueuedAttempt(self, target, deadline: loop.now.advanced(milliseconds: limit), observer: observer)
            waiting.append(attempt)
            planNudge(milliseconds: Self.nudgeMilliseconds)
            return attempt
        }
        return begin(target, milliseconds: milliseconds, observer: observer)
    }

    /// How long a lookup in the C library may continue after its timeout: 5 s for each of three servers, twice
    /// (resolv.conf(5)). The library does not report its end.
    private static let lookUpMilliseconds = 30_000
    /// The minimum time that a queued attempt must have left to begin.
    private static let leastMilliseconds: Int64 = 100
    /// libcurl's default time limit.
    private static let defaultMilliseconds = 300_000

    private func begin(_ target: ConnectTarget, milliseconds: Int, observer: any ConnectObserver) -> any ConnectAttempt {
        let (easy, lists) = handles.take(self, for: target, milliseconds: milliseconds)
        let attempt = CurlAttempt(
            self, easy: easy, lists: lists, addresses: target.looksUpOnly ? destinations : addresses,
            looksUpOnly: target.looksUpOnly, began: loop.now, observer: observer)
        attempts[easy] = attempt
        lookUpCount += 1
        check(curl_multi_add_handle(multi, easy))
        planNudge(milliseconds: Self.nudgeMilliseconds)
        return attempt
    }

    /// Begins the attempts whose turn has come, and fails those with too little time left: for them a lookup would be wasted.
    func beginWaiting() {
        isTurnPlanned = false
        overdue.removeAll { $0 <= loop.now }
        while let next = waiting.first, !isClosed {
            let left = next.deadline.milliseconds(since: loop.now)
            let isOver = left < Self.leastMilliseconds || next.observer == nil || !gate.isOpen(to: next.target.host)
            guard isOver || lookUpsUnderWay < lookUpLimit else { return }
            waiting.removeFirst()
            if next.observer == nil { cancelledCount -= 1 }
            if left < Self.leastMilliseconds {
                next.fail(.timedOut(.nameLookUp))
            } else if !gate.isOpen(to: next.target.host) {
                next.fail(.egressClosed)
            } else {
                next.begin { begin(next.target, milliseconds: left, observer: $0) }
            }
        }
    }

    /// Ends every attempt and releases libcurl's resources.
    func close() {
        isClosed = true
        for attempt in Array(tunnelAttempts.values) { attempt.cancel() }
        for relay in Array(relays.values) { relay.close() }
        for attempt in Array(secureAttempts.values) { attempt.cancel() }
        let unbegun = waiting
        waiting = []
        for attempt in unbegun { attempt.cancel() }
        for attempt in Array(attempts.values) { end(attempt) }
        handles.removeAll()
        _ = curl_multi_cleanup(multi)
        for socket in watched.values { loop.deregister(socket.registration) }
        watched = [:]
        if let timer { loop.removeTimer(timer) }
        if let nudgeTimer { loop.removeTimer(nudgeTimer) }
        timer = nil
        nudgeTimer = nil
    }

    /// Stops reporting the attempt, because no caller waits for it now. Its name lookup may continue: if the handle were removed now,
    /// libcurl would leave the lookup to a thread that is not counted.
    func letGo(_ attempt: CurlAttempt) {
        attempt.observer = nil
        if attempt.hasAddress { end(attempt) }
    }

    /// Called when a queued attempt was cancelled.
    func noteCancelled() {
        cancelledCount += 1
        guard cancelledCount > waiting.count / 2 else { return }
        waiting.removeAll { $0.observer == nil }
        cancelledCount = 0
    }

    /// The number of lookups in progress, including those that no caller waits for.
    var lookUpsUnderWay: Int { lookUpCount + overdue.count }

    /// Called when an attempt's first address is known, and when an attempt ends without one.
    func noteLookedUp() {
        lookUpCount -= 1
        // Queued attempts begin at the end of the batch: this method may run in a libcurl callback, and the observer of an ended attempt
        // may close the connector next.
        if waiting.isEmpty || isTurnPlanned { return }
        isTurnPlanned = true
        loop.atEndOfBatch(CurlWaitBatch(self))
    }

    private func end(_ attempt: CurlAttempt) {
        guard attempts.removeValue(forKey: attempt.easy) != nil else { return }
        attempt.observer = nil
        release(attempt)
        if !attempt.hasAddress { noteLookedUp() }
    }

    /// Takes back the handle of an attempt that has ended.
    private func release(_ attempt: CurlAttempt) {
        check(curl_multi_remove_handle(multi, attempt.easy))
        handles.put(attempt.easy)
    }

    private func check(_ code: CURLMcode) {
        precondition(code == CURLM_OK, "libcurl's multi interface was misused")
    }

    // MARK: TLS

    private func judge(for target: ConnectTarget, by trust: TrustPolicy) -> HandshakeJudge {
        let key = target.resumption.flatMap { sessions.admits($0, at: loop.now) ? $0 : nil }
        return HandshakeJudge(
            policy: trust, host: target.host, identity: target.identity, writeKeys: writeKeys,
            resuming: key.flatMap(sessions.take),
            keep: key.map { [sessions] key in { session in sessions.keep(session, for: key) } }
        ) { [loop] in
            Timestamp(milliseconds: loop.wallClockMilliseconds)
        }
    }

    func makeSession(judgedBy judge: HandshakeJudge, offering protocols: [String]) -> TLSSession? {
        context.flatMap { TLSSession($0, judgedBy: judge, offering: protocols) }
    }

    /// Notes what the handshake has shown: whether the server declined to resume a session, and whether report-only pins matched.
    func didJudge(_ judge: HandshakeJudge, for target: ConnectTarget) {
        if judge.hasDeclined, let key = target.resumption { sessions.noteDeclined(key, at: loop.now) }
        guard let audit, let verdict = judge.verdict, verdict.pinsAreOnlyReported else { return }
        audit.note(verdict, host: judge.host, port: target.port, at: Timestamp(milliseconds: loop.wallClockMilliseconds))
    }

    func note(_ result: HandshakeCounts.Result) { handshakes.note(result) }

    func ended(_ attempt: SecureAttempt) { secureAttempts[ObjectIdentifier(attempt)] = nil }

    // MARK: Tunnels through proxies with TLS

    /// Tunnels that are open through proxies with TLS.
    var relayCount: Int { relays.count }

    func ended(_ attempt: ProxyTunnelAttempt) { tunnelAttempts[ObjectIdentifier(attempt)] = nil }

    func keep(_ relay: ProxyRelay) { relays[ObjectIdentifier(relay)] = relay }

    func ended(_ relay: ProxyRelay) { relays[ObjectIdentifier(relay)] = nil }

    // MARK: Calls to libcurl

    func act(_ descriptor: Int32, _ events: Int32) {
        var running: Int32 = 0
        _ = curl_multi_socket_action(multi, descriptor, events, &running)
        collectFinished()
    }

    func kick() {
        isKickPlanned = false
        guard timer != nil else { return }
        act(CURL_SOCKET_TIMEOUT, 0)
    }

    /// Runs every attempt from time to time, and soon after an attempt has lost its socket. libcurl tries the next address after one has
    /// refused the connection, or has used up half of the time. But in the meantime libcurl has no socket and sets no timer, so only this
    /// call lets it continue.
    func nudge() {
        nextNudge = .never
        if isClosed || (attempts.isEmpty && waiting.isEmpty) { return }
        planNudge(milliseconds: Self.nudgeMilliseconds)
        var running: Int32 = 0
        _ = larder_curl_multi_run_all(multi, &running)
        collectFinished()
    }

    private static let nudgeMilliseconds = 250

    /// Plans a call of `nudge` after this time, unless an earlier call is planned.
    private func planNudge(milliseconds: Int) {
        let next = loop.now.advanced(milliseconds: milliseconds)
        guard let nudgeTimer, next < nextNudge else { return }
        nextNudge = next
        loop.setTimer(nudgeTimer, at: next)
    }

    private func collectFinished() {
        var left: Int32 = 0
        // An observer that learns that its attempt failed may close the connector.
        while !isClosed, let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            finish(easy, code: larder_curl_message_result(message))
        }
        beginWaiting()
    }

    private func finish(_ easy: UnsafeMutableRawPointer, code: CURLcode) {
        guard let attempt = attempts.removeValue(forKey: easy) else { return }
        let observer = attempt.observer
        attempt.observer = nil
        if !attempt.hasAddress { noteLookedUp() }
        if code == CURLE_OK, let observer, let peer = takePeer(of: attempt) { return observer.didConnect(peer) }
        if let address = attempt.foundAddress {
            release(attempt)
            observer?.didConnect(ConnectedPeer(descriptor: -1, address: address))
            return
        }
        let error = Self.error(code, of: attempt)
        if error == .timedOut(.nameLookUp) { overdue.append(attempt.began.advanced(milliseconds: Self.lookUpMilliseconds)) }
        release(attempt)
        observer?.didFailToConnect(error)
    }

    /// Takes the connected socket from libcurl.
    private func takePeer(of attempt: CurlAttempt) -> ConnectedPeer? {
        var descriptor: curl_socket_t = -1
        guard larder_curl_get_socket(attempt.easy, &descriptor) == CURLE_OK, descriptor >= 0 else { return nil }
        var peer = ConnectedPeer(descriptor: descriptor, address: attempt.remoteAddress(of: descriptor))
        peer.lookUpTime = attempt.lookUpTime
        unwatch(descriptor)
        keptDescriptor = descriptor
        release(attempt)
        keptDescriptor = -1
        return peer
    }

    private static func error(_ code: CURLcode, of attempt: CurlAttempt) -> TransportError {
        var number = 0
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            return .nameNotResolved
        case CURLE_OPERATION_TIMEDOUT:
            return .timedOut(attempt.hasAddress ? .connect : .nameLookUp)
        case CURLE_COULDNT_CONNECT:
            if let refusal = attempt.firstRefusal { return refusal }
            if attempt.opened.isEmpty, attempt.socketError != 0 { return .outOfResources(code: attempt.socketError) }
            _ = larder_curl_get_long(attempt.easy, CURLINFO_OS_ERRNO, &number)
            return number == Int(ECONNREFUSED) ? .connectionRefused : .connectionFailed(code: Int32(number))
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_WEIRD_SERVER_REPLY, CURLE_PROXY:
            // libcurl receives only one response: the proxy's response to the tunnel request.
            _ = larder_curl_get_long(attempt.easy, CURLINFO_HTTP_CONNECTCODE, &number)
            return .tunnelRefused(status: number)
        case CURLE_OUT_OF_MEMORY:
            return .outOfResources(code: ENOMEM)
        default:
            return .connectionFailed(code: 0)
        }
    }

    // MARK: Callbacks of libcurl

    func watch(_ descriptor: Int32, _ what: Int32) {
        if what == CURL_POLL_REMOVE {
            unwatch(descriptor)
            return planNudge(milliseconds: 1)
        }
        var interest = Interest()
        if what & CURL_POLL_IN != 0 { interest.insert(.read) }
        if what & CURL_POLL_OUT != 0 { interest.insert(.write) }
        if let socket = watched[descriptor] {
            loop.modify(socket.registration, interest)
            return
        }
        let socket = WatchedSocket(self, descriptor)
        // If the kernel refuses to watch the descriptor, the attempt ends by its timeout.
        guard let registration = try? loop.register(descriptor, interest, handler: socket) else { return }
        socket.registration = registration
        watched[descriptor] = socket
    }

    private func unwatch(_ descriptor: Int32) {
        guard let socket = watched.removeValue(forKey: descriptor) else { return }
        loop.deregister(socket.registration)
    }

    func setTimer(milliseconds: Int) {
        guard let timer else { return }
        if milliseconds < 0 {
            loop.cancelTimer(timer)
        } else if milliseconds == 0 {
            loop.cancelTimer(timer)
            planKick()
        } else {
            loop.setTimer(timer, afterMilliseconds: milliseconds)
        }
    }

    private func planKick() {
        if isKickPlanned { return }
        isKickPlanned = true
        loop.atEndOfBatch(CurlActionBatch(self))
    }
}
