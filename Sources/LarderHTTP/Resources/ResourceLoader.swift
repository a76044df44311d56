import EventLoop

/// Fetches values by GET, a few at once, and caches them in memory. Callers that request the same value at the same time share
/// one transfer.
///
/// Cancelling one caller's task does not affect the others; when the last caller is cancelled, the transfer is cancelled too.
public final class ResourceLoader<Value: Sendable>: Sendable {
    /// Which waiting load begins next.
    public enum Order: Sendable { case firstComeFirstServed, lastComeFirstServed }

    private struct Load {
        let request: SessionRequest
        let transfer = Transfer()
        var waiters: [UInt64: Wakeup<Result<Value, SessionError>>] = [:]
    }

    private struct State {
        var loads: [String: Load] = [:]
        /// Keys of the loads that have not begun, in order of arrival.
        var queue: [String] = []
        var active = 0
        var nextNumber: UInt64 = 0
    }

    private let session: HTTPSession
    private let cache: CostLimitedCache<String, Value>
    private let atOnce: Int
    private let order: Order
    private let decode: @Sendable (SessionResponse) throws -> Value
    private let state = Guarded(State())

    /// - Parameters:
    ///   - session: sends the requests.
    ///   - cache: stores the values.
    ///   - atOnce: how many transfers run at the same time; others wait.
    ///   - order: which waiting load begins next.
    ///   - decode: makes the value. An error it throws becomes `response_serialization`, or stays itself if it is a `SessionError`.
    public init(
        _ session: HTTPSession, cache: CostLimitedCache<String, Value> = CostLimitedCache(), atOnce: Int = 4,
        order: Order = .firstComeFirstServed, decode: @escaping @Sendable (SessionResponse) throws -> Value
    ) {
        precondition(atOnce > 0, "none at once is none at all")
        self.session = session
        self.cache = cache
        self.atOnce = atOnce
        self.order = order
        self.decode = decode
    }

    /// The value of a target, from memory or from its origin. Responses other than 2xx fail with `unacceptable_status`. Failures are
    /// not cached.
    /// - Parameters:
    ///   - target: a URI or a relative reference, as in `SessionRequest`.
    ///   - variant: distinguishes values that are made differently from the same target, such as images in two sizes.
    ///   - fields: the fields of the request. If several callers share one transfer, only the fields of the first caller are sent.
    public func value(
        _ target: String, variant: String = "", fields: SessionFields = SessionFields()
    ) async throws(SessionError) -> Value {
        let key = target + " " + variant
        let wakeup = Wakeup<Result<Value, SessionError>>()
        let (known, number): (Value?, UInt64) = state.withLock { state in
            // `run` caches the value before it removes the load. In the other order, a caller could find neither the value nor the
            // load, and start a second load.
            if state.loads[key] == nil, let known = cache.value(for: key) { return (known, 0) }
            state.nextNumber += 1
            if state.loads[key] == nil {
                state.loads[key] = Load(request: SessionRequest(.get, target, fields: fields))
                state.queue.append(key)
            }
            state.loads[key]?.waiters[state.nextNumber] = wakeup
            return (nil, state.nextNumber)
        }
        if let known { return known }
        beginNext()
        return try await withTaskCancellationHandler {
            await wakeup.value()
        } onCancel: {
            leave(key, number)
        }.get()
    }

    /// How many transfers run, and how many wait.
    public var counts: (active: Int, waiting: Int) { state.withLock { ($0.active, $0.queue.count) } }

    /// How many callers wait for a value.
    var callers: Int { state.withLock { $0.loads.values.reduce(0) { $0 + $1.waiters.count } } }

    private func leave(_ key: String, _ number: UInt64) {
        let (waiter, last): (Wakeup<Result<Value, SessionError>>?, Transfer?) = state.withLock { state in
            guard let waiter = state.loads[key]?.waiters.removeValue(forKey: number) else { return (nil, nil) }
            guard state.loads[key]?.waiters.isEmpty == true else { return (waiter, nil) }
            let transfer = state.loads.removeValue(forKey: key)?.transfer
            state.queue.removeAll { $0 == key }
            return (waiter, transfer)
        }
        waiter?.send(.failure(SessionError(.cancelled)))
        last?.cancel()
    }

    private func beginNext() {
        while true {
            let next: (key: String, load: Load)? = state.withLock { state in
                guard state.active < atOnce, !state.queue.isEmpty else { return nil }
                let key = order == .firstComeFirstServed ? state.queue.removeFirst() : state.queue.removeLast()
                guard let load = state.loads[key] else { return nil }
                state.active += 1
                return (key, load)
            }
            guard let next else { return }
            let (request, transfer, key) = (next.load.request, next.load.transfer, next.key)
            Task { await self.run(key, request, transfer) }
        }
    }

    private func run(_ key: String, _ request: SessionRequest, _ transfer: Transfer) async {
        let result: Result<Value, SessionError>
        do throws(SessionError) {
            let (response, value) = try await session.read(request, transfer) { [decode] response throws(SessionError) in
                guard response.isSuccessful else { throw SessionError(.unacceptableStatus, "status \(response.status)") }
                do { return Reading(value: try decode(response), isAccepted: true) } catch {
                    throw SessionError(.responseSerialization, thrownByCaller: error)
                }
            }
            cache.insert(value, for: key, cost: UInt64(response.body.count))
            result = .success(value)
        } catch { result = .failure(error) }
        let waiters: [Wakeup<Result<Value, SessionError>>] = state.withLock { state in
            state.active -= 1
            // The load may belong to another transfer: after its last caller left, a new caller may have started a new load.
            guard state.loads[key]?.transfer === transfer else { return [] }
            return state.loads.removeValue(forKey: key).map { Array($0.waiters.values) } ?? []
        }
        for wakeup in waiters { wakeup.send(result) }
        beginNext()
    }
}
