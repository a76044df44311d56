/// The drivers of one loop: those without work, kept for the next request, and those that go on without a client.
final class DriverPool {
    // Unchecked: each hit takes a driver and gives it back (docs/decisions/0036).
    @exclusivity(unchecked) private var idle: [ExchangeDriver] = []
    @exclusivity(unchecked) private var running: [ObjectIdentifier: ExchangeDriver] = [:]

    /// How many drivers without work are kept.
    private static let limit = 1024

    func take(for worker: LoopWorker) -> ExchangeDriver { idle.popLast() ?? ExchangeDriver(worker) }

    func giveBack(_ driver: ExchangeDriver) {
        if !running.isEmpty { running[ObjectIdentifier(driver)] = nil }
        if idle.count < Self.limit { idle.append(driver) }
    }

    /// The driver's client has left, or it never had one: it is held here until its exchange is over.
    func keepRunning(_ driver: ExchangeDriver) { running[ObjectIdentifier(driver)] = driver }

    var hasRunning: Bool { !running.isEmpty }

    func giveUpBackground() {
        for driver in Array(running.values) { driver.giveUpBackground() }
    }

    /// They hold on to their worker.
    func letGo() {
        idle = []
        running = [:]
    }
}
