import Synchronization

/// A value behind a lock, for short sections that call nothing outside.
///
/// The one place in this room where `Mutex` stands.
package struct Guarded<Value: ~Copyable & Sendable>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>

    package init(_ value: consuming sending Value) { mutex = Mutex(value) }

    package func withLock<Result: ~Copyable>(_ body: (inout Value) -> Result) -> Result {
        mutex.withLock { body(&$0) }
    }
}
