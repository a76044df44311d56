/// Output buffers of one loop; a connection has one while a request is in flight.
final class BufferPool {
    @exclusivity(unchecked) private var spare: [[UInt8]] = []

    /// The maximum number of empty buffers kept for later requests.
    private static let limit = 256

    func lend(to buffer: inout [UInt8]) {
        if let lent = spare.popLast() { buffer = lent }
    }

    /// - Parameter capacity: The maximum capacity of a buffer that is kept, in bytes.
    func takeBack(_ buffer: inout [UInt8], upTo capacity: Int) {
        let kept = buffer
        buffer = []
        if spare.count < Self.limit, kept.capacity <= capacity { spare.append(kept) }
    }
}
