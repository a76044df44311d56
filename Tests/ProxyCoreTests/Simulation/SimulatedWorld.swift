import TestSupport
import HTTPCaching
import HTTPMessage
import ProxyPolicy

@testable import ProxyCore

/// A fetch in flight that others can join, as in the driver's table.
final class SimulatedFetch {
    enum Result {
        case complete(StoredResponse)
        case pending(StoredResponse, SimulatedPending)
        case notShareable, abandoned
    }

    let key: [UInt8]
    var result: Result?
    var waiters: [(Result) -> Void] = []

    init(key: [UInt8]) { self.key = key }
}

/// A body that is being stored, with several readers.
final class SimulatedPending {
    enum State { case pending, complete, failed }

    let length: UInt64?
    var bytes: [UInt8] = []
    var state = State.pending { didSet { wake() } }
    private var readers: [() -> Void] = []

    init(length: UInt64?) { self.length = length }

    func append(_ more: ArraySlice<UInt8>) {
        bytes += more
        wake()
    }

    func whenMore(_ reader: @escaping () -> Void) { readers.append(reader) }

    private func wake() {
        let woken = readers
        readers = []
        for reader in woken { reader() }
    }
}

/// The environment of one simulation's exchanges: clock, randomness, origin, store, fetches to join, and pending actions, which run in any
/// order.
final class SimulatedWorld {
    let seed: UInt64
    /// Whether problems are reported with the events before them.
    let isTracing: Bool
    var random: SeededGenerator
    var now = Messages.epoch
    var origin = SimulatedOrigin()
    var fetches: [[UInt8]: SimulatedFetch] = [:]
    private(set) var stored: [[UInt8]: [StoredResponse]] = [:]
    private var pending: [() -> Void] = []
    private(set) var problems: [String] = []
    private(set) var exchangeCount = 0
    private var connections: [SimulatedConnection] = []
    let context: ExchangeContext

    init(seed: UInt64, context: ExchangeContext, isTracing: Bool) {
        self.seed = seed
        self.isTracing = isTracing
        self.context = context
        random = SeededGenerator(seed: seed)
    }

    /// Adds an action that happens at any later moment.
    func later(_ action: @escaping () -> Void) { pending.append(action) }

    /// Adds a connection without a client.
    func add() -> SimulatedConnection {
        let connection = SimulatedConnection(self, requests: 0)
        connections.append(connection)
        return connection
    }

    func problem(_ text: String) {
        if problems.count < 5 { problems.append("seed \(seed): \(text)") }
    }

    func nextNumber() -> Int {
        exchangeCount += 1
        return exchangeCount
    }

    /// Runs connections with several requests each, until no action is left.
    func run(exchanges: Int) {
        var started = 0
        while problems.isEmpty {
            if started < exchanges, pending.count < 30, pending.isEmpty || random.chance(30) {
                let count = min(1 + random.below(3), exchanges - started)
                started += count
                let connection = SimulatedConnection(self, requests: count)
                connections.append(connection)
                connection.start()
                continue
            }
            guard !pending.isEmpty else { break }
            now.milliseconds += Int64(random.one(of: [0, 0, 0, 1, 20, 300, 2_500]))
            let index = random.below(pending.count)
            pending.swapAt(index, pending.count - 1)
            pending.removeLast()()
            if random.chance(3), let connection = connections.randomElement(using: &random) { connection.leave() }
            if connections.count > 40 { connections.removeAll { $0.isOver } }
        }
        for connection in connections where !connection.isOver && problems.isEmpty {
            problem("exchange \(connection.number) waits for ever in \(connection.exchange.state)")
        }
        if problems.isEmpty, !fetches.isEmpty { problem("\(fetches.count) fetches are left that nobody makes") }
        // A leader and its world refer to each other.
        connections = []
        fetches = [:]
    }

    // MARK: The store

    func put(_ response: StoredResponse) {
        var responses = stored[response.key] ?? []
        responses.removeAll { $0.nominatedFields == response.nominatedFields }
        responses.insert(response, at: 0)
        stored[response.key] = responses
    }

    func replace(_ old: StoredResponse, by new: StoredResponse) {
        guard let index = stored[old.key]?.firstIndex(where: { $0 === old }) else { return }
        stored[old.key]?[index] = new
    }

    func remove(_ old: StoredResponse) { stored[old.key]?.removeAll { $0 === old } }

    func invalidate(_ keys: [[UInt8]]) {
        for key in keys { stored[key] = nil }
    }
}
