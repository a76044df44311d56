/// Sends many requests, a few at a time, and reports progress.
public struct BatchRunner: Sendable {
    /// One request has ended, with success or failure.
    public struct Step: Sendable {
        /// How many requests have ended, including this one.
        public let finished: Int
        /// How many requests the batch has.
        public let total: Int
        /// The request's index in the list.
        public let index: Int
        /// The request's response or error.
        public let result: Result<SessionResponse, SessionError>
    }

    private let session: HTTPSession
    private let atOnce: Int

    /// - Parameters:
    ///   - session: sends the requests.
    ///   - atOnce: how many requests run at the same time.
    public init(_ session: HTTPSession, atOnce: Int = 4) {
        precondition(atOnce > 0, "none at once is none at all")
        self.session = session
        self.atOnce = atOnce
    }

    /// Sends the requests, and yields one step for each of them, in the order in which they end. For an empty list the sequence
    /// ends at once. Ending the iteration cancels the requests in flight.
    public func steps(_ requests: [SessionRequest]) -> AsyncStream<Step> {
        let (stream, continuation) = AsyncStream.makeStream(of: Step.self)
        let task = Task {
            await run(requests) { continuation.yield($0) }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    /// The results in the order of the requests.
    public func all(_ requests: [SessionRequest]) async -> [Result<SessionResponse, SessionError>] {
        var results = [Result<SessionResponse, SessionError>](
            repeating: .failure(SessionError(.cancelled)), count: requests.count)
        await run(requests) { results[$0.index] = $0.result }
        return results
    }

    private func run(_ requests: [SessionRequest], _ tell: (Step) -> Void) async {
        await withTaskGroup(of: (Int, Result<SessionResponse, SessionError>).self) { group in
            var next = 0
            func begin() {
                guard next < requests.count else { return }
                let (index, request) = (next, requests[next])
                next += 1
                group.addTask { (index, await session.result(of: request)) }
            }
            for _ in 0..<atOnce { begin() }
            var finished = 0
            for await (index, result) in group {
                finished += 1
                tell(Step(finished: finished, total: requests.count, index: index, result: result))
                begin()
            }
        }
    }
}

extension HTTPSession {
    fileprivate func result(of request: SessionRequest) async -> Result<SessionResponse, SessionError> {
        do throws(SessionError) { return .success(try await send(request)) } catch { return .failure(error) }
    }
}
