import EventLoop
import HTTPCaching

/// One reader's place in a pending response. Belongs to one client; leaving it lets the fetch go on without it.
package final class PendingReader: Sendable {
    package let pending: PendingResponse
    private let id: Int
    /// What has to be read from the disk stays there, even if the response is replaced or evicted.
    private let hold: BodyHold

    init(_ pending: PendingResponse, id: Int) {
        self.pending = pending
        self.id = id
        hold = BodyHold(BodyReference(id: pending.row, length: 0), in: pending.core.holds)
    }

    deinit { pending.detach(reader: id) }

    /// What stands at this place of the body. Says at the same time that everything before it has been used.
    package func read(at position: UInt64) -> PendingRead { pending.read(at: position, reader: id) }

    /// Answers once when `read(at:)` no longer says `wait`: at once where it does not already.
    package func whenReadable(at position: UInt64, _ reply: Reply<Void>) { whenReadable(at: position) { reply.send(()) } }

    func whenReadable(at position: UInt64, _ wake: @escaping @Sendable () -> Void) {
        pending.wait(at: position, reader: id, wake)
    }
}
