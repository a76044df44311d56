import EventLoop
import HTTPCaching

/// One reader's place in a filling. Belongs to one client; leaving it lets the fetch go on without it.
package final class FillingReader: Sendable {
    package let filling: Filling
    private let id: Int
    /// What has to be read from the disk stays there, even if the response is replaced or evicted.
    private let hold: BodyHold

    init(_ filling: Filling, id: Int) {
        self.filling = filling
        self.id = id
        hold = BodyHold(BodyReference(id: filling.row, length: 0), in: filling.core.holds)
    }

    deinit { filling.detach(reader: id) }

    /// What stands at this place of the body. Says at the same time that everything before it has been used.
    package func read(at position: UInt64) -> FillingRead { filling.read(at: position, reader: id) }

    /// Answers once when `read(at:)` no longer says `wait`: at once where it does not already.
    package func whenReadable(at position: UInt64, _ reply: Reply<Void>) { whenReadable(at: position) { reply.send(()) } }

    func whenReadable(at position: UInt64, _ wake: @escaping @Sendable () -> Void) {
        filling.wait(at: position, reader: id, wake)
    }
}
