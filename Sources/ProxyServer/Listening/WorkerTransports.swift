import EventLoop
import TLSChannel
import UpstreamTransport

/// The transports of one loop: the active transport, and the transports of earlier settings until their requests have ended.
final class WorkerTransports: BatchHandler {
    private(set) var current: Transport
    /// The transports for the other ways, each made for its first request.
    private var named: [String: Transport] = [:]
    private var ways: [UpstreamWay]
    private let budgets: UpstreamBudgets
    @exclusivity(unchecked) private var retired: [Transport] = []
    private var isClosingPlanned = false
    /// The counts of TLS handshakes of transports that were closed.
    private var formerHandshakes = HandshakeCounts()
    /// Tunnels being opened, on all transports.
    var openingTunnels = 0
    private let loop: EventLoop

    init(_ current: Transport, ways: [UpstreamWay], budgets: UpstreamBudgets, on loop: EventLoop) {
        self.current = current
        self.ways = ways
        self.budgets = budgets
        self.loop = loop
    }

    func replace(by transport: Transport, ways: [UpstreamWay]) {
        for one in active {
            one.stopProbing()
            retired.append(one)
        }
        named = [:]
        current = transport
        self.ways = ways
    }

    /// The transport for a way; `nil` if the active settings have no way with this name.
    func transport(through name: String) -> Transport? {
        if name == current.configuration.wayName { return current }
        if let transport = named[name] { return transport }
        guard let way = ways.first(where: { $0.name == name }) else { return nil }
        let transport = Transport(loop: loop, configuration: current.configuration.through(way), budgets: budgets)
        named[name] = transport
        return transport
    }

    /// Begins to probe the parents of all ways.
    func beginProbing() {
        for way in ways { if case .parents = way.kind { transport(through: way.name)?.beginProbing() } }
    }

    private var active: [Transport] { [current] + named.values }

    /// Closes unused transports of earlier settings at the end of the batch. They are not closed at once, because such a transport may be
    /// the caller that reports the end of an exchange.
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
        // Closing a transport can call this function again.
        for one in quiet {
            formerHandshakes += one.handshakes
            one.close()
        }
        for one in retired { one.closeIdleConnections() }
    }

    /// The number of connections to origins, the number of idle ones among them, and the number of exchanges that wait for a connection.
    var pools: PoolCounts {
        (active + retired).reduce(PoolCounts()) { sum, transport in
            let (connections, idle, waiting) = transport.statistics
            return sum + PoolCounts(connections: connections, idle: idle, waiting: waiting)
        }
    }

    /// The TLS handshakes with origins since the start.
    var handshakes: HandshakeCounts {
        var sum = formerHandshakes
        for transport in active + retired { sum += transport.handshakes }
        return sum
    }

    func closeAll() {
        for one in active { one.close() }
        named = [:]
        for one in retired { one.close() }
        retired = []
    }
}

/// The connections of loops to origins at one moment.
package struct PoolCounts: Sendable {
    package var connections = 0
    package var idle = 0
    /// Exchanges that wait because a limit is reached.
    package var waiting = 0

    static func + (left: PoolCounts, right: PoolCounts) -> PoolCounts {
        PoolCounts(
            connections: left.connections + right.connections, idle: left.idle + right.idle, waiting: left.waiting + right.waiting
        )
    }
}
