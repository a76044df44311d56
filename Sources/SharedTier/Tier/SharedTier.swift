import EventLoop
import HTTPCaching
import HTTPMessage
import RESPWire
import ResponseStore

/// A store that the machines of a farm share: an engine that speaks the protocol of Redis, alone or as a cluster.
///
/// Usable from any thread. All work is done on the thread `shared-tier`. The engine is only an addition: whatever its state is, a request
/// waits for it at most as long as the settings say, and none fails because of it.
package final class SharedTier: SharedResponses {
    private let configuration: TierConfiguration
    private let store: ResponseStore
    private let gauge = TierGauge()
    private let thread: LoopThread
    private let resolver: NameResolver

    package init(
        _ configuration: TierConfiguration, coder: @escaping @Sendable () -> any EntryCoding, store: ResponseStore,
        hooks: TierHooks
    ) throws(SystemError) {
        self.configuration = configuration
        self.store = store
        resolver = try NameResolver()
        let (gauge, resolver) = (gauge, resolver)
        thread = try LoopThread(name: "shared-tier", .beside) { loop in
            let worker = TierWorker(configuration, coder(), hooks, gauge, resolver, on: loop)
            loop.owner = worker
            worker.start()
        }
    }

    /// Ends the thread. Look-ups get the answer that nothing is stored.
    package func stop() {
        thread.handle.post { loop in
            guard let worker = loop.owner as? TierWorker else { return loop.stop() }
            worker.close()
            loop.forgetReplies()
            loop.owner = nil
            loop.stop()
        }
        thread.join()
        resolver.stop()
    }

    /// Uses another coder from now on, with other keys of the same farm.
    package func use(_ coder: @escaping @Sendable () -> any EntryCoding) { _ = onThread { $0.use(coder()) } }

    // MARK: Responses

    package func find(_ lookUp: SharedLookUp, reply: Reply<SharedAnswer>) {
        let sentAt = MonotonicTime.read()
        let isTaken = onThread { $0.find(lookUp, sentAt: sentAt, reply: reply) }
        if !isTaken { reply.send(.absent) }
    }

    package func offer(_ response: StoredResponse, under lease: SharedLease) {
        let count = response.body.length
        guard lease.isForStore, count <= configuration.maximumBody else {
            return gauge.note(.unshared)
        }
        // A head and its facts are small beside this constant.
        let reserved = Int(count) + Self.overhead
        guard gauge.reserve(reserved, limit: configuration.queuedBytes) else { return gauge.note(.dropped) }
        let store = store
        let isTaken = onThread { worker in
            switch response.body {
            case .bytes(let body): worker.uploads.add(response, body: body, under: lease, reserved: reserved)
            case .onDisk(let body):
                BodyReading(body, of: response, in: store, for: worker, under: lease, reserved: reserved).next()
            }
        }
        if !isTaken { gauge.release(reserved) }
    }

    private static let overhead = 4096

    package func invalidate(_ keys: [[UInt8]]) {
        if keys.isEmpty { return }
        _ = onThread { $0.invalidations.add(keys) }
    }

    // MARK: The farm

    /// Purges responses on all nodes of the farm, this one included.
    /// - Parameter milliseconds: how long to wait for the nodes' confirmations.
    package func purge(_ request: PurgeRequest, isSoft: Bool, milliseconds: Int, reply: Reply<FarmPurgeResult>) {
        let isTaken = onThread { $0.farm.purge(FarmPurge(request, isSoft: isSoft), milliseconds: milliseconds, reply: reply) }
        if !isTaken { reply.send(.failed("the proxy is stopping")) }
    }

    /// The nodes of the farm; `nil` if the engine cannot be reached.
    package func nodes(_ reply: Reply<[FarmNode]?>) {
        let isTaken = onThread { worker in
            worker.farm.nodes(of: nil) { result in
                if case .success(let survey) = result { reply.send(survey.nodes) } else { reply.send(nil) }
            }
        }
        if !isTaken { reply.send(nil) }
    }

    package var status: TierStatus { gauge.current }

    private func onThread(_ body: @escaping @Sendable (TierWorker) -> Void) -> Bool {
        thread.handle.post { loop in if let worker = loop.owner as? TierWorker { body(worker) } }
    }
}

/// Reads a body from the local store, in order to upload it. Confined to the tier's loop.
private final class BodyReading {
    private let body: BodyReference
    private let response: StoredResponse
    private let store: ResponseStore
    private unowned let worker: TierWorker
    private let lease: SharedLease
    private let reserved: Int
    private let hold: BodyHold
    private var bytes: [UInt8] = []

    init(
        _ body: BodyReference, of response: StoredResponse, in store: ResponseStore, for worker: TierWorker,
        under lease: SharedLease, reserved: Int
    ) {
        self.body = body
        self.response = response
        self.store = store
        self.worker = worker
        self.lease = lease
        self.reserved = reserved
        hold = store.hold(body)
        bytes.reserveCapacity(Int(body.length))
    }

    func next() {
        if UInt64(bytes.count) >= body.length {
            return worker.uploads.add(response, body: bytes, under: lease, reserved: reserved)
        }
        let reply = worker.loop.reply { [self] (result: BodyReadResult) in
            guard case .bytes(let piece, let range) = result, !range.isEmpty else {
                return worker.uploads.discard(reserved, .failed)
            }
            bytes += piece[range]
            next()
        }
        store.readBody(body, at: UInt64(bytes.count), reply: reply)
    }
}
