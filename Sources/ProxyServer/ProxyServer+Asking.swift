import EventLoop
import HTTPWire
import ProxyCore

/// What other threads ask the loops: each loop answers for itself, on its own thread, and nothing is shared for it.
extension ProxyServer {
    /// Adds up what the loops have done since the start. Answered once every loop has; a server that has stopped does not answer.
    package func statistics(_ reply: Reply<LoopStatistics>) {
        askLoops({ $0.statistics }) { answers in reply.send(answers.reduce(LoopStatistics(), +)) }
    }

    /// What rules have made of stored responses, as it is kept now: how many, and their bytes.
    package var transformedBodies: (count: Int, bytes: Int) {
        let counts = shared.variants.counts
        return (counts.entries, counts.bytes)
    }

    /// Looks for what was decided about a request, by the name that it has in the log: `nil` where no ring has it (any more).
    package func trace(of id: UInt64, _ reply: Reply<TracedRequest?>) {
        askLoops({ $0.traces.find(id) }) { answers in reply.send(answers.lazy.compactMap { $0 }.first) }
    }

    /// What requests are decided by now.
    package var context: ExchangeContext { shared.current.context }

    /// What the heads of requests are held to now.
    package var parseLimits: ParseLimits { shared.current.settings.parseLimits }

    /// Asks each loop, and gives on what all have answered, in no order; called on some loop's thread.
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

/// Calls its completion with all answers once the last has come.
private final class Gathering<Answer: Sendable>: Sendable {
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
