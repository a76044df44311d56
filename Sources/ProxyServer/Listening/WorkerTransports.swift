import EventLoop
import UpstreamTransport

/// The transports of one loop: the active one, and those of earlier settings until their requests have ended.
final class WorkerTransports: BatchHandler {
    private(set) var current: Transport
    @exclusivity(unchecked) private var retired: [Transport] = []
    private var isClosingPlanned = false
    /// Tunnels being opened, on all transports.
    var openingTunnels = 0
    private let loop: EventLoop

    init(_ current: Transport, on loop: EventLoop) {
        self.current = current
        self.loop = loop
    }

    func replace(by transport: Transport) {
        retired.append(current)
        current = transport
    }

    /// Deferred, because the transport itself may have reported the end of the exchange.
    func planClosing() {
        guard !retired.isEmpty, !isClosingPlanned else { return }
        isClosingPlanned = true
        loop.atEndOfBatch(self)
    }

    func batchEnded() {
        isClosingPlanned = false
        guard !retired.isEmpty, openingTunnels == 0 else { return }
        let quiet = retired.filter(\.isQuiet)
        retired.removeAll { one in quiet.contains { $0 === one } }
        // Closing one can call this function again.
        for one in quiet { one.close() }
        for one in retired { one.closeIdleConnections() }
    }

    func closeAll() {
        current.close()
        for one in retired { one.close() }
        retired = []
    }
}
