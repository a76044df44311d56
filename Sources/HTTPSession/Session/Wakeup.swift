import EventLoop

/// One value that one task waits for and anybody sends, once. What is sent later is dropped.
///
/// The state sees to it that who waits is resumed once; a check of the same would cost an allocation.
final class Wakeup<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waited(UnsafeContinuation<Value, Never>)
        case sent(Value)
        case over
    }

    private let state = Guarded(State.empty)

    /// - Returns: whether it was the first, and will be heard by who waits.
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

    /// Waits for the value. To be called once.
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
