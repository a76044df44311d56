/// Registers a transfer in its session, from the call to its end.
final class TransferScope: Sendable {
    let session: HTTPSession
    let transfer: Transfer
    let ledger: MetricsLedger
    /// The request as passed to the session, before any interceptor.
    let prepared: PreparedRequest
    private let entry: TransferRegistry.Entry

    /// - Throws: errors in the request, `session_closed` and `transfer_used`.
    init(_ session: HTTPSession, _ request: SessionRequest, _ transfer: Transfer) throws(SessionError) {
        let prepared = try PreparedRequest(request, of: session)
        guard let entry = session.registry.enter(transfer) else { throw SessionError(.sessionClosed) }
        guard transfer.begin(number: entry.number, method: prepared.method, uri: prepared.uri, priority: prepared.priority) else {
            session.registry.leave(entry)
            var error = SessionError(
                .transferUsed, "another call has already used this transfer; create a transfer for each call")
            error.request = prepared.subject
            throw error
        }
        self.session = session
        self.transfer = transfer
        self.entry = entry
        self.prepared = prepared
        ledger = MetricsLedger(session.configuration.monitors)
        ledger.begin(entry.number, prepared.method, prepared.uri)
    }

    /// Runs `body`. Cancelling the task that awaits it cancels the transfer. A failure ends the transfer.
    nonisolated(nonsending) func run<Value: Sendable>(_ body: nonisolated(nonsending) () async -> Result<Value, SessionError>)
        async throws(SessionError) -> Value
    {
        let transfer = transfer
        // The result is passed in a variable: generic code would copy a result that `withTaskCancellationHandler` returns.
        var result: Result<Value, SessionError>?
        await withTaskCancellationHandler {
            result = await body()
        } onCancel: {
            transfer.cancel()
        }
        switch consume result {
        case .success(let value): return value
        case .failure(var error):
            error.request = prepared.subject
            error.metrics = ledger.metrics
            end(error)
            throw error
        case nil: preconditionFailure("the body has set it")
        }
    }

    /// Ends the transfer. Monitors get the last event before the session removes the transfer.
    func end(_ error: SessionError?) {
        transfer.end(succeeded: error == nil)
        ledger.complete(error)
        session.registry.leave(entry)
    }
}
