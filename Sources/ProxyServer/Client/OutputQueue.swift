import CLarderLinux
import EventLoop
import Glibc
import ResponseStore
import TLSChannel

/// A body's bytes, borrowed without copying and kept alive until they are written.
enum BorrowedBytes {
    case none
    case bytes([UInt8])
    case chunk(BodyChunk)

    func withBytes<Result>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch self {
        case .none: body(UnsafeRawBufferPointer(start: nil, count: 0))
        case .bytes(let bytes): bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
        case .chunk(let chunk): chunk.withBytes(range, body)
        }
    }
}

/// Output for one client: a buffer, optionally followed by a body that is written without copying.
///
/// Confined to its connection's loop. The buffer keeps its storage between requests.
struct OutputQueue {
    enum Result {
        case drained
        /// The socket is not writable now.
        case blocked
        /// The limit of the call was reached.
        case yielded
        case failed
    }

    /// Heads, and the bodies that are small enough to be copied after them.
    var buffer: [UInt8] = []
    private var bufferOffset = 0
    private var tail = BorrowedBytes.none
    private var tailRange = 0..<0
    /// A kernel pipe whose bytes are written after all other waiting bytes.
    private var pipe: KernelPipe?
    private var pipedCount = 0
    /// The total number of bytes written to the socket.
    private(set) var writtenCount: UInt64 = 0
    /// The number of bytes in TLS records that the channel had not sent after the last write.
    private var sealedCount = 0

    var isEmpty: Bool { pendingCount == 0 }
    var pendingCount: Int { buffer.count - bufferOffset + tailRange.count + pipedCount + sealedCount }
    /// The waiting bytes. May be read only without TLS, and if no body follows the buffer.
    var unsent: [UInt8] {
        precondition(sealedCount == 0 && !hasTail, "the buffer is not all that waits")
        return Array(buffer[bufferOffset...])
    }
    /// Whether a body or bytes in a pipe wait, after which nothing may be appended.
    var hasTail: Bool { !tailRange.isEmpty || pipedCount > 0 }

    /// Appends a body without copying it. Only one body may wait at a time, and nothing may be appended until it is written.
    mutating func setTail(_ bytes: BorrowedBytes, _ range: Range<Int>) {
        precondition(tailRange.isEmpty, "the body before has not left yet")
        tail = bytes
        tailRange = range
    }

    /// Appends bytes that are in a kernel pipe. Nothing else may be appended until they are written.
    mutating func appendPiped(_ count: Int, from pipe: KernelPipe) {
        precondition(tailRange.isEmpty, "the body before has not left yet")
        self.pipe = pipe
        pipedCount += count
    }

    /// Writes waiting bytes in as few calls as possible.
    /// - Parameter limit: the value of `writtenCount` at which to stop, approximately. Without a limit, one call may take tens of
    ///   milliseconds, while the kernel accepts as much as the client reads.
    mutating func write(to channel: inout ByteChannel, upTo limit: UInt64 = .max) -> Result {
        if channel.isSecured { return writeSealed(to: &channel, upTo: limit) }
        while !isEmpty {
            if writtenCount >= limit { return .yielded }
            let written = writeFirst(to: channel.descriptor, atMost: Int(clamping: limit - writtenCount))
            if written < 0 {
                if errno == EINTR { continue }
                return errno == EAGAIN ? .blocked : .failed
            }
            advance(by: written)
        }
        return .drained
    }

    private mutating func writeFirst(to descriptor: Int32, atMost count: Int) -> Int {
        if !tailRange.isEmpty {
            let first = tailRange.lowerBound..<tailRange.lowerBound + min(count, tailRange.count)
            return tail.withBytes(first) { sendBuffer(and: $0, to: descriptor) }
        }
        if bufferOffset < buffer.count { return sendBuffer(to: descriptor) }
        guard let pipe else { preconditionFailure("there is nothing to write") }
        return CLarderLinux.splice(
            pipe.readEnd, nil, descriptor, nil, min(count, pipedCount), larder_splice_move | larder_splice_nonblock)
    }

    /// Writes waiting bytes, then `bytes` without copying; keeps the part that the kernel does not accept. The next write reports a
    /// failure.
    mutating func write(_ bytes: Span<UInt8>, to channel: inout ByteChannel) {
        precondition(!hasTail, "the body before has not left yet")
        if channel.isSecured {
            _ = seal(in: channel) && bytes.withUnsafeBytes(channel.seal)
            _ = sendSealed(to: &channel)
            return
        }
        let descriptor = channel.descriptor
        let written = max(bytes.withUnsafeBytes { sendBuffer(and: $0, to: descriptor) }, 0)
        let taken = max(written - (buffer.count - bufferOffset), 0)
        advance(by: written - taken)
        buffer.append(bytes.extracting(taken..<bytes.count))
    }

    /// Passes the waiting bytes to `take` in their order, until `take` accepts fewer than it is given.
    /// - Parameter take: returns the number of bytes that it has accepted.
    mutating func take(by take: (UnsafeRawBufferPointer) -> Int) {
        precondition(sealedCount == 0 && pipedCount == 0, "the bytes have a channel of their own")
        while !isEmpty {
            let (given, taken) =
                if bufferOffset < buffer.count {
                    buffer.withUnsafeBytes {
                        ($0.count - bufferOffset, take(UnsafeRawBufferPointer(rebasing: $0[bufferOffset...])))
                    }
                } else {
                    (tailRange.count, tail.withBytes(tailRange, take))
                }
            advance(by: taken)
            if taken < given { return }
        }
    }

    private func sendBuffer(to descriptor: Int32) -> Int {
        buffer.withUnsafeBytes { bytes in
            send(descriptor, bytes.baseAddress! + bufferOffset, bytes.count - bufferOffset, Int32(larder_msg_nosignal))
        }
    }

    private func sendBuffer(and more: UnsafeRawBufferPointer, to descriptor: Int32) -> Int {
        buffer.withUnsafeBytes { first in
            var pieces: InlineArray<2, iovec> = .init(repeating: iovec())
            var count = 0
            if first.count > bufferOffset {
                pieces[0] = iovec(
                    iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress! + bufferOffset),
                    iov_len: first.count - bufferOffset)
                count = 1
            }
            pieces[count] = iovec(iov_base: UnsafeMutableRawPointer(mutating: more.baseAddress), iov_len: more.count)
            count += 1
            var span = pieces.mutableSpan
            return span.withUnsafeMutableBufferPointer { list in
                var message = msghdr()
                message.msg_iov = list.baseAddress
                message.msg_iovlen = count
                return sendmsg(descriptor, &message, Int32(larder_msg_nosignal))
            }
        }
    }

    private mutating func advance(by count: Int) {
        writtenCount &+= UInt64(truncatingIfNeeded: count)
        take(count)
    }

    /// Removes this many bytes, which were written, from the queue.
    private mutating func take(_ count: Int) {
        let fromBuffer = min(count, buffer.count - bufferOffset)
        bufferOffset += fromBuffer
        if bufferOffset == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            bufferOffset = 0
        }
        let fromTail = min(count - fromBuffer, tailRange.count)
        if fromTail > 0 { tailRange = tailRange.lowerBound + fromTail..<tailRange.upperBound }
        if tailRange.isEmpty, fromTail > 0 { tail = .none }
        let fromPipe = count - fromBuffer - fromTail
        if fromPipe > 0 {
            pipedCount -= fromPipe
            if pipedCount == 0 { pipe = nil }
        }
    }
}

// MARK: TLS

extension OutputQueue {
    /// The maximum number of bytes encrypted before they are sent.
    private static let sealedAtOnce = 48 * 1024

    private mutating func writeSealed(to channel: inout ByteChannel, upTo limit: UInt64) -> Result {
        while true {
            let result = sendSealed(to: &channel)
            if result != .drained || isEmpty { return result }
            if writtenCount >= limit { return .yielded }
            guard seal(in: channel) else { return .failed }
        }
    }

    /// Encrypts waiting bytes into records, up to `sealedAtOnce`.
    /// - Returns: whether that succeeded.
    private mutating func seal(in channel: ByteChannel) -> Bool {
        var left = Self.sealedAtOnce
        while left > 0, bufferOffset < buffer.count || !tailRange.isEmpty {
            let isSealed: Bool
            let count: Int
            if bufferOffset < buffer.count {
                count = min(left, buffer.count - bufferOffset)
                isSealed = buffer.withUnsafeBytes {
                    channel.seal(UnsafeRawBufferPointer(rebasing: $0[bufferOffset..<bufferOffset + count]))
                }
            } else {
                count = min(left, tailRange.count)
                isSealed = tail.withBytes(tailRange.lowerBound..<tailRange.lowerBound + count, channel.seal)
            }
            guard isSealed else { return false }
            take(count)
            left -= count
        }
        return true
    }

    private mutating func sendSealed(to channel: inout ByteChannel) -> Result {
        let sent = channel.sendRecords(counting: &writtenCount)
        sealedCount = channel.unsentCount
        return switch sent {
        case .drained: .drained
        case .blocked: .blocked
        case .failed: .failed
        }
    }
}
