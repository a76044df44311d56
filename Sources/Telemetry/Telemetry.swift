import EventLoop
import HTTPMessage
import Synchronization

/// Collects spans and log messages, and passes them in batches to a sender. Bounded: if the collector is slow or absent, further items are
/// dropped and counted, and nothing waits.
package final class Telemetry: Sendable {
    /// A request's path and its content, in JSON.
    package struct Batch: Sendable {
        package let path: String
        package let body: [UInt8]
        package let itemCount: Int
    }

    private struct State: Sendable {
        var spans: [TraceSpan] = []
        var messages: [LogMessage] = []
        var isTimerSet = false
    }

    /// The maximum number of items that wait, of each kind.
    package static let queueLimit = 4096
    /// A batch is made at this number of items, or after this time.
    private static let batchLimit = 512
    private static let gatherMilliseconds = 2000
    /// The maximum number of batches that wait for the sender.
    private static let batchQueueLimit = 16

    package let batches: AsyncStream<Batch>
    private let continuation: AsyncStream<Batch>.Continuation
    private let text: OTLPText
    private let state = Guarded(State())
    private let thread: LoopThread
    private let dropped = Atomic<UInt64>(0)

    /// - Parameter resource: attributes of this process, such as `service.name`.
    package init(resource: [(String, String)], version: String) throws(SystemError) {
        text = OTLPText(resource: resource, version: version)
        (batches, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.batchQueueLimit))
        thread = try LoopThread(name: "telemetry", .beside)
    }

    /// The number of spans and messages that were dropped.
    package var droppedCount: UInt64 { dropped.load(ordering: .relaxed) }

    /// Counts items that could not be delivered.
    package func noteUndelivered(_ count: Int) { dropped.wrappingAdd(UInt64(count), ordering: .relaxed) }

    package func note(_ span: TraceSpan) { append { $0.spans.count < Self.queueLimit ? ($0.spans.append(span), true).1 : false } }

    package func note(_ message: LogMessage) {
        append { $0.messages.count < Self.queueLimit ? ($0.messages.append(message), true).1 : false }
    }

    private func append(_ change: @Sendable (inout State) -> Bool) {
        let (isKept, isFull, isFirst) = state.withLock { state -> (Bool, Bool, Bool) in
            guard change(&state) else { return (false, false, false) }
            let isFirst = !state.isTimerSet
            state.isTimerSet = true
            return (true, max(state.spans.count, state.messages.count) == Self.batchLimit, isFirst)
        }
        if !isKept { return noteUndelivered(1) }
        if isFull {
            thread.handle.post { _ in self.gather() }
        } else if isFirst {
            thread.handle.post { loop in
                (loop.owner as? GatherTimer ?? GatherTimer(self, loop)).set(on: loop, milliseconds: Self.gatherMilliseconds)
            }
        }
    }

    fileprivate func gather() {
        let (spans, messages) = state.withLock { state in
            defer { state = State() }
            return (state.spans, state.messages)
        }
        if !spans.isEmpty { send("/v1/traces", text.traces(spans), spans.count) }
        if !messages.isEmpty { send("/v1/logs", text.logs(messages), messages.count) }
    }

    private func send(_ path: String, _ text: String, _ count: Int) {
        if case .dropped = continuation.yield(Batch(path: path, body: Array(text.utf8), itemCount: count)) {
            noteUndelivered(count)
        }
    }

    /// Makes the last batches, and ends `batches`. Call it once.
    package func close() {
        thread.handle.post { loop in
            self.gather()
            self.continuation.finish()
            loop.owner = nil
            loop.stop()
        }
        thread.join()
    }
}

/// Makes a batch after a while. Confined to the thread of its loop, which owns it.
private final class GatherTimer: TimerHandler {
    private unowned let telemetry: Telemetry
    private var timer: TimerID?

    init(_ telemetry: Telemetry, _ loop: EventLoop) {
        self.telemetry = telemetry
        timer = loop.makeTimer(self)
        loop.owner = self
    }

    func set(on loop: EventLoop, milliseconds: Int) {
        if let timer { loop.setTimer(timer, afterMilliseconds: milliseconds) }
    }

    func deadlinePassed(_ timer: TimerID) { telemetry.gather() }
}
