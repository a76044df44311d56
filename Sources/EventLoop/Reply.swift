/// Brings one value back to a loop: sent from any thread, handled on the loop.
///
/// The handler stays on the loop, so it may capture objects confined to it. If a reply is never sent, the loop keeps the handler until
/// it ends or `EventLoop.forget` is called.
package struct Reply<Value: Sendable>: Sendable {
    let mailbox: Mailbox
    let number: UInt64

    /// Sends the value. Only the first one reaches the handler, and none after `forget`.
    package func send(_ value: Value) {
        let number = number
        mailbox.post { $0.deliver(value, to: number) }
    }
}

/// A handler that waits for its value. The number implies the type of the value, because only a `Reply<Value>` or `Port<Value>` holds
/// it.
class PendingReply {}

final class PendingReplyOf<Value: Sendable>: PendingReply {
    let handler: (Value) -> Void
    init(_ handler: @escaping (Value) -> Void) { self.handler = handler }
}
