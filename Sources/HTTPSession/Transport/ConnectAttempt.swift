import CCurl
import CLinux
import EventLoop
import Glibc
import HTTPMessage

/// Where to connect to, and how.
struct ConnectTarget {
    var host: String
    var port: UInt16
    /// Connect here instead of looking the host up.
    var address: IPAddress?
    /// Ask this proxy for a tunnel (CONNECT) to the host. `nil` connects to it.
    var tunnelProxy: UpstreamProxy?
}

/// Hears how an attempt ended, once, and never from within `Connector.connect`.
protocol ConnectObserver: AnyObject {
    /// The descriptor is the observer's from here on.
    func attempt(_ attempt: ConnectAttempt, didConnect descriptor: Int32, to address: IPAddress?)
    func attempt(_ attempt: ConnectAttempt, didFailWith error: TransportError)
}

/// One attempt to connect, from name look-up to a connected socket; libcurl does the work. Confined to its loop.
final class ConnectAttempt {
    fileprivate(set) weak var connector: Connector?
    fileprivate(set) var observer: (any ConnectObserver)?
    fileprivate let easy: UnsafeMutableRawPointer
    fileprivate let addresses: AddressPolicy
    fileprivate var lists: [UnsafeMutablePointer<curl_slist>] = []
    fileprivate var opened: [(descriptor: Int32, address: IPAddress)] = []
    fileprivate var firstProhibited: IPAddress?
    fileprivate var socketError: Int32 = 0

    fileprivate init(easy: UnsafeMutableRawPointer, addresses: AddressPolicy, observer: any ConnectObserver) {
        self.easy = easy
        self.addresses = addresses
        self.observer = observer
    }

    deinit {
        for list in lists { curl_slist_free_all(list) }
    }

    /// Whether the name is looked up, so that a time-out can say what it waited for.
    var hasAddress: Bool { !opened.isEmpty || firstProhibited != nil }

    /// Ends the attempt at once, also while the name is being looked up; the observer hears nothing any more.
    func cancel() { connector?.end(self) }

    /// libcurl asks for a socket for this address: the place where the address policy is kept (T03, T04).
    fileprivate func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        let raw = UnsafeRawPointer(larder_curl_address(address))
        guard let raw, let remote = IPAddress(sockaddr: raw, length: Int(address.pointee.addrlen)) else { return -1 }
        if !addresses.permits(remote) {
            if firstProhibited == nil { firstProhibited = remote }
            return -1
        }
        let type = address.pointee.socktype | larder_sock_nonblock | larder_sock_cloexec
        let descriptor = socket(address.pointee.family, type, address.pointee.protocol)
        if descriptor < 0 { socketError = errno } else { opened.append((descriptor, remote)) }
        return descriptor
    }

    fileprivate func remoteAddress(of descriptor: Int32) -> IPAddress? {
        opened.last { $0.descriptor == descriptor }?.address
    }
}

/// libcurl's multi interface in the loop: names looked up off the loop, happy eyeballs, tunnels through proxies.
///
/// libcurl connects and no more (`CONNECT_ONLY`). The connected socket is then taken from it: its close callback lets the
/// descriptor live while the easy handle goes back to be used for the next attempt. A TLS connection will keep its handle.
///
/// Moves: `connect` adds a handle; sockets and timers drive it through `act`; each finished attempt is reported from
/// `collectFinished`, outside of any libcurl callback. A timer callback never calls libcurl: zero means "at the batch's end".
final class Connector {
    private let loop: EventLoop
    private let multi: UnsafeMutableRawPointer
    private let addresses: AddressPolicy
    private var timer: TimerID?
    private var isKickPlanned = false
    private var watched: [Int32: WatchedSocket] = [:]
    private var spareHandles: [UnsafeMutableRawPointer] = []
    private var attempts: [UnsafeMutableRawPointer: ConnectAttempt] = [:]
    fileprivate var keptDescriptor: Int32 = -1

    private static let spareHandleLimit = 16
    /// Once for the process, before any handle is made.
    private static let isReady: Bool = larder_curl_global_init() == CURLE_OK

    init(loop: EventLoop, addresses: AddressPolicy) {
        precondition(Self.isReady, "libcurl did not initialise")
        guard let multi = curl_multi_init() else { preconditionFailure("out of memory") }
        self.loop = loop
        self.multi = multi
        self.addresses = addresses
        // The callbacks' pointer is good until `close`, which the owner calls before it lets go.
        let this = Unmanaged.passUnretained(self).toOpaque()
        check(larder_curl_multi_set_socket(multi, onSocket))
        check(larder_curl_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, this))
        check(larder_curl_multi_set_timer(multi, onTimer))
        check(larder_curl_multi_set_pointer(multi, CURLMOPT_TIMERDATA, this))
        timer = loop.makeTimer(ConnectorTimer(self))
    }

    var attemptCount: Int { attempts.count }

    /// Begins to connect. `milliseconds` is libcurl's own limit; zero is its default of five minutes.
    func connect(to target: ConnectTarget, milliseconds: Int, observer: any ConnectObserver) -> ConnectAttempt {
        let easy = spareHandles.popLast() ?? makeHandle()
        let attempt = ConnectAttempt(easy: easy, addresses: addresses, observer: observer)
        attempt.connector = self
        attempts[easy] = attempt
        prepare(easy, for: attempt, target: target, milliseconds: milliseconds)
        check(curl_multi_add_handle(multi, easy))
        return attempt
    }

    /// Ends every attempt and frees what libcurl holds.
    func close() {
        for attempt in Array(attempts.values) { end(attempt) }
        for easy in spareHandles { curl_easy_cleanup(easy) }
        spareHandles = []
        _ = curl_multi_cleanup(multi)
        for socket in watched.values { loop.deregister(socket.registration) }
        watched = [:]
        if let timer { loop.removeTimer(timer) }
        timer = nil
    }

    fileprivate func end(_ attempt: ConnectAttempt) {
        guard attempts.removeValue(forKey: attempt.easy) != nil else { return }
        attempt.observer = nil
        check(curl_multi_remove_handle(multi, attempt.easy))
        release(attempt.easy)
    }

    // MARK: Handles

    private func makeHandle() -> UnsafeMutableRawPointer {
        guard let easy = curl_easy_init() else { preconditionFailure("out of memory") }
        let this = Unmanaged.passUnretained(self).toOpaque()
        set(easy, CURLOPT_CONNECT_ONLY, 1)
        set(easy, CURLOPT_NOSIGNAL, 1)
        // Without it, ending an attempt would wait for a resolver that hangs.
        set(easy, CURLOPT_QUICK_EXIT, 1)
        // Nothing is read from the environment or from files (T47, T48).
        set(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        set(easy, CURLOPT_FOLLOWLOCATION, 0)
        set(easy, CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        set(easy, CURLOPT_HTTP09_ALLOWED, 0)
        set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(easy, CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
        checkEasy(larder_curl_set_opensocket(easy, onOpenSocket))
        checkEasy(larder_curl_set_closesocket(easy, onCloseSocket))
        checkEasy(larder_curl_set_pointer(easy, CURLOPT_CLOSESOCKETDATA, this))
        return easy
    }

    private func prepare(
        _ easy: UnsafeMutableRawPointer, for attempt: ConnectAttempt, target: ConnectTarget, milliseconds: Int
    ) {
        let origin = Origin(scheme: .http, host: target.host, port: target.port)
        set(easy, CURLOPT_URL, "http://\(origin.authority)/")
        set(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds)
        checkEasy(larder_curl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, Unmanaged.passUnretained(attempt).toOpaque()))
        var connectTo: UnsafeMutablePointer<curl_slist>?
        if let address = target.address {
            let written = address.family == .ipv6 ? "[\(address)]" : "\(address)"
            connectTo = curl_slist_append(nil, "::\(written):")
        }
        checkEasy(larder_curl_set_list(easy, CURLOPT_CONNECT_TO, connectTo))
        var proxyFields: UnsafeMutablePointer<curl_slist>?
        if let proxy = target.tunnelProxy {
            set(easy, CURLOPT_PROXY, "http://\(proxy.origin.authority)")
            set(easy, CURLOPT_NOPROXY, "")
            set(easy, CURLOPT_HTTPPROXYTUNNEL, 1)
            proxyFields = curl_slist_append(nil, "Proxy-Connection:")
            if let authorization = proxy.authorization {
                proxyFields = curl_slist_append(
                    proxyFields, "Proxy-Authorization: \(String(decoding: authorization, as: UTF8.self))")
            }
        } else {
            set(easy, CURLOPT_PROXY, "")
            set(easy, CURLOPT_NOPROXY, "*")
            set(easy, CURLOPT_HTTPPROXYTUNNEL, 0)
        }
        checkEasy(larder_curl_set_list(easy, CURLOPT_PROXYHEADER, proxyFields))
        // libcurl does not copy lists: they live as long as the attempt.
        attempt.lists = [connectTo, proxyFields].compactMap { $0 }
    }

    private func release(_ easy: UnsafeMutableRawPointer) {
        // The lists go with their attempt.
        checkEasy(larder_curl_set_list(easy, CURLOPT_CONNECT_TO, nil))
        checkEasy(larder_curl_set_list(easy, CURLOPT_PROXYHEADER, nil))
        checkEasy(larder_curl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, nil))
        if spareHandles.count < Self.spareHandleLimit { spareHandles.append(easy) } else { curl_easy_cleanup(easy) }
    }

    private func set(_ easy: UnsafeMutableRawPointer, _ option: CURLoption, _ value: Int) {
        checkEasy(larder_curl_set_long(easy, option, value))
    }

    private func set(_ easy: UnsafeMutableRawPointer, _ option: CURLoption, _ value: String) {
        checkEasy(larder_curl_set_text(easy, option, value))
    }

    private func checkEasy(_ code: CURLcode) {
        precondition(code == CURLE_OK, "libcurl refused an option")
    }

    private func check(_ code: CURLMcode) {
        precondition(code == CURLM_OK, "libcurl's multi interface was misused")
    }

    // MARK: Driving

    fileprivate func act(_ descriptor: Int32, _ events: Int32) {
        var running: Int32 = 0
        _ = curl_multi_socket_action(multi, descriptor, events, &running)
        collectFinished()
    }

    fileprivate func kick() {
        isKickPlanned = false
        guard timer != nil else { return }
        act(CURL_SOCKET_TIMEOUT, 0)
    }

    private func collectFinished() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            finish(easy, code: larder_curl_message_result(message))
        }
    }

    private func finish(_ easy: UnsafeMutableRawPointer, code: CURLcode) {
        guard let attempt = attempts.removeValue(forKey: easy), let observer = attempt.observer else { return }
        attempt.observer = nil
        var descriptor: curl_socket_t = -1
        if code == CURLE_OK, larder_curl_get_socket(easy, &descriptor) == CURLE_OK, descriptor >= 0 {
            unwatch(descriptor)
            keptDescriptor = descriptor
        }
        let error = code == CURLE_OK ? TransportError.connectionFailed(code: 0) : Self.error(code, of: attempt)
        check(curl_multi_remove_handle(multi, easy))
        keptDescriptor = -1
        release(easy)
        if descriptor >= 0 {
            observer.attempt(attempt, didConnect: descriptor, to: attempt.remoteAddress(of: descriptor))
        } else {
            observer.attempt(attempt, didFailWith: error)
        }
    }

    private static func error(_ code: CURLcode, of attempt: ConnectAttempt) -> TransportError {
        var number = 0
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            return .nameNotResolved
        case CURLE_OPERATION_TIMEDOUT:
            return .timedOut(attempt.hasAddress ? .connect : .nameLookUp)
        case CURLE_COULDNT_CONNECT:
            if let address = attempt.firstProhibited { return .destinationProhibited(address) }
            if attempt.opened.isEmpty, attempt.socketError != 0 { return .outOfResources(code: attempt.socketError) }
            _ = larder_curl_get_long(attempt.easy, CURLINFO_OS_ERRNO, &number)
            return number == Int(ECONNREFUSED) ? .connectionRefused : .connectionFailed(code: Int32(number))
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_WEIRD_SERVER_REPLY, CURLE_PROXY:
            // Only a tunnel through a proxy speaks before it is connected.
            _ = larder_curl_get_long(attempt.easy, CURLINFO_HTTP_CONNECTCODE, &number)
            return .tunnelRefused(status: number)
        case CURLE_OUT_OF_MEMORY:
            return .outOfResources(code: ENOMEM)
        default:
            return .connectionFailed(code: 0)
        }
    }

    // MARK: What libcurl asks for

    fileprivate func watch(_ descriptor: Int32, _ what: Int32) {
        if what == CURL_POLL_REMOVE {
            unwatch(descriptor)
            return
        }
        var interest = Interest()
        if what & CURL_POLL_IN != 0 { interest.insert(.read) }
        if what & CURL_POLL_OUT != 0 { interest.insert(.write) }
        if let socket = watched[descriptor] {
            loop.modify(socket.registration, interest)
            return
        }
        let socket = WatchedSocket(self, descriptor)
        // Where the kernel refuses to watch, the attempt ends by its time limit.
        guard let registration = try? loop.register(descriptor, interest, handler: socket) else { return }
        socket.registration = registration
        watched[descriptor] = socket
    }

    private func unwatch(_ descriptor: Int32) {
        guard let socket = watched.removeValue(forKey: descriptor) else { return }
        loop.deregister(socket.registration)
    }

    fileprivate func setTimer(milliseconds: Int) {
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
        loop.atEndOfBatch(ConnectorKick(self))
    }
}

/// A socket that libcurl wants to be watched.
private final class WatchedSocket: EventHandler {
    private weak var connector: Connector?
    private let descriptor: Int32
    var registration: Registration!

    init(_ connector: Connector, _ descriptor: Int32) {
        self.connector = connector
        self.descriptor = descriptor
    }

    func ready(_ events: ReadyEvents) {
        var bits: Int32 = 0
        if !events.isDisjoint(with: [.readable, .peerClosed, .hungUp]) { bits |= CURL_CSELECT_IN }
        if events.contains(.writable) { bits |= CURL_CSELECT_OUT }
        if events.contains(.failed) { bits |= CURL_CSELECT_ERR }
        connector?.act(descriptor, bits)
    }
}

private final class ConnectorTimer: TimerHandler {
    private weak var connector: Connector?
    init(_ connector: Connector) { self.connector = connector }
    func deadlinePassed(_ timer: TimerID) { connector?.kick() }
}

private final class ConnectorKick: BatchHandler {
    private weak var connector: Connector?
    init(_ connector: Connector) { self.connector = connector }
    func batchEnded() { connector?.kick() }
}

// MARK: - Callbacks from libcurl, always on the loop's thread

private func onSocket(
    _ easy: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t, _ what: Int32, _ connector: UnsafeMutableRawPointer?,
    _ socket: UnsafeMutableRawPointer?
) -> Int32 {
    guard let connector else { return 0 }
    Unmanaged<Connector>.fromOpaque(connector).takeUnretainedValue().watch(descriptor, what)
    return 0
}

private func onTimer(_ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ connector: UnsafeMutableRawPointer?) -> Int32 {
    guard let connector else { return 0 }
    Unmanaged<Connector>.fromOpaque(connector).takeUnretainedValue().setTimer(milliseconds: milliseconds)
    return 0
}

private func onOpenSocket(
    _ attempt: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let attempt, let address else { return -1 }
    return Unmanaged<ConnectAttempt>.fromOpaque(attempt).takeUnretainedValue().openSocket(address)
}

private func onCloseSocket(_ connector: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t) -> Int32 {
    if let connector, Unmanaged<Connector>.fromOpaque(connector).takeUnretainedValue().keptDescriptor == descriptor { return 0 }
    return close(descriptor)
}
