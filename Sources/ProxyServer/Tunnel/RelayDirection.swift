/// One direction of a relay: from one end to the other, which is told when the source has ended.
///
/// States and moves as of `TunnelDirection`: `waitsForSource` ⇄ `waitsForSink`, both ⇄ `hasMore` (its turn was over before its bytes), and
/// from each to `ended` or `failed`. What was read and not taken waits at the sink, and nothing more is read until it has left.
struct RelayDirection {
    enum State { case waitsForSource, waitsForSink, hasMore, ended, failed }

    private let source: any RelayEnd
    private let sink: any RelayEnd
    private(set) var state = State.hasMore
    private(set) var count: UInt64 = 0
    private var hasSourceEnded = false

    /// How many times bytes are moved in one turn, so that one relay does not hold the loop: 32 KiB of records that hold nothing but new
    /// keys take TLS tens of milliseconds.
    private static let movesPerTurn = 2

    /// - Parameter received: what somebody else has read of the source.
    init(from source: any RelayEnd, to sink: any RelayEnd, received: [UInt8]) {
        self.source = source
        self.sink = sink
        count = UInt64(received.count)
        if !received.isEmpty { sink.send(received.span) }
    }

    mutating func sourceReady(through buffer: UnsafeMutableRawBufferPointer) {
        if state == .waitsForSource { move(through: buffer) }
    }

    mutating func sinkReady(through buffer: UnsafeMutableRawBufferPointer) {
        if state == .waitsForSink { move(through: buffer) }
    }

    /// Moves bytes until one side would block, the source has ended and all has left, or the turn is over.
    mutating func move(through buffer: UnsafeMutableRawBufferPointer) {
        if state == .ended { return }
        state = .hasMore
        var left = Self.movesPerTurn
        while state == .hasMore, left > 0 {
            left -= 1
            step(through: buffer)
        }
    }

    private mutating func step(through buffer: UnsafeMutableRawBufferPointer) {
        switch sink.flush() {
        case .failed: return state = .failed
        case .blocked, .yielded: return state = .waitsForSink
        case .drained: break
        }
        if hasSourceEnded { return endSink() }
        switch source.receive(into: buffer) {
        case .octets(let count):
            self.count += UInt64(count)
            UnsafeRawBufferPointer(rebasing: buffer[..<count]).withMemoryRebound(to: UInt8.self) { sink.send($0.span) }
        case .wouldBlock: state = .waitsForSource
        case .ended: hasSourceEnded = true
        case .failed: state = .failed
        case nil: break
        }
    }

    private mutating func endSink() {
        switch sink.endSending() {
        case .drained: state = .ended
        case .blocked, .yielded: state = .waitsForSink
        case .failed: state = .failed
        }
    }
}
