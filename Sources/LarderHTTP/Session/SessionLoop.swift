import EventLoop
import HTTPMessage
import UpstreamTransport

/// One loop of a session, with its transports and the exchanges on it. Confined to the loop's thread.
final class SessionLoop: BatchHandler {
    let loop: EventLoop
    /// One transport for each proxy in use, made when its first request is sent.
    private var transports: [Transport?]
    private let configurations: [TransportConfiguration]
    private let routes: ProxyRoutes
    private let budgets: UpstreamBudgets
    private let inbox: LoopInbox
    private var exchanges: [NetworkExchange] = []
    /// The open WebSockets, by the number of their channel.
    var webSockets: [UInt64: WebSocketConnection] = [:]
    private var sleepers: [UInt64: Sleeper] = [:]
    private var isClosed = false

    init(
        _ loop: EventLoop, _ inbox: LoopInbox, _ configurations: [TransportConfiguration], _ routes: ProxyRoutes,
        _ budgets: UpstreamBudgets
    ) {
        self.loop = loop
        self.inbox = inbox
        self.configurations = configurations
        self.routes = routes
        self.budgets = budgets
        transports = Array(repeating: nil, count: configurations.count)
    }

    func transport(for origin: Origin) -> Transport {
        let index = routes.index(isSecure: origin.scheme == .https, host: origin.host)
        if let transport = transports[index] { return transport }
        let transport = Transport(loop: loop, configuration: configurations[index], budgets: budgets)
        transports[index] = transport
        return transport
    }

    /// A buffer for bytes that are handled at once. The transports of a loop have one each; it does not matter which is used.
    var readBuffer: UnsafeMutableRawBufferPointer {
        for case let transport? in transports { return transport.readBuffer }
        preconditionFailure("a connection was made by a transport")
    }

    // MARK: From other threads

    func readInbox() {
        if inbox.work(for: self) { loop.atEndOfBatch(self) }
    }

    func batchEnded() { readInbox() }

    /// Call this before doing something that tasks may wait for.
    func expectJobs() {
        if inbox.expectJobs() { loop.atEndOfBatch(self) }
    }

    // MARK: Exchanges

    func open(_ request: UpstreamRequest, content: [UInt8], link: ResponseChannel) {
        if link.hasEnded { return }
        if isClosed { return link.ended(.transport(.transportClosed)) }
        let exchange = NetworkExchange(self, link: link, content: content)
        link.loopPlace.store(exchanges.count, ordering: .relaxed)
        exchanges.append(exchange)
        exchange.begin(request)
    }

    /// The exchange of a channel; `nil` before the exchange begins and after it ends.
    func exchange(of link: ResponseChannel) -> NetworkExchange? {
        let place = link.loopPlace.load(ordering: .relaxed)
        return place < 0 ? nil : exchanges[place]
    }

    func forget(_ exchange: NetworkExchange) {
        let place = exchange.link.loopPlace.exchange(-1, ordering: .relaxed)
        guard place >= 0 else { return }
        let last = exchanges.removeLast()
        if last === exchange { return }
        exchanges[place] = last
        last.link.loopPlace.store(place, ordering: .relaxed)
    }

    // MARK: Time

    /// Calls back with `true` after this time, or with `false` if the loop ends first. `endSleep` cancels it.
    func sleep(milliseconds: Int, number: UInt64, _ awaken: @escaping @Sendable (Bool) -> Void) {
        if isClosed { return awaken(false) }
        let sleeper = Sleeper(awaken) { [unowned self] in
            expectJobs()
            endSleep(number)
        }
        let timer = loop.makeTimer(sleeper)
        sleeper.timer = timer
        sleepers[number] = sleeper
        loop.setTimer(timer, afterMilliseconds: milliseconds)
    }

    func endSleep(_ number: UInt64) {
        guard let sleeper = sleepers.removeValue(forKey: number), let timer = sleeper.timer else { return }
        loop.removeTimer(timer)
    }

    var statistics: SessionStatistics {
        var sum = SessionStatistics(exchanges: exchanges.count, sleepers: sleepers.count)
        for case let transport? in transports {
            sum.connections += transport.statistics.connections
            sum.idleConnections += transport.statistics.idle
        }
        return sum
    }

    func close() {
        isClosed = true
        for socket in Array(webSockets.values) { socket.cut() }
        for transport in transports { transport?.close() }
        for exchange in exchanges { exchange.cancel() }
        for (number, sleeper) in sleepers {
            endSleep(number)
            sleeper.awaken(false)
        }
        inbox.close()
        loop.owner = nil
        loop.stop()
    }
}

/// Counts of a session's resources.
struct SessionStatistics: Equatable, Sendable {
    var connections = 0
    var idleConnections = 0
    var exchanges = 0
    var sleepers = 0
}

private final class Sleeper: TimerHandler {
    let awaken: @Sendable (Bool) -> Void
    private let end: () -> Void
    var timer: TimerID?

    init(_ awaken: @escaping @Sendable (Bool) -> Void, _ end: @escaping () -> Void) {
        self.awaken = awaken
        self.end = end
    }

    func deadlinePassed(_ timer: TimerID) {
        end()
        awaken(true)
    }
}
