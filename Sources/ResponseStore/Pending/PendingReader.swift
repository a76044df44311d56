import EventLoop
import HTTPCaching

/// One client's reader of a pending response. If it is released, the fetch continues without it.
package final class PendingReader: Sendable {
    package let pending: PendingResponse
    private let id: Int
    /// Keeps the body's chunks on disk for this reader, even if the response is replaced or evicted.
    private let hold: BodyHold

    init(_ pending: PendingResponse, id: Int) {
        self.pending = pending
        self.id = id
        hold = BodyHold(BodyReference(id: pending.row, length: 0), in: pending.core.holds)
    }

    deinit { pending.detach(reader: id) }

    /// Reads the body at this position. Also tells the pending response that the reader no longer needs the bytes before this position.
    package func read(at position: UInt64) -> PendingRead { pending.read(at: position, reader: id) }

    /// Calls back once when `read(at:)` no longer returns `wait`; at once if there is already something to read.
    package func whenReadable(at position: UInt64, _ reply: Reply<Void>) { whenReadable(at: position) { reply.send(()) } }

    func whenReadable(at position: UInt64, _ wake: @escaping @Sendable () -> Void) {
        pending.wait(at: position, reader: id, wake)
    }
}
