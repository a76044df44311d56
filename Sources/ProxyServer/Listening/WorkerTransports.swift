import EventLoop
import UpstreamTransport

/// The way upstream of one loop under the active settings, and those of settings before, until what they carry has ended.
final class WorkerTransports: BatchHandler {
    private(set) var current: Transport
    @exclusivity(unchecked) private var retired: [Transport] = []
    private var isClosingPlanned = false
    /// Tunnels being opened, by whichever transport.
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

    /// Not at once: the exchange that has just ended may have been told so from within the transport.
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
        // Closing one can lead back here.
        for one in quiet { one.close() }
        for one in retired { one.closeIdleConnections() }
    }

    func closeAll() {
        current.close()
        for one in retired { one.close() }
        retired = []
    }
}
