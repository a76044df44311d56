/// A loop as other threads may see it: a place to send messages to.
package struct LoopHandle: Sendable {
    let mailbox: Mailbox

    /// Runs `message` on the loop's thread, in the order of posting. Callable from any thread, the loop's own too.
    /// - Returns: `false` when the loop has ended; the message is then dropped.
    @discardableResult
    package func post(_ message: @escaping @Sendable (EventLoop) -> Void) -> Bool { mailbox.post(message) }

    /// Ends the loop's `run` after the batch at hand.
    package func stop() { post { $0.stop() } }
}
