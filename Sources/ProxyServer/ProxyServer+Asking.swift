import EventLoop
import HTTPWire
import ProxyCore

/// Queries to the loops: each loop answers on its own thread, so no state is shared.
extension ProxyServer {
    /// Adds up the statistics of all loops since the start. Replies when every loop has answered; a stopped server does not reply.
    package func statistics(_ reply: Reply<LoopStatistics>) {
        askLoops({ $0.statistics }) { answers in reply.send(answers.reduce(LoopStatistics(), +)) }
    }

    /// Adds up the metrics of all loops since the start. Replies as `statistics` does.
    package func metrics(_ reply: Reply<(LoopStatistics, MetricsSnapshot)>) {
        askLoops({ ($0.statistics, $0.metrics.snapshot(with: $0.transports)) }) { answers in
            guard var sum = answers.first?.1 else { return }
            for answer in answers.dropFirst() { sum += answer.1 }
            reply.send((answers.reduce(LoopStatistics()) { $0 + $1.0 }, sum))
        }
    }

    /// The number of cached transformed responses, and their bytes.
    package var transformedBodies: (count: Int, bytes: Int) {
        let counts = shared.variants.counts
        return (counts.entries, counts.bytes)
    }

    /// Finds the trace of a request by its id in the log; replies with `nil` if no loop has this trace now.
    package func trace(of id: UInt64, _ reply: Reply<TracedRequest?>) {
        askLoops({ $0.traces.find(id) }) { answers in reply.send(answers.lazy.compactMap { $0 }.first) }
    }

    /// Looks for the latest request with this method and key for which it was decided whether to store the response.
    package func latestStorage(method: [UInt8], key: [UInt8], _ reply: Reply<TracedRequest?>) {
        askLoops({ $0.traces.latestStorage(method: method, key: key) }) { answers in
            reply.send(answers.compactMap { $0 }.max { $0.trace.receivedAt < $1.trace.receivedAt })
        }
    }

    /// Replaces the addresses of this process's other listeners: requests to them are refused.
    package func replaceOtherListeners(_ addresses: [PeerAddress]) {
        activate { $0.settings.otherListeners = addresses }
    }

    /// The active exchange context.
    package var context: ExchangeContext { shared.current.context }

    /// The active limits for request heads.
    package var parseLimits: ParseLimits { shared.current.settings.parseLimits }

    /// Queries each loop, and passes all answers on, in any order; called on a loop's thread.
    func askLoops<Answer: Sendable>(
        _ ask: @escaping @Sendable (LoopWorker) -> Answer, _ completion: @escaping @Sendable ([Answer]) -> Void
    ) {
        let gathering = Gathering(expecting: threads.count, completion)
        for thread in threads {
            thread.handle.post { loop in
                guard let worker = loop.owner as? LoopWorker else { return }
                gathering.add(ask(worker))
            }
        }
    }
}

/// Calls its completion when the last answer has arrived.
final class Gathering<Answer: Sendable>: Sendable {
    private let answers = Guarded<[Answer]>([])
    private let expectedCount: Int
    private let completion: @Sendable ([Answer]) -> Void

    init(expecting count: Int, _ completion: @escaping @Sendable ([Answer]) -> Void) {
        expectedCount = count
        self.completion = completion
    }

    func add(_ answer: Answer) {
        let all = answers.withLock { answers -> [Answer]? in
            answers.append(answer)
            return answers.count == expectedCount ? answers : nil
        }
        if let all { completion(all) }
    }
}
