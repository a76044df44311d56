import CLarderLinux
import EventLoop
import Glibc

/// A server on loopback that runs a test's script, on one thread for each connection.
///
/// The script runs once for each accepted connection, and owns the connection until it returns. `stop` ends everything and waits.
package final class ScriptedOrigin: Sendable {
    package typealias Script = @Sendable (borrowing OriginConnection) -> Void

    package let port: UInt16
    private let listener: Int32
    private let script: Script
    private let identity: TLSIdentity?
    private let state = Guarded(State())

    private struct State {
        var connectionCount = 0
        var open: Set<Int32> = []
        var peakOpenCount = 0
        var requestHeads: [String] = []
        var failedHandshakeCount = 0
        var threads: [pthread_t] = []
        var isStopped = false
    }

    /// - Parameter ipv6: Listens on `::1` instead of `127.0.0.1`.
    /// - Parameter isReachable: Listens on all addresses, for clients in another network.
    /// - Parameter port: 0 for any free port.
    /// - Parameter identity: Uses TLS with this identity; the script runs after the handshake.
    package init(
        ipv6: Bool = false, isReachable: Bool = false, port: UInt16 = 0, identity: TLSIdentity? = nil, script: @escaping Script
    ) {
        self.script = script
        self.identity = identity
        listener = socket(ipv6 ? AF_INET6 : AF_INET, larder_sock_stream | larder_sock_cloexec, 0)
        precondition(listener >= 0, "no socket")
        var one: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        if ipv6 { setsockopt(listener, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &one, socklen_t(MemoryLayout<Int32>.size)) }
        // Without `bind`, the kernel chooses a port on all addresses.
        if !isReachable { precondition(LoopbackAddress.bind(listener, ipv6: ipv6, port: port), "the port is taken") }
        listen(listener, 512)
        self.port = LoopbackAddress.localPort(of: listener)
        startThread { [self] in acceptAll() }
    }

    deinit { close(listener) }

    /// Connections accepted so far.
    package var connectionCount: Int { state.withLock { $0.connectionCount } }
    /// The maximum number of connections open at one time.
    package var peakOpenCount: Int { state.withLock { $0.peakOpenCount } }
    package var openCount: Int { state.withLock { $0.open.count } }
    /// Every request head read by `readHead`, in order of arrival.
    package var requestHeads: [String] { state.withLock { $0.requestHeads } }

    /// Connections that ended in the TLS handshake.
    package var failedHandshakeCount: Int { state.withLock { $0.failedHandshakeCount } }

    /// Closes the listener and all connections, and waits for their scripts to return.
    package func stop() {
        let threads: [pthread_t]? = state.withLock { state in
            if state.isStopped { return nil }
            state.isStopped = true
            for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
            return state.threads
        }
        // A thread can only be joined once.
        guard let threads else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        for thread in threads { pthread_join(thread, nil) }
        // Connections accepted between the two steps above.
        let late = state.withLock { $0.threads.dropFirst(threads.count) }
        for thread in late { pthread_join(thread, nil) }
    }

    func note(head: String) { state.withLock { $0.requestHeads.append(head) } }

    private func acceptAll() {
        while true {
            let descriptor = accept4(listener, nil, nil, larder_sock_cloexec)
            if descriptor < 0 { return }
            let number = state.withLock { state in
                state.connectionCount += 1
                state.open.insert(descriptor)
                state.peakOpenCount = max(state.peakOpenCount, state.open.count)
                return state.isStopped ? 0 : state.connectionCount
            }
            if number == 0 {
                ended(descriptor)
                return
            }
            startThread { [self] in
                serve(descriptor, number: number)
                ended(descriptor)
            }
        }
    }

    private func serve(_ descriptor: Int32, number: Int) {
        let session = identity.map { TLSServerSession($0, descriptor) }
        let connection = OriginConnection(origin: self, descriptor: descriptor, number: number, session: session)
        if let session, !session.accept() { return state.withLock { $0.failedHandshakeCount += 1 } }
        script(connection)
        session?.end()
    }

    private func ended(_ descriptor: Int32) {
        // Closed under the lock, so that `stop` never shuts down a descriptor that has been reused.
        state.withLock { state in
            state.open.remove(descriptor)
            _ = close(descriptor)
        }
    }

    private func startThread(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let box = Unmanaged.passRetained(ThreadBody(body))
        let code = pthread_create(&thread, nil, runThreadBody, box.toOpaque())
        precondition(code == 0, "no thread")
        state.withLock { $0.threads.append(thread) }
    }
}

private final class ThreadBody {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runThreadBody(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().body()
    return nil
}
