import EventLoop
import Synchronization
import UpstreamTransport

/// The threads of a session, for use from any thread.
final class SessionLoops: Sendable {
    private let threads: [LoopThread]
    /// One inbox for each thread. Each is also a task executor that runs tasks on its thread.
    let inboxes: [LoopInbox]
    private let numbers = Atomic<UInt64>(1)
    private let isClosed = Atomic(false)

    /// - Parameter configurations: one for each proxy of `routes`.
    init(
        count: Int, _ configurations: [TransportConfiguration], _ routes: ProxyRoutes, _ budgets: UpstreamBudgets
    ) throws(SystemError) {
        var threads: [LoopThread] = []
        let inboxes = (0..<max(1, count)).map { _ in LoopInbox() }
        for (index, inbox) in inboxes.enumerated() {
            let thread = try LoopThread(name: "session-\(index)") { loop in
                loop.owner = SessionLoop(loop, inbox, configurations, routes, budgets)
            }
            inbox.open(thread.handle)
            threads.append(thread)
        }
        self.threads = threads
        self.inboxes = inboxes
    }

    /// A unique number for an exchange or a sleep.
    func nextNumber() -> UInt64 { numbers.wrappingAdd(1, ordering: .relaxed).newValue }

    /// All exchanges with one origin run on one loop, where they share connections.
    func place(of origin: Origin) -> Int {
        threads.count == 1 ? 0 : Int(UInt(bitPattern: origin.hashValue) % UInt(threads.count))
    }

    /// - Returns: `false` if the loop has ended.
    @discardableResult
    func post(to place: Int, _ message: @escaping LoopInbox.Message) -> Bool { inboxes[place].post(message) }

    /// Calls `body` on a loop after this time.
    /// - Returns: a closure that cancels the call. If the time has just elapsed, `body` may still be called.
    func after(milliseconds: Int, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let number = nextNumber()
        post(to: 0) { loop in loop.sleep(milliseconds: milliseconds, number: number) { if $0 { body() } } }
        return { [weak self] in self?.post(to: 0) { $0.endSleep(number) } }
    }

    /// Waits for this time.
    /// - Returns: `false` if the transfer was cancelled or the session closed first.
    func sleep(milliseconds: Int, for transfer: Transfer) async -> Bool {
        let number = nextNumber()
        let wakeup = Wakeup<Bool>()
        let isPosted = post(to: 0) { loop in loop.sleep(milliseconds: milliseconds, number: number) { wakeup.send($0) } }
        guard isPosted else { return false }
        let isWhole = await transfer.awaiting(wakeup, ifCancelled: false)
        if !isWhole { post(to: 0) { $0.endSleep(number) } }
        return isWhole
    }

    func statistics() async -> SessionStatistics {
        var sum = SessionStatistics()
        for place in threads.indices {
            let wakeup = Wakeup<SessionStatistics>()
            guard post(to: place, { wakeup.send($0.statistics) }) else { continue }
            let part = await wakeup.value()
            sum.connections += part.connections
            sum.idleConnections += part.idleConnections
            sum.exchanges += part.exchanges
            sum.sleepers += part.sleepers
        }
        return sum
    }

    /// Ends all exchanges and the threads. Messages that were posted earlier are still handled.
    func close() {
        if isClosed.exchange(true, ordering: .relaxed) { return }
        for place in threads.indices { post(to: place) { $0.close() } }
        // Each thread ends after its current batch. The join has a time limit, because this call may run on one of the threads.
        for thread in threads { _ = thread.join(withinMilliseconds: 2000) }
    }

    deinit { close() }
}
