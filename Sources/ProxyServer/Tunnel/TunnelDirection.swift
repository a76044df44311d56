import CLinux
import Glibc

/// One direction of a tunnel: from one descriptor to another, ending when the source ends.
///
/// The first bytes are copied through the loop's buffer, which is cheaper than two descriptors for a tunnel that carries only a
/// handshake; what goes beyond is spliced through a pipe.
struct TunnelDirection: ~Copyable {
    enum Step { case waitsToRead, waitsToWrite, ended, failed }

    let source: Int32
    let sink: Int32
    private(set) var count: UInt64 = 0
    private(set) var hasEnded = false
    private var held: [UInt8]
    private var heldOffset = 0
    private var pipe: Pipe?
    private var inPipe = 0

    /// From this many octets on, bytes are spliced.
    private static let copiedCount: UInt64 = 64 * 1024

    init(from source: Int32, to sink: Int32, alreadyRead: [UInt8] = []) {
        self.source = source
        self.sink = sink
        held = alreadyRead
        count = UInt64(alreadyRead.count)
    }

    /// Moves bytes until one side would block, or the source has ended and everything has been written.
    mutating func move(through buffer: UnsafeMutableRawBufferPointer) -> Step {
        if hasEnded { return .ended }
        // Bounded, so that one fast tunnel does not hold the loop.
        for _ in 0..<16 {
            if heldOffset < held.count {
                guard let step = writeHeld() else { continue }
                return step
            }
            if inPipe > 0 {
                guard let step = drainPipe() else { continue }
                return step
            }
            let step = count < Self.copiedCount ? copy(through: buffer) : fillPipe()
            if let step { return step }
        }
        return .waitsToRead
    }

    private mutating func copy(through buffer: UnsafeMutableRawBufferPointer) -> Step? {
        let received = recv(source, buffer.baseAddress, buffer.count, 0)
        if received == 0 { return end() }
        if received < 0 { return blockedOrFailed(.waitsToRead) }
        count += UInt64(received)
        let written = send(sink, buffer.baseAddress, received, Int32(larder_msg_nosignal))
        if written < 0, errno != EAGAIN, errno != EINTR { return .failed }
        let sent = max(written, 0)
        if sent < received {
            held = Array(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[sent..<received]))
            heldOffset = 0
            return .waitsToWrite
        }
        // Less than the buffer holds: there is nothing more now, most likely, and asking would cost a call.
        return received < buffer.count ? .waitsToRead : nil
    }

    private mutating func writeHeld() -> Step? {
        let written = held.withUnsafeBytes {
            send(sink, $0.baseAddress! + heldOffset, $0.count - heldOffset, Int32(larder_msg_nosignal))
        }
        if written < 0 { return blockedOrFailed(.waitsToWrite) }
        heldOffset += written
        if heldOffset == held.count {
            held = []
            heldOffset = 0
        }
        return nil
    }

    private mutating func fillPipe() -> Step? {
        if pipe == nil { pipe = Pipe() }
        guard let writeEnd = pipe?.writeEnd else { return .failed }
        let moved = CLinux.splice(source, nil, writeEnd, nil, Pipe.capacity, larder_splice_move | larder_splice_nonblock)
        if moved == 0 { return end() }
        if moved < 0 { return blockedOrFailed(.waitsToRead) }
        count += UInt64(moved)
        inPipe = moved
        return nil
    }

    private mutating func drainPipe() -> Step? {
        guard let readEnd = pipe?.readEnd else { return .failed }
        let moved = CLinux.splice(readEnd, nil, sink, nil, inPipe, larder_splice_move | larder_splice_nonblock)
        if moved < 0 { return blockedOrFailed(.waitsToWrite) }
        inPipe -= moved
        return nil
    }

    /// The source will send no more: the sink is told, and the other direction goes on.
    private mutating func end() -> Step {
        hasEnded = true
        pipe = nil
        _ = shutdown(sink, Int32(SHUT_WR))
        return .ended
    }

    private func blockedOrFailed(_ step: Step) -> Step? {
        if errno == EINTR { return nil }
        return errno == EAGAIN ? step : .failed
    }
}
