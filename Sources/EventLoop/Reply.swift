/// The way back to a loop for one answer: sent from any thread, handled on the loop.
///
/// The handler never leaves the loop, so it may capture what is confined to it. A reply that is never sent keeps its handler
/// until the loop ends or `EventLoop.forget` is called.
package struct Reply<Value: Sendable>: Sendable {
    let mailbox: Mailbox
    let number: UInt64

    /// Sends the answer. Only the first one reaches the handler, and none after `forget`.
    package func send(_ value: Value) {
        let number = number
        mailbox.post { $0.deliver(value, to: number) }
    }
}

/// A handler waiting for its answer. Its type is known from its number, which only `Reply<Value>` holds.
class PendingReply {}

final class PendingReplyOf<Value: Sendable>: PendingReply {
    let handler: (Value) -> Void
    init(_ handler: @escaping (Value) -> Void) { self.handler = handler }
}
