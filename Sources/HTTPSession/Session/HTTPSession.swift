import EventLoop
import HTTPMessage
import ServerTrust
import UpstreamTransport

/// Requests to origins, with everything that belongs to them: connections that are kept, trust, redirects, tries, progress, limits.
///
/// It has threads of its own and may be used from any task. Cancelling the task that waits ends its transfer. What one call brings is
/// either a response or one `SessionError`. Closed by `shutdown`, or when nobody has it any more.
public final class HTTPSession: Sendable {
    /// As it was given.
    public let configuration: SessionConfiguration
    let standardFields: StandardFields
    /// Of requests that have none of their own.
    let upstreamTimeouts: UpstreamTimeouts
    let loops: SessionLoops
    let files = FileThread()
    let turns: RequestScheduler
    let registry = TransferRegistry()
    let challenges = AuthenticationCache()
    let validations = BackgroundValidations()
    let trust: TrustPolicySet?

    /// Starts the session's threads.
    /// - Throws: `out_of_resources`, `bad_url` for an identity's host that is none, and `trust_rejected` where the system's bundle cannot be read.
    public init(configuration: SessionConfiguration = SessionConfiguration(), trust: SessionTrust = .system) throws(SessionError)
    {
        self.configuration = configuration
        standardFields = StandardFields(configuration)
        upstreamTimeouts = configuration.timeouts.upstream
        turns = RequestScheduler(configuration.limits)
        let policies = try trust.policies()
        self.trust = policies
        let transport = try TransportConfiguration(configuration, trust: policies)
        let budgets = UpstreamBudgets(
            connections: configuration.limits.activeExchanges + configuration.limits.idleConnections,
            connectionsPerOrigin: configuration.limits.activeExchangesPerOrigin,
            queueLength: configuration.limits.activeExchanges)
        do throws(SystemError) {
            loops = try SessionLoops(count: configuration.threads, transport, budgets)
        } catch { throw SessionError(.outOfResources, "\(error)") }
    }

    deinit { close() }

    private func close() {
        loops.close()
        files.close()
    }

    // MARK: Threads

    /// Runs tasks on the session's own thread, the first where it has several: what they await of the session then needs no change of
    /// threads, which is a third of what a request costs that is sent when the one before has come. Given to `withTaskExecutorPreference`.
    ///
    /// Between its awaits such a task holds up the session's transfers: it must neither block nor compute for long. Tasks that are under
    /// way when the session ends go on where others run.
    public var taskExecutor: any TaskExecutor { loops.inboxes[0] }

    /// The same of the thread that carries the exchanges with this target's origin.
    public func taskExecutor(for target: TargetURI) -> any TaskExecutor { loops.inboxes[loops.place(of: target.origin)] }

    // MARK: Requests

    /// Sends a request, and brings the whole response.
    /// - Parameters:
    ///   - request: what is asked for.
    ///   - transfer: to watch it by; a new one for each call.
    public func send(_ request: HTTPRequest, as transfer: Transfer = Transfer()) async throws(SessionError) -> HTTPResponse {
        let scope = try TransferScope(self, request, transfer)
        let consumption = ResponseChannel.BodyConsumption.whole(limit: configuration.limits.bodyLength)
        let response = try await scope.run {
            await TransferTask(scope, request, consumption: consumption, prepared: scope.prepared).result().flatMap {
                HTTPResponse.made(of: $0, scope.ledger.metrics)
            }
        }
        scope.end(nil)
        return response
    }

    /// Sends a request, and brings the response as soon as its head is there; the body is read from it.
    public func open(_ request: HTTPRequest, as transfer: Transfer = Transfer()) async throws(SessionError) -> StreamingResponse {
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
            status: Int(arrived.head.status.code), fields: arrived.fields, uri: arrived.uri, body: ResponseBody(lease: lease))
    }

    /// As `send`, with this content in the place of the request's own.
    public func upload(
        _ request: HTTPRequest, from body: RequestBody, as transfer: Transfer = Transfer()
    ) async throws(SessionError) -> HTTPResponse {
        var request = request
        request.body = body
        return try await send(request, as: transfer)
    }

    /// Fetches a file: a part under another name first, which takes its place once it is whole and on the disk. Where the body breaks
    /// off and the entity has a strong validator, the rest is asked for, as often as `retries` and `limits.resumptions` let it.
    ///
    /// No content coding is asked for, and none is undone. An error that has a `resumeToken` leaves the part behind; any other leaves nothing.
    /// - Parameters:
    ///   - request: what is asked for.
    ///   - destination: where the file is to be.
    ///   - token: of an earlier call with the same target.
    ///   - transfer: to watch it by; a new one for each call.
    public func download(
        _ request: HTTPRequest, to destination: DownloadDestination, resuming token: ResumeToken? = nil,
        as transfer: Transfer = Transfer()
    ) async throws(SessionError) -> DownloadedFile {
        let scope = try TransferScope(self, request, transfer)
        let file = try await scope.run { await DownloadTask(scope, request, destination, token).result() }
        scope.end(nil)
        return file
    }

    // MARK: What is under way

    /// All transfers, in the order in which they were begun.
    public func transfers() -> [TransferSnapshot] { registry.all.map(\.snapshot) }

    /// Cancels those for which the answer is yes.
    /// - Returns: how many.
    @discardableResult
    public func cancel(where isMeant: (TransferSnapshot) -> Bool) -> Int {
        let meant = registry.all.filter { isMeant($0.snapshot) }
        for transfer in meant { transfer.cancel() }
        return meant.count
    }

    /// Cancels everything.
    @discardableResult
    public func cancelAll() -> Int { cancel { _ in true } }

    /// Cancels those with this method (`nil`: any) and path; the query is not compared.
    @discardableResult
    public func cancel(_ method: HTTPMethod?, path: String) -> Int {
        cancel { (method == nil || $0.method == method) && $0.uri?.path == path }
    }

    // MARK: The end

    /// How transfers end that are under way when the session is shut down.
    public enum ShutdownMode: Sendable {
        /// They may go on for so long; those left then are cancelled.
        case drain(deadline: Duration)
        case cancel
    }

    /// Ends the session: nothing new is begun, and threads and connections are gone when it returns.
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
        // Bodies that nobody reads end with their exchanges, as everything else.
        let isOver = Wakeup<Bool>()
        registry.whenEmpty(isOver)
        let callOff = loops.after(milliseconds: Self.settlingMilliseconds) { isOver.send(false) }
        _ = await isOver.value()
        callOff()
        close()
    }

    /// What was cancelled comes to its end within a batch of its loop, but for callers' code that goes on.
    private static let settlingMilliseconds = 1000

    func statistics() async -> SessionStatistics { await loops.statistics() }
}

extension HTTPResponse {
    /// What has arrived whole, without its codings.
    fileprivate static func made(
        of arrived: TransferTask.OpenResponse, _ metrics: TransferMetrics
    ) -> Result<HTTPResponse, SessionError> {
        do throws(SessionError) {
            let body = try arrived.decoding?.decoded(arrived.octets) ?? arrived.octets
            return .success(
                HTTPResponse(
                    status: Int(arrived.head.status.code), fields: arrived.fields,
                    trailers: HTTPFields(arrived.end?.trailers ?? Fields()), body: body, uri: arrived.uri,
                    metrics: metrics))
        } catch { return .failure(error.about(arrived.response)) }
    }
}

extension TransportConfiguration {
    init(_ configuration: SessionConfiguration, trust: TrustPolicySet?) throws(SessionError) {
        self.init()
        timeouts = configuration.timeouts.upstream
        self.trust = trust
        for (name, addresses) in configuration.resolve {
            resolve[name] = addresses.compactMap { text in
                let octets = Array(text.utf8)
                return IPAddress(octets.span)
            }
        }
        proxy = configuration.proxy?.upstream
        // It judges addresses itself.
        if configuration.proxy?.asksSecurely == true { addresses = AddressPolicy(denied: []) }
        for entry in configuration.identities {
            guard let scope = HostScope(host: entry.host, port: entry.port), identities.insert(entry.identity, for: scope) else {
                throw SessionError(.badURL, "the host of the identity for \(entry.host) is invalid")
            }
        }
        idleConnectionsPerOrigin = configuration.limits.idleConnectionsPerOrigin
        idleConnections = configuration.limits.idleConnections
        idleConnectionMilliseconds = configuration.limits.idleConnectionTime.inMilliseconds
    }
}
