import CLinux
import Glibc

/// One direction of a tunnel: from one descriptor to another, ending when the source ends.
///
/// The first bytes are copied through the loop's buffer, which is cheaper than two descriptors for a tunnel that carries only a
/// handshake; what goes beyond is spliced through a pipe.
///
/// States and moves: `waitsForSource` ⇄ `waitsForSink`, both ⇄ `hasMore` (its turn was over before its bytes), and from each to
/// `ended` or `failed`. Events are edge-triggered, so a wait begins only where the kernel has said that there is nothing more.
struct TunnelDirection: ~Copyable {
    enum State { case waitsForSource, waitsForSink, hasMore, ended, failed }

    let source: Int32
    let sink: Int32
    private(set) var state = State.hasMore
    private(set) var count: UInt64 = 0
    private var held: [UInt8]
    private var heldOffset = 0
    private var pipe: Pipe?
    private var inPipe = 0
    /// Until a pipe could not be had.
    private var canSplice = true
    /// The source is known to send no more than what the kernel holds of it: it is read until its end is seen.
    private var isSourceEnding = false

    /// From this many bytes on, bytes are spliced.
    private static let copiedCount: UInt64 = 64 * 1024
    /// How many times bytes are moved in one turn, so that one fast tunnel does not hold the loop.
    private static let movesPerTurn = 16

    /// - Parameters:
    ///   - unsent: goes out first and is not counted.
    ///   - received: of the source, which somebody else has read: what goes out behind that.
    init(from source: Int32, to sink: Int32, unsent: [UInt8] = [], received: [UInt8] = []) {
        self.source = source
        self.sink = sink
        held = unsent + received
        count = UInt64(received.count)
        if held.isEmpty { state = .waitsForSource }
    }

    mutating func sourceReady(isEnding: Bool, through buffer: UnsafeMutableRawBufferPointer) {
        if isEnding { isSourceEnding = true }
        if state == .waitsForSource { move(through: buffer) }
    }

    /// Has `octets` go out next, of what the source sent and somebody else has read.
    /// - Parameter isEnding: the source is known to send no more than what the kernel holds of it.
    mutating func resume(with octets: [UInt8], isEnding: Bool) {
        assert(state == .waitsForSource && heldOffset == held.count, "nothing has moved yet")
        held = octets
        heldOffset = 0
        count += UInt64(octets.count)
        if isEnding { isSourceEnding = true }
        state = .hasMore
    }

    /// The sink has got everything that was there for it.
    var isEmptied: Bool { heldOffset == held.count && inPipe == 0 }

    mutating func sinkReady(through buffer: UnsafeMutableRawBufferPointer) {
        if state == .waitsForSink { move(through: buffer) }
    }

    /// Moves bytes until one side would block, the source has ended and everything has been written, or the turn is over.
    mutating func move(through buffer: UnsafeMutableRawBufferPointer) {
        if state == .ended { return }
        state = .hasMore
        var left = Self.movesPerTurn
        while state == .hasMore, left > 0 {
            left -= 1
            if heldOffset < held.count {
                writeHeld()
            } else if inPipe > 0 {
                drainPipe()
            } else if count < Self.copiedCount || !canSplice {
                copy(through: buffer)
            } else {
                fillPipe()
            }
        }
    }

    private mutating func copy(through buffer: UnsafeMutableRawBufferPointer) {
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
        // Less than the buffer holds was all there is, and what comes after it is an event of its own; only an end that came
        // with these bytes is not.
        if received < buffer.count, !isSourceEnding { state = .waitsForSource }
    }

    private mutating func writeHeld() {
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

    private mutating func fillPipe() {
        if pipe == nil { pipe = Pipe() }
        guard let writeEnd = pipe?.writeEnd else { return canSplice = false }
        let moved = CLinux.splice(source, nil, writeEnd, nil, Pipe.capacity, larder_splice_move | larder_splice_nonblock)
        if moved == 0 { return end() }
        if moved < 0 { return stopped(.waitsForSource) }
        count += UInt64(moved)
        inPipe = moved
    }

    private mutating func drainPipe() {
        guard let readEnd = pipe?.readEnd else { return state = .failed }
        let moved = CLinux.splice(readEnd, nil, sink, nil, inPipe, larder_splice_move | larder_splice_nonblock)
        if moved < 0 { return stopped(.waitsForSink) }
        inPipe -= moved
    }

    /// The source will send no more, and the sink has everything.
    private mutating func end() {
        state = .ended
        pipe = nil
    }

    private mutating func stopped(_ next: State) {
        if errno == EINTR { return }
        state = errno == EAGAIN ? next : .failed
    }
}
