/// What was made of a whole response, and whether the response is accepted. The cache does not store a refused response.
struct Reading<Value: Sendable>: Sendable {
    let value: Value
    let isAccepted: Bool
}

/// Decides whether the caller would accept a response; the cache stores only accepted responses.
struct ResponseCheck: Sendable {
    let accepts: @Sendable (TransferTask.OpenResponse) -> Bool
}

extension HTTPSession {
    /// Sends a request, and makes a value of its whole response.
    ///
    /// The value is made before the response is stored, so that the cache keeps no response that `make` refuses. The value is also made
    /// before the transfer ends, so that monitors receive the failure of `make`.
    func read<Value: Sendable>(
        _ request: SessionRequest, _ transfer: Transfer,
        _ make: @escaping @Sendable (SessionResponse) throws(SessionError) -> Reading<Value>
    ) async throws(SessionError) -> (SessionResponse, Value) {
        let scope = try TransferScope(self, request, transfer)
        let check = ResponseCheck { arrived in
            do throws(SessionError) {
                return try make(SessionResponse(arrived, TransferMetrics())).isAccepted
            } catch { return false }
        }
        let task = TransferTask(
            scope, request, consumption: .whole(limit: configuration.limits.bodyLength), prepared: scope.prepared, check: check)
        let result = try await scope.run { await Self.made(by: task, make) }
        scope.end(nil)
        return result
    }

    private static func made<Value: Sendable>(
        by task: TransferTask, _ make: @Sendable (SessionResponse) throws(SessionError) -> Reading<Value>
    ) async -> Result<(SessionResponse, Value), SessionError> {
        do throws(SessionError) {
            let arrived = try await task.result().get()
            let reading: Reading<Value>
            var response: SessionResponse
            do throws(SessionError) {
                response = try SessionResponse(arrived, task.ledger.metrics)
                reading = try make(response)
            } catch {
                await arrived.settle(isAccepted: false)
                throw error
            }
            if await arrived.settle(isAccepted: reading.isAccepted) { response.cache?.isStored = true }
            return .success((response, reading.value))
        } catch { return .failure(error) }
    }
}
