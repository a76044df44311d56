/// Output storage of one loop: a connection has some while a request is under way.
final class BufferPool {
    @exclusivity(unchecked) private var spare: [[UInt8]] = []

    /// How many buffers without content are kept for the next request.
    private static let limit = 256

    func lend(to buffer: inout [UInt8]) {
        if let lent = spare.popLast() { buffer = lent }
    }

    /// - Parameter capacity: A larger one is not kept, in bytes.
    func takeBack(_ buffer: inout [UInt8], upTo capacity: Int) {
        let kept = buffer
        buffer = []
        if spare.count < Self.limit, kept.capacity <= capacity { spare.append(kept) }
    }
}
