/// The drivers of one loop: idle ones, kept for later requests, and those that continue without a client.
final class DriverPool {
    // The fields have no exclusivity checks, because each hit takes a driver and gives it back (docs/decisions/0036).
    @exclusivity(unchecked) private var idle: [ExchangeDriver] = []
    @exclusivity(unchecked) private var running: [ObjectIdentifier: ExchangeDriver] = [:]

    /// The maximum number of idle drivers.
    private static let limit = 1024

    func take(for worker: LoopWorker) -> ExchangeDriver { idle.popLast() ?? ExchangeDriver(worker) }

    func giveBack(_ driver: ExchangeDriver) {
        if !running.isEmpty { running[ObjectIdentifier(driver)] = nil }
        if idle.count < Self.limit { idle.append(driver) }
    }

    /// Keeps a driver whose client has left, or that never had a client, until its exchange has ended.
    func keepRunning(_ driver: ExchangeDriver) { running[ObjectIdentifier(driver)] = driver }

    var hasRunning: Bool { !running.isEmpty }

    func giveUpBackground() {
        for driver in Array(running.values) { driver.giveUpBackground() }
    }

    /// Releases all drivers, because they keep their worker alive.
    func letGo() {
        idle = []
        running = [:]
    }
}
