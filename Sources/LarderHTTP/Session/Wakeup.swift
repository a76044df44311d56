import EventLoop

/// One value that one task waits for and any thread sends, once. Later values are dropped.
///
/// The state ensures that the waiting task is resumed once. A checked continuation would check the same at the cost of an allocation.
final class Wakeup<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waited(UnsafeContinuation<Value, Never>)
        case sent(Value)
        case over
    }

    private let state = Guarded(State.empty)

    /// - Returns: whether this value was the first. Only the first value is passed to the waiting task.
    @discardableResult
    func send(_ value: Value) -> Bool {
        let (isFirst, waiting): (Bool, UnsafeContinuation<Value, Never>?) = state.withLock { state in
            switch state {
            case .empty:
                state = .sent(value)
                return (true, nil)
            case .waited(let continuation):
                state = .over
                return (true, continuation)
            case .sent, .over: return (false, nil)
            }
        }
        waiting?.resume(returning: value)
        return isFirst
    }

    /// Waits for the value. Call it once.
    nonisolated(nonsending) func value() async -> Value {
        await withUnsafeContinuation { continuation in
            let value: Value? = state.withLock { state in
                guard case .sent(let value) = state else {
                    state = .waited(continuation)
                    return nil
                }
                state = .over
                return value
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}
