/// Sends any number of messages of one type to a loop, until the loop closes it.
///
/// Unlike a `Reply`, a port can send more than one message. The port's handler stays on the loop.
package struct Port<Value: Sendable>: Sendable {
    let mailbox: Mailbox
    let number: UInt64

    /// Sends a message from any thread. After `EventLoop.close(_:)` it is dropped.
    package func send(_ value: Value) {
        let number = number
        mailbox.post { $0.deliver(value, toPort: number) }
    }
}
