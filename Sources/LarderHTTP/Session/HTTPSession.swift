import EventLoop
import HTTPMessage
import ServerTrust
import Synchronization
import UpstreamTransport

/// Sends requests to origins. A session owns its connections, trust policies, redirects, retries, progress and limits.
///
/// It has its own threads and may be used from any task. Cancelling the awaiting task cancels its transfer. Each call returns a
/// response or throws one `SessionError`. `shutdown` closes the session; so does releasing the last reference to it.
public final class HTTPSession: Sendable {
    /// The configuration that `init` received.
    public let configuration: SessionConfiguration
    let standardFields: StandardFields
    /// The timeouts for requests that have none of their own.
    let upstreamTimeouts: UpstreamTimeouts
    let loops: SessionLoops
    let files = FileThread()
    let turns: RequestScheduler
    let registry = TransferRegistry()
    let challenges = AuthenticationCache()
    let validations = BackgroundValidations()
    let trust: TrustPolicySet?
    let routes: ProxyRoutes
    let offlineSwitch = Atomic(false)

    /// Starts the session's threads.
    /// - Throws: `out_of_resources`; `bad_url` if the host of an identity is invalid; `trust_rejected` if the system's CA
    ///   bundle cannot be parsed.
    public init(configuration: SessionConfiguration = SessionConfiguration(), trust: SessionTrust = .system) throws(SessionError)
    {
        self.configuration = configuration
        standardFields = StandardFields(configuration)
        upstreamTimeouts = configuration.timeouts.upstream
        turns = RequestScheduler(configuration.limits)
        let policies = try trust.policies()
        self.trust = policies
        routes = try ProxyRoutes(configuration.proxy)
        var transports: [TransportConfiguration] = []
        for proxy in routes.proxies {
            transports.append(try TransportConfiguration(configuration, through: proxy, trust: policies))
        }
        let budgets = UpstreamBudgets(
            connections: configuration.limits.activeExchanges + configuration.limits.idleConnections,
            connectionsPerOrigin: configuration.limits.activeExchangesPerOrigin,
            queueLength: configuration.limits.activeExchanges)
        do throws(SystemError) {
            loops = try SessionLoops(count: configuration.threads, transports, routes, budgets)
        } catch { throw SessionError(.outOfResources, "\(error)") }
    }

    deinit { close() }

    private func close() {
        loops.close()
        files.close()
    }

    // MARK: Threads

    /// Runs tasks on the session's own thread (the first one, if it has several). Pass this executor to `withTaskExecutorPreference`.
    /// A task that awaits the session on this thread needs no thread switch. If each request is sent after the previous response has
    /// arrived, the switch is a third of a request's cost.
    ///
    /// Between its awaits such a task blocks the session's transfers: it must neither block nor compute for long. Tasks that are
    /// still running when the session ends continue on the global executor.
    public var taskExecutor: any TaskExecutor { loops.inboxes[0] }

    /// Like `taskExecutor`, but for the thread that carries the exchanges with this target's origin.
    public func taskExecutor(for target: TargetURI) -> any TaskExecutor { loops.inboxes[loops.place(of: target.origin)] }

    // MARK: Requests

    /// Sends a request and returns the whole response.
    /// - Parameters:
    ///   - request: the request to send.
    ///   - transfer: observes and controls the call; a new one for each call.
    public func send(_ request: SessionRequest, as transfer: Transfer = Transfer()) async throws(SessionError) -> SessionResponse
    {
        let scope = try TransferScope(self, request, transfer)
        let consumption = ResponseChannel.BodyConsumption.whole(limit: configuration.limits.bodyLength)
        let response = try await scope.run {
            await TransferTask(scope, request, consumption: consumption, prepared: scope.prepared).result().flatMap { arrived in
                do throws(SessionError) { return .success(try SessionResponse(arrived, scope.ledger.metrics)) } catch {
                    return .failure(error)
                }
            }
        }
        scope.end(nil)
        return response
    }

    /// Sends a request and returns as soon as the response's head has arrived; the body is read from the returned value.
    public func open(_ request: SessionRequest, as transfer: Transfer = Transfer()) async throws(SessionError)
        -> StreamingResponse
    {
        let scope = try TransferScope(self, request, transfer)
        let consumption = ResponseChannel.BodyConsumption.pieces(window: configuration.limits.unreadBodyLength)
        let arrived = try await scope.run {
            await TransferTask(scope, request, consumption: consumption, prepared: scope.prepared).result()
        }
        arrived.link.whenEnded { end in
            scope.end(end.failure.map { SessionError(link: $0).about(arrived.response) })
        }
        let decoding: DecodedStream?
        do throws(SessionError) { decoding = try arrived.decoding?.makeStream() } catch {
            arrived.link.cancel()
            throw error.about(arrived.response)
        }
        let lease = BodyLease(arrived.link, arrived.response, decoding, self)
        return StreamingResponse(
            status: Int(arrived.head.status.code), fields: arrived.fields, uri: arrived.uri, cache: arrived.cache,
            body: ResponseBody(lease: lease))
    }

    /// Sends a request like `send`, with this content instead of the request's own.
    public func upload(
        _ request: SessionRequest, from body: RequestBody, as transfer: Transfer = Transfer()
    ) async throws(SessionError) -> SessionResponse {
        var request = request
        request.body = body
        return try await send(request, as: transfer)
    }

    /// Downloads a file. The bytes are written to a part file under another name, which is renamed to the destination once it is
    /// complete and on disk. If the body is interrupted and the entity has a strong validator, the missing bytes are requested, as
    /// often as `retries` and `limits.resumptions` allow.
    ///
    /// Content codings are neither requested nor decoded. An error with a `resumeToken` leaves the part file; after any other error
    /// the part file is removed. The first download to a folder also removes the part files that killed processes have left there.
    /// - Parameters:
    ///   - request: the request to send. Only a GET can be resumed. Another request is sent again only if its method is idempotent.
    ///   - destination: the file or folder to write to.
    ///   - validation: the accepted responses. A response that is not accepted makes no file.
    ///   - token: the token from an earlier call with the same target.
    ///   - transfer: observes and controls the call; a new one for each call.
    public func download(
        _ request: SessionRequest, to destination: DownloadDestination, validation: DownloadValidation = DownloadValidation(),
        resuming token: ResumeToken? = nil, as transfer: Transfer = Transfer()
    ) async throws(SessionError) -> DownloadedFile {
        if request.optionsBox?.options.decodesContent == true {
            throw SessionError(.malformedRequest, "a download is not decoded, so the option decodesContent cannot apply")
        }
        let scope = try TransferScope(self, request, transfer)
        let file = try await scope.run { await DownloadTask(scope, request, destination, token, validation).result() }
        scope.end(nil)
        return file
    }

    // MARK: Transfers in flight

    /// All transfers, in the order in which they began.
    public func transfers() -> [TransferSnapshot] { registry.all.map(\.snapshot) }

    /// Cancels the transfers for which the closure returns `true`.
    /// - Returns: how many.
    @discardableResult
    public func cancel(where isMeant: (TransferSnapshot) -> Bool) -> Int {
        let meant = registry.all.filter { isMeant($0.snapshot) }
        for transfer in meant { transfer.cancel() }
        return meant.count
    }

    /// Cancels all transfers.
    @discardableResult
    public func cancelAll() -> Int { cancel { _ in true } }

    /// Cancels the transfers with this method (`nil`: any) and path; the query is not compared.
    @discardableResult
    public func cancel(_ method: HTTPMethod?, path: String) -> Int {
        cancel { (method == nil || $0.method == method) && $0.uri?.path == path }
    }

    // MARK: Shutdown

    /// What happens to transfers that are in flight when the session is shut down.
    public enum ShutdownMode: Sendable {
        /// Transfers may continue for this long; then those that are left are cancelled.
        case drain(deadline: Duration)
        case cancel
    }

    /// Ends the session. No transfer can begin after that; threads and connections are gone when this returns.
    public func shutdown(_ mode: ShutdownMode) async {
        registry.close()
        let isEmpty = Wakeup<Bool>()
        registry.whenEmpty(isEmpty)
        if case .drain(let deadline) = mode {
            let callOff = loops.after(milliseconds: deadline.inMilliseconds) { isEmpty.send(false) }
            _ = await isEmpty.value()
            callOff()
        }
        cancelAll()
        // This also ends exchanges whose bodies no task reads.
        let isOver = Wakeup<Bool>()
        registry.whenEmpty(isOver)
        let callOff = loops.after(milliseconds: Self.settlingMilliseconds) { isOver.send(false) }
        _ = await isOver.value()
        callOff()
        close()
    }

    /// A cancelled transfer ends within one batch of its loop, unless the caller's code is still running.
    private static let settlingMilliseconds = 1000

    func statistics() async -> SessionStatistics { await loops.statistics() }
}

extension TransportConfiguration {
    init(_ configuration: SessionConfiguration, through proxy: SessionProxy?, trust: TrustPolicySet?) throws(SessionError) {
        self.init()
        timeouts = configuration.timeouts.upstream
        self.trust = trust
        for (name, addresses) in configuration.resolve {
            resolve[name] = addresses.compactMap { text in
                let octets = Array(text.utf8)
                return IPAddress(octets.span)
            }
        }
        self.proxy = proxy?.upstream
        // The proxy is another Larder process, which checks the origins' addresses itself.
        if proxy?.asksSecurely == true { addresses = AddressPolicy(denied: []) }
        for entry in configuration.identities {
            guard let scope = HostScope(host: entry.host, port: entry.port), identities.insert(entry.identity, for: scope) else {
                throw SessionError(.badURL, "the host \(entry.host) of a client identity is invalid")
            }
        }
        offersHTTP2 = configuration.offersHTTP2
        idleConnectionsPerOrigin = configuration.limits.idleConnectionsPerOrigin
        idleConnections = configuration.limits.idleConnections
        idleConnectionMilliseconds = configuration.limits.idleConnectionTime.inMilliseconds
    }
}
