import CLinux
import Glibc
import ResponseStore
import TLSChannel

/// A body's bytes where they lie: kept alive until they have left.
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

/// Bytes on their way to one client: a buffer of our own, and behind it perhaps a body that is written from where it lies.
///
/// Confined to its connection's loop. The buffer keeps its storage from request to request.
struct OutputQueue {
    enum Result {
        case drained
        /// The kernel takes no more for now.
        case blocked
        /// As much as was allowed has left.
        case yielded
        case failed
    }

    /// Heads, and bodies small enough to be copied behind them.
    var buffer: [UInt8] = []
    private var bufferOffset = 0
    private var tail = BorrowedBytes.none
    private var tailRange = 0..<0
    /// What is behind all else, in the kernel's hands.
    private var pipe: Pipe?
    private var pipedCount = 0
    /// Bytes that the kernel has taken, of everything that was ever put here.
    private(set) var writtenCount: UInt64 = 0
    /// How many bytes of records wait in the channel, as of the last writing.
    private var sealedCount = 0

    var isEmpty: Bool { pendingCount == 0 }
    var pendingCount: Int { buffer.count - bufferOffset + tailRange.count + pipedCount + sealedCount }
    /// What waits where there is neither TLS nor a body behind the buffer.
    var unsent: [UInt8] {
        precondition(sealedCount == 0 && !hasTail, "the buffer is not all that waits")
        return Array(buffer[bufferOffset...])
    }
    /// Something waits that nothing may be appended to.
    var hasTail: Bool { !tailRange.isEmpty || pipedCount > 0 }

    /// Puts a body behind the buffer without copying it. There can be one at a time, and nothing is appended until it has left.
    mutating func setTail(_ bytes: BorrowedBytes, _ range: Range<Int>) {
        precondition(tailRange.isEmpty, "the body before has not left yet")
        tail = bytes
        tailRange = range
    }

    /// Puts so many bytes more, which are in the pipe, behind all else. Nothing else is appended until they have left.
    mutating func appendPiped(_ count: Int, from pipe: Pipe) {
        precondition(tailRange.isEmpty, "the body before has not left yet")
        self.pipe = pipe
        pipedCount += count
    }

    /// Writes what there is in as few calls as the kernel lets us.
    /// - Parameter limit: what `writtenCount` may come to, or a little more. One call may otherwise take tens of milliseconds: the kernel
    ///   takes as much as the client reads meanwhile.
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
        return CLinux.splice(
            pipe.readEnd, nil, descriptor, nil, min(count, pipedCount), larder_splice_move | larder_splice_nonblock)
    }

    /// Writes what waits, and `bytes` behind it from where they lie; what the kernel does not take of them is kept. A failure
    /// shows with the next write.
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

    /// So many bytes are on their way.
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

// MARK: Inside TLS

extension OutputQueue {
    /// So much is put into records before they are sent.
    private static let sealedAtOnce = 48 * 1024

    private mutating func writeSealed(to channel: inout ByteChannel, upTo limit: UInt64) -> Result {
        while true {
            let result = sendSealed(to: &channel)
            if result != .drained || isEmpty { return result }
            if writtenCount >= limit { return .yielded }
            guard seal(in: channel) else { return .failed }
        }
    }

    /// Puts what waits into records, up to a measure.
    /// - Returns: whether that could be done.
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
