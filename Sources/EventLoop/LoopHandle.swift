/// A loop for use by other threads, which can post messages to it.
package struct LoopHandle: Sendable {
    let mailbox: Mailbox

    /// Runs `message` on the loop's thread, in the order of posting. Callable from any thread, including the loop's own.
    /// - Returns: `false` if the loop has ended; the message is then dropped.
    @discardableResult
    package func post(_ message: @escaping @Sendable (EventLoop) -> Void) -> Bool { mailbox.post(message) }

    /// Ends the loop's `run` after the current batch.
    package func stop() { post { $0.stop() } }
}
