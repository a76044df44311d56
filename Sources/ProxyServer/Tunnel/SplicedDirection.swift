import CLarderLinux
import EventLoop
import Glibc

/// A direction between two sockets without TLS.
///
/// The first bytes are copied through the loop's buffer, which is cheaper than two more descriptors for a tunnel that carries only a
/// handshake. Later bytes are spliced through a pipe.
final class SplicedDirection: TunnelDirection {
    private let source: Int32
    private let sink: Int32
    private(set) var state = TunnelDirectionState.hasMore
    private(set) var count: UInt64 = 0
    private var held: [UInt8]
    private var heldOffset = 0
    private var pipe: KernelPipe?
    private var inPipe = 0
    /// Whether bytes may be spliced: `false` after a pipe could not be created.
    private var canSplice = true
    /// Whether the source sends no more than the kernel already holds. If so, the source is read until its end is seen.
    private var isSourceEnding = false
    /// Whether reading from the source must still wait for `releaseSource`.
    private var holdsSource: Bool

    /// The number of bytes that are copied before later bytes are spliced.
    private static let copiedCount: UInt64 = 64 * 1024
    /// The maximum number of moves in one turn, so that one fast tunnel does not block the loop.
    private static let movesPerTurn = 16

    /// - Parameters:
    ///   - unsent: bytes to send first, which are not counted.
    ///   - received: bytes of the source that were already read; they are sent after `unsent`.
    ///   - holdsSource: whether nothing is read from the source before `releaseSource`.
    init(
        from source: Int32, to sink: Int32, unsent: [UInt8] = [], received: [UInt8] = [], holdsSource: Bool = false
    ) {
        self.holdsSource = holdsSource
        self.source = source
        self.sink = sink
        held = unsent + received
        count = UInt64(received.count)
        if held.isEmpty { state = .waitsForSource }
    }

    func sourceReady(isEnding: Bool, through buffer: UnsafeMutableRawBufferPointer) {
        if isEnding { isSourceEnding = true }
        if state == .waitsForSource { move(through: buffer) }
    }

    func resume(with octets: [UInt8], isEnding: Bool) {
        assert(state == .waitsForSource && heldOffset == held.count, "nothing has moved yet")
        held = octets
        heldOffset = 0
        count += UInt64(octets.count)
        if isEnding { isSourceEnding = true }
        state = .hasMore
    }

    func releaseSource() {
        holdsSource = false
        if state == .waitsForSource { state = .hasMore }
    }

    var isEmptied: Bool { heldOffset == held.count && inPipe == 0 }

    func sinkReady(through buffer: UnsafeMutableRawBufferPointer) {
        if state == .waitsForSink { move(through: buffer) }
    }

    func move(through buffer: UnsafeMutableRawBufferPointer) {
        if state == .ended { return }
        state = .hasMore
        var left = Self.movesPerTurn
        while state == .hasMore, left > 0 {
            left -= 1
            if heldOffset < held.count {
                writeHeld()
            } else if inPipe > 0 {
                drainPipe()
            } else if holdsSource {
                state = .waitsForSource
            } else if count < Self.copiedCount || !canSplice {
                copy(through: buffer)
            } else {
                fillPipe()
            }
        }
    }

    private func copy(through buffer: UnsafeMutableRawBufferPointer) {
        let received = recv(source, buffer.baseAddress, buffer.count, 0)
        if received == 0 { return end() }
        if received < 0 { return stopped(.waitsForSource) }
        count += UInt64(received)
        let written = send(sink, buffer.baseAddress, received, Int32(larder_msg_nosignal))
        if written < 0, errno != EAGAIN, errno != EINTR { return state = .failed }
        let sent = max(written, 0)
        if sent < received {
            held = Array(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[sent..<received]))
            heldOffset = 0
            return
        }
        // The read did not fill the buffer, so there were no more bytes. Bytes that arrive later cause a new event. An end that
        // arrived together with these bytes causes none, so `isSourceEnding` is checked.
        if received < buffer.count, !isSourceEnding { state = .waitsForSource }
    }

    private func writeHeld() {
        let written = held.withUnsafeBytes {
            send(sink, $0.baseAddress! + heldOffset, $0.count - heldOffset, Int32(larder_msg_nosignal))
        }
        if written < 0 { return stopped(.waitsForSink) }
        heldOffset += written
        if heldOffset == held.count {
            held = []
            heldOffset = 0
        }
    }

    private func fillPipe() {
        if pipe == nil { pipe = KernelPipe() }
        guard let writeEnd = pipe?.writeEnd else { return canSplice = false }
        let moved = CLarderLinux.splice(
            source, nil, writeEnd, nil, KernelPipe.capacity, larder_splice_move | larder_splice_nonblock)
        if moved == 0 { return end() }
        if moved < 0 { return stopped(.waitsForSource) }
        count += UInt64(moved)
        inPipe = moved
    }

    private func drainPipe() {
        guard let readEnd = pipe?.readEnd else { return state = .failed }
        let moved = CLarderLinux.splice(readEnd, nil, sink, nil, inPipe, larder_splice_move | larder_splice_nonblock)
        if moved < 0 { return stopped(.waitsForSink) }
        inPipe -= moved
    }

    /// Called when the source has ended, and the sink has received everything.
    private func end() {
        state = .ended
        pipe = nil
        _ = shutdown(sink, Int32(SHUT_WR))
    }

    private func stopped(_ next: TunnelDirectionState) {
        if errno == EINTR { return }
        state = errno == EAGAIN ? next : .failed
    }
}
