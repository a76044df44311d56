import EventLoop
import HTTPMessage

/// Events that wait for the writer's thread. Bounded: further events are only counted.
final class AuditQueue: Sendable {
    struct Event: Sendable {
        let time: Timestamp
        /// The members of the line from `time` on.
        let body: [UInt8]
    }

    private struct State: Sendable {
        var events: [Event] = []
        var byteCount = 0
        var lostCount: UInt64 = 0
    }

    static let byteLimit = 16 << 20

    private let state = Guarded(State())

    /// - Returns: whether the writer must be woken.
    func append(_ event: Event) -> Bool {
        state.withLock { state in
            if state.byteCount + event.body.count > Self.byteLimit {
                state.lostCount += 1
                return false
            }
            state.events.append(event)
            state.byteCount += event.body.count
            return state.events.count == 1
        }
    }

    /// Takes all events, and the number of events lost since the last call.
    func take() -> (events: [Event], lostCount: UInt64) {
        state.withLock { state in
            defer { state = State() }
            return (state.events, state.lostCount)
        }
    }
}
