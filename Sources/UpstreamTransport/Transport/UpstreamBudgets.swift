import EventLoop
import Synchronization

/// A message from the budgets to a transport, on its loop.
enum BudgetMessage: Sendable {
    /// A connection may be opened for the waiting exchange with this ticket; it is already counted.
    case granted(ticket: UInt64)
    /// An exchange on another loop waits: close an idle connection to this server (or to any, for `nil`).
    case releaseIdle(PoolKey?)
}

/// The limit for connections of all loops together, and the queue of exchanges that wait for one. Shared by all loops.
///
/// Used when a connection is opened or closed, but not by an exchange on a pooled connection (which reads one relaxed atomic).
/// The queue is fair: round robin over origins, first come first served within one. Its length is bounded, and each waiting
/// exchange keeps its own deadline.
package final class UpstreamBudgets: Sendable {
    package let connectionLimit: Int
    package let connectionLimitPerOrigin: Int
    /// The maximum number of places for a server that has a connection with HTTP/2. Each request on such a connection takes a place. A
    /// server with HTTP/2 serves many requests on few connections, and some requests stay open for long, such as gRPC's streams.
    private let sharedLimitPerOrigin: Int
    package let queueLengthLimit: Int

    /// The default maximum number of exchanges that wait for a connection, equal to the default maximum number of connections. The setting
    /// `upstream.queue_wait` limits how long an exchange may wait.
    package static let usualQueueLength = 1024

    private struct Waiter {
        let ticket: UInt64
        let member: Int
    }

    private struct Books {
        var total = 0
        var perKey: [PoolKey: Int] = [:]
        /// The servers of `perKey` that have a connection with HTTP/2.
        var sharing: Set<PoolKey> = []
        var queues: [PoolKey: [Waiter]] = [:]
        /// The servers for which exchanges wait, in the order of their turns.
        var ring: [PoolKey] = []
        var waiterCount = 0
        var nextTicket: UInt64 = 1
        var members: [Port<BudgetMessage>?] = []
    }

    private let books = Guarded(Books())
    private let waiters = Atomic(0)

    package init(connections: Int = 1024, connectionsPerOrigin: Int = 64, queueLength: Int = UpstreamBudgets.usualQueueLength) {
        connectionLimit = connections
        connectionLimitPerOrigin = connectionsPerOrigin
        sharedLimitPerOrigin = max(connectionsPerOrigin, connections / 2)
        queueLengthLimit = queueLength
    }

    /// The number of connections that are open or being opened, and the number of waiting exchanges.
    package var statistics: (connections: Int, waiting: Int) { books.withLock { ($0.total, $0.waiterCount) } }

    var hasWaiters: Bool { waiters.load(ordering: .relaxed) > 0 }

    // MARK: Registered transports

    func join(_ port: Port<BudgetMessage>) -> Int {
        books.withLock { books in
            if let free = books.members.firstIndex(where: { $0 == nil }) {
                books.members[free] = port
                return free
            }
            books.members.append(port)
            return books.members.count - 1
        }
    }

    /// Removes a transport from the members. Its exchanges must have left the queue before.
    func leave(_ member: Int) {
        books.withLock { $0.members[member] = nil }
    }

    // MARK: Connections

    /// Counts a connection that is about to be opened; `false` if a limit is reached.
    func acquire(_ key: PoolKey) -> Bool {
        books.withLock { books in
            guard permits(key, books: books) else { return false }
            Self.count(key, in: &books)
            return true
        }
    }

    /// Whether the total limit is reached, so that closing any idle connection would free a place.
    func isFull(for key: PoolKey) -> Bool {
        books.withLock { $0.total >= connectionLimit }
    }

    /// Counts a connection as closed, and lets the next waiting exchange open one.
    func release(_ key: PoolKey) {
        let grant: (port: Port<BudgetMessage>, ticket: UInt64)? = books.withLock { books in
            books.total -= 1
            let left = (books.perKey[key] ?? 1) - 1
            books.perKey[key] = left == 0 ? nil : left
            if left == 0, !books.sharing.isEmpty { books.sharing.remove(key) }
            return takeNext(from: &books)
        }
        grant?.port.send(.granted(ticket: grant?.ticket ?? 0))
    }

    /// Notes that a counted connection of this server has HTTP/2: more exchanges may then proceed.
    func share(_ key: PoolKey) {
        let grants: [(port: Port<BudgetMessage>, ticket: UInt64)] = books.withLock { books in
            guard books.perKey[key] != nil, books.sharing.insert(key).inserted else { return [] }
            var grants: [(port: Port<BudgetMessage>, ticket: UInt64)] = []
            while let grant = takeNext(from: &books) { grants.append(grant) }
            return grants
        }
        for grant in grants { grant.port.send(.granted(ticket: grant.ticket)) }
    }

    // MARK: Waiting

    /// Joins the queue. Then grants a connection to a waiting exchange if the limits allow it by now: a connection may have been closed
    /// since `acquire` was called, and no other event would grant its place. Otherwise tells other loops to close an idle connection.
    /// - Returns: a ticket, or `nil` if the queue is full.
    func wait(for key: PoolKey, member: Int) -> UInt64? {
        let (ticket, messages): (UInt64?, [(Port<BudgetMessage>, BudgetMessage)]) = books.withLock { books in
            guard books.waiterCount < queueLengthLimit else { return (nil, []) }
            let ticket = books.nextTicket
            books.nextTicket += 1
            if books.queues[key] == nil { books.ring.append(key) }
            books.queues[key, default: []].append(Waiter(ticket: ticket, member: member))
            changeWaiterCount(by: 1, in: &books)
            if let grant = takeNext(from: &books) { return (ticket, [(grant.port, .granted(ticket: grant.ticket))]) }
            let wanted = books.total >= connectionLimit ? nil : key
            return (
                ticket,
                books.members.enumerated().compactMap { index, port in
                    index == member ? nil : port.map { ($0, BudgetMessage.releaseIdle(wanted)) }
                }
            )
        }
        for (port, message) in messages { port.send(message) }
        return ticket
    }

    /// Leaves the queue.
    /// - Returns: `false` if a connection was already granted for the ticket, and the message with the grant is in flight.
    func giveUp(_ ticket: UInt64, key: PoolKey) -> Bool {
        books.withLock { books in
            guard let index = books.queues[key]?.firstIndex(where: { $0.ticket == ticket }) else { return false }
            books.queues[key]?.remove(at: index)
            if books.queues[key]?.isEmpty == true { removeQueue(key, from: &books) }
            changeWaiterCount(by: -1, in: &books)
            return true
        }
    }

    enum Settlement: Equatable {
        /// No waiting exchange can use the place of this connection.
        case keep
        /// The exchange that is next is on this loop and has this ticket: it gets the connection.
        case handOver(ticket: UInt64)
        /// The exchange that is next cannot use this connection: once the connection is closed, that exchange may open its own.
        case close
    }

    /// What to do with a connection whose exchange has ended, while other exchanges wait.
    func settle(afterUseOf key: PoolKey, member: Int) -> Settlement {
        books.withLock { books in
            for (place, candidate) in books.ring.enumerated() {
                let count = (books.perKey[candidate] ?? 0) - (candidate == key ? 1 : 0)
                guard candidate.isForwardingProxy || count < limit(of: candidate, in: books) else { continue }
                guard candidate == key, let waiter = books.queues[candidate]?.first, waiter.member == member else {
                    return .close
                }
                take(at: place, from: &books)
                return .handOver(ticket: waiter.ticket)
            }
            return .keep
        }
    }

    // MARK: Queue and counts

    private func permits(_ key: PoolKey, books: Books) -> Bool {
        guard books.total < connectionLimit else { return false }
        return key.isForwardingProxy || books.perKey[key] ?? 0 < limit(of: key, in: books)
    }

    private func limit(of key: PoolKey, in books: Books) -> Int {
        books.sharing.contains(key) ? sharedLimitPerOrigin : connectionLimitPerOrigin
    }

    private static func count(_ key: PoolKey, in books: inout Books) {
        books.total += 1
        books.perKey[key, default: 0] += 1
    }

    /// Finds the next waiting exchange for which the limits allow a connection, removes it from the queue, and counts its connection.
    private func takeNext(from books: inout Books) -> (port: Port<BudgetMessage>, ticket: UInt64)? {
        guard let place = books.ring.firstIndex(where: { permits($0, books: books) }) else { return nil }
        let key = books.ring[place]
        guard let waiter = take(at: place, from: &books), let port = books.members[waiter.member] else { return nil }
        Self.count(key, in: &books)
        return (port, waiter.ticket)
    }

    /// Removes the first waiting exchange of the server at this place in the ring of servers; the server then moves to the end of the ring.
    @discardableResult
    private func take(at place: Int, from books: inout Books) -> Waiter? {
        let key = books.ring.remove(at: place)
        guard let waiter = books.queues[key]?.removeFirst() else { return nil }
        if books.queues[key]?.isEmpty == true { books.queues[key] = nil } else { books.ring.append(key) }
        changeWaiterCount(by: -1, in: &books)
        return waiter
    }

    private func removeQueue(_ key: PoolKey, from books: inout Books) {
        books.queues[key] = nil
        books.ring.removeAll { $0 == key }
    }

    private func changeWaiterCount(by change: Int, in books: inout Books) {
        books.waiterCount += change
        waiters.store(books.waiterCount, ordering: .relaxed)
    }
}
