public import LarderHTTP

extension HTTPSession {
    /// Sends a request, and reports its progress.
    /// - Parameters:
    ///   - request: the request to send.
    ///   - progress: called with each new value, one call at a time, on any thread. All calls are over when the method returns. Values
    ///     that come faster than the closure returns are skipped, except the last.
    public func send(
        _ request: SessionRequest, progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws(SessionError) -> SessionResponse {
        try await reporting(progress) { transfer throws(SessionError) in try await self.send(request, as: transfer) }
    }

    /// Sends a request with this content instead of the request's own, and reports its progress.
    public func upload(
        _ request: SessionRequest, from body: RequestBody, progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws(SessionError) -> SessionResponse {
        try await reporting(progress) { transfer throws(SessionError) in
            try await self.upload(request, from: body, as: transfer)
        }
    }

    /// Downloads a file, and reports its progress.
    public func download(
        _ request: SessionRequest, to destination: DownloadDestination, resuming token: ResumeToken? = nil,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws(SessionError) -> DownloadedFile {
        try await reporting(progress) { transfer throws(SessionError) in
            try await self.download(request, to: destination, resuming: token, as: transfer)
        }
    }

    private func reporting<Value: Sendable>(
        _ progress: @escaping @Sendable (TransferProgress) -> Void, _ body: (Transfer) async throws(SessionError) -> Value
    ) async throws(SessionError) -> Value {
        let transfer = Transfer()
        let steps = transfer.progress
        let reporting = Task { for await step in steps { progress(step) } }
        do throws(SessionError) {
            let value = try await body(transfer)
            await reporting.value
            return value
        } catch {
            // A request that never began has no end of its progress.
            reporting.cancel()
            await reporting.value
            throw error
        }
    }
}
