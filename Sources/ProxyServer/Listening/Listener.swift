import CLarderLinux
import EventLoop
import Glibc
import ProxyCore

/// One listening socket, on the first loop; accepted connections go to the loop with the fewest.
///
/// It pauses accepting and logs a warning when the process has no descriptors left. It also does so when both limits are reached: the
/// limit of connected clients, and the limit of clients that are being refused. Meanwhile new clients wait in the kernel's queue, and
/// open connections continue.
final class Listener: EventHandler, TimerHandler, BatchHandler {
    /// The server that the clients connect to.
    enum Clients {
        /// The proxy. The associated value is the listener's index in the settings.
        case ofProxy(number: Int)
        /// An origin. These names tell which host a reserved address belongs to.
        case ofOrigins(ReservedNames)
    }

    private unowned let worker: LoopWorker
    private let socket: ListeningSocket
    private let clients: Clients
    private let loops: [LoopHandle]
    private var registration: Registration?
    private var timer: TimerID?
    private static let pauseMilliseconds = 100
    private var warning = RareWarning()
    /// The last batch in which connections were accepted, and the number of connections that the listener tries to accept in a batch.
    private var lastBatch: UInt64 = 0
    private var expectedCount = 1

    init(_ worker: LoopWorker, socket: ListeningSocket, for clients: Clients, loops: [LoopHandle]) throws(SystemError) {
        self.worker = worker
        self.socket = socket
        self.clients = clients
        self.loops = loops
        registration = try worker.loop.register(socket.descriptor, .read, handler: self)
        timer = worker.loop.makeTimer(self)
    }

    /// Accepts connections at the end of the batch, because other events may free resources for them.
    func ready(_ events: ReadyEvents) { worker.loop.atEndOfBatch(self) }

    /// The maximum number of connections accepted in each batch: existing clients wait while these are accepted.
    private static let mostInBatch = 4

    /// Accepts one connection, or more if the previous batch had new connections too: looking for a second one costs a system call.
    func batchEnded() {
        let batch = worker.loop.batchCount
        expectedCount = batch == lastBatch &+ 1 ? min(expectedCount * 2, Self.mostInBatch) : 1
        lastBatch = batch
        for _ in 0..<expectedCount where !acceptOne() { return }
    }

    /// - Returns: whether there may be another connection.
    private func acceptOne() -> Bool {
        guard registration != nil else { return false }
        if isFull, !worker.canRefuse {
            pause("\(worker.settings.connectionLimit) connections are open")
            return false
        }
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let descriptor = withUnsafeMutablePointer(to: &address) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                accept4(socket.descriptor, $0, &length, larder_sock_nonblock | larder_sock_cloexec)
            }
        }
        if descriptor < 0 {
            acceptFailed(errno)
            return false
        }
        accepted(descriptor, PeerAddress(address))
        return true
    }

    func deadlinePassed(_ timer: TimerID) {
        if let registration { worker.loop.modify(registration, .read) }
    }

    /// Accepts no more connections; the kernel resets those that wait in its queue.
    func close() {
        guard let registration else { return }
        worker.loop.deregister(registration)
        if let timer { worker.loop.removeTimer(timer) }
        self.registration = nil
        socket.close()
    }

    private func accepted(_ descriptor: Int32, _ peer: PeerAddress) {
        let settings = worker.settings
        let tls: ListenerTLS?
        let origin: TransparentOrigin?
        switch clients {
        case .ofProxy(let number): (tls, origin) = (settings.tls(ofListener: number), nil)
        case .ofOrigins(let names):
            guard let found = names.origin(at: PeerAddress(localOf: descriptor)) else { return reset(descriptor) }
            (tls, origin) = (nil, found)
        }
        let isSecure = tls != nil || origin?.isSecure == true
        guard settings.admission.allows(peer, isCertified: tls?.asksForCertificates == true) else {
            return refuse(descriptor, peer, .clientNotAllowed, isSecure: isSecure)
        }
        if isFull {
            warn("\(settings.connectionLimit) connections are open, the maximum: Larder refuses further connections")
            return refuse(descriptor, peer, .overloaded, isSecure: isSecure)
        }
        var one: Int32 = 1
        _ = setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        let chosen = worker.shared.counts.opened()
        if chosen == worker.index {
            return worker.adopt(descriptor: descriptor, peer: peer, tls: tls, origin: origin)
        }
        let wasTaken = loops[chosen].post { loop in
            (loop.owner as? LoopWorker)?.adoptAccepted(descriptor: descriptor, peer: peer, tls: tls, origin: origin)
        }
        if !wasTaken {
            closeDescriptor(descriptor)
            worker.shared.counts.closed(on: chosen)
        }
    }

    /// Closes a connection to a reserved address that belongs to no name.
    private func reset(_ descriptor: Int32) {
        warn("a client connected to a reserved address that Larder has assigned to no host name: Larder closes such connections")
        resetOnClose(descriptor)
        closeDescriptor(descriptor)
    }

    /// Sends the client an error. A TLS client could not read a plain-text error, so its connection is only closed.
    private func refuse(_ descriptor: Int32, _ peer: PeerAddress, _ fault: Fault, isSecure: Bool) {
        if isSecure { return closeDescriptor(descriptor) }
        worker.refuse(descriptor: descriptor, peer: peer, fault)
    }

    private func acceptFailed(_ code: Int32) {
        switch code {
        case EAGAIN, EINTR, ECONNABORTED: break
        default: pause("\(String(cString: strerror(code)))")
        }
    }

    private var isFull: Bool { worker.shared.counts.total >= worker.settings.connectionLimit }

    private func pause(_ reason: String) {
        warn("cannot accept connections: \(reason); waiting")
        if let registration { worker.loop.modify(registration, Interest()) }
        if let timer { worker.loop.setTimer(timer, afterMilliseconds: Self.pauseMilliseconds) }
    }

    private func warn(_ text: @autoclosure () -> String) {
        if warning.isDue(at: worker.loop.now) { worker.shared.warn(text()) }
    }
}
