import CLarderLinux
import EventLoop
import Glibc
import HTTPMessage

/// One attempt to connect to a known address. Without lookup and alternatives it needs a third of the system calls that libcurl
/// needs in the general case (docs/decisions/0009). Confined to its loop.
///
/// States and moves: `decided` (reported at the end of the batch) → `ended`; `connecting` (watched, with a time limit) → `ended`.
final class DirectAttempt: ConnectAttempt, EventHandler, TimerHandler, BatchHandler {
    private enum State {
        case decided(Result<Int32, TransportError>)
        case connecting(Registration, TimerID?)
        case ended
    }

    private let loop: EventLoop
    private let address: IPAddress
    private var observer: (any ConnectObserver)?
    private var state = State.ended

    /// If `milliseconds` is zero, only the kernel's time limit applies, which is about two minutes.
    init(
        _ loop: EventLoop, to address: IPAddress, port: UInt16, policy: AddressPolicy, milliseconds: Int,
        observer: any ConnectObserver
    ) {
        self.loop = loop
        self.address = address
        self.observer = observer
        let refusal = policy.refusal(of: address, port: port)
        state = refusal.map { State.decided(.failure($0)) } ?? begin(port: port, milliseconds: milliseconds)
        if case .decided = state { loop.atEndOfBatch(self) }
    }

    func cancel() {
        observer = nil
        switch state {
        case .decided(.success(let descriptor)): Glibc.close(descriptor)
        case .decided(.failure), .ended: break
        case .connecting(let registration, let timer): giveUp(registration, timer)
        }
        state = .ended
    }

    func batchEnded() {
        if case .decided(let result) = state { tell(result) }
    }

    func ready(_ events: ReadyEvents) {
        guard case .connecting(let registration, let timer) = state else { return }
        let descriptor = registration.descriptor
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        if getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) != 0 { code = errno }
        state = .ended
        loop.deregister(registration)
        if let timer { loop.removeTimer(timer) }
        tell(code == 0 ? .success(descriptor) : failure(descriptor, code))
    }

    func deadlinePassed(_ timer: TimerID) {
        guard case .connecting(let registration, let timer) = state else { return }
        giveUp(registration, timer)
        tell(.failure(.timedOut(.connect)))
    }

    private func begin(port: UInt16, milliseconds: Int) -> State {
        let family = address.family == .ipv4 ? AF_INET : AF_INET6
        let descriptor = socket(family, larder_sock_stream | larder_sock_nonblock | larder_sock_cloexec, 0)
        if descriptor < 0 { return .decided(.failure(.outOfResources(code: errno))) }
        var one: Int32 = 1
        // If the kernel refuses the option, small writes may be delayed, but nothing fails.
        _ = setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        var code = connect(descriptor, port: port)
        // `connect` is called again at once: a server on this machine has accepted the connection before the first call returns, so the
        // second call reports success.
        if code == EINPROGRESS { code = connect(descriptor, port: port) }
        switch code {
        case 0, EISCONN: return .decided(.success(descriptor))
        case EALREADY, EINPROGRESS, EINTR: return wait(for: descriptor, milliseconds: milliseconds)
        default: return .decided(failure(descriptor, code))
        }
    }

    private func wait(for descriptor: Int32, milliseconds: Int) -> State {
        do throws(SystemError) {
            let registration = try loop.register(descriptor, .write, handler: self)
            guard milliseconds > 0 else { return .connecting(registration, nil) }
            let timer = loop.makeTimer(self)
            loop.setTimer(timer, afterMilliseconds: milliseconds)
            return .connecting(registration, timer)
        } catch {
            Glibc.close(descriptor)
            return .decided(.failure(.outOfResources(code: error.code)))
        }
    }

    /// - Returns: zero, or the value of `errno`.
    private func connect(_ descriptor: Int32, port: UInt16) -> Int32 {
        address.withSocketAddress(port: port) { Glibc.connect(descriptor, $0, $1) } == 0 ? 0 : errno
    }

    private func failure(_ descriptor: Int32, _ code: Int32) -> Result<Int32, TransportError> {
        Glibc.close(descriptor)
        return .failure(code == ECONNREFUSED ? .connectionRefused : .connectionFailed(code: code))
    }

    private func giveUp(_ registration: Registration, _ timer: TimerID?) {
        state = .ended
        loop.close(registration)
        if let timer { loop.removeTimer(timer) }
    }

    private func tell(_ result: Result<Int32, TransportError>) {
        state = .ended
        let last = observer
        observer = nil
        switch result {
        case .success(let descriptor): last?.didConnect(ConnectedPeer(descriptor: descriptor, address: address))
        case .failure(let error): last?.didFailToConnect(error)
        }
    }
}
