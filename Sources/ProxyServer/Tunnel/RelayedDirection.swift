/// A direction of a tunnel in which TLS ends here on at least one side. Bytes that the sink has not accepted wait there, and nothing more
/// is read until they are written.
final class RelayedDirection: TunnelDirection {
    private let source: any RelayEnd
    private let sink: any RelayEnd
    private(set) var state: TunnelDirectionState
    private(set) var count: UInt64 = 0
    private var hasSourceEnded = false
    /// Whether reading from the source must still wait for `releaseSource`.
    private var holdsSource: Bool

    /// The maximum number of moves in one turn, so that one relay does not block the loop. For 32 KiB of records that contain only key
    /// updates, TLS needs tens of milliseconds.
    private static let movesPerTurn = 2

    /// - Parameters:
    ///   - received: bytes of the source that were already read.
    ///   - isHeld: whether nothing is read before `resume`.
    ///   - holdsSource: whether nothing is read from the source before `releaseSource`; waiting bytes are written to the sink even so.
    init(
        from source: any RelayEnd, to sink: any RelayEnd, received: [UInt8], isHeld: Bool = false, holdsSource: Bool = false
    ) {
        self.holdsSource = holdsSource
        self.source = source
        self.sink = sink
        state = isHeld ? .waitsForSource : .hasMore
        count = UInt64(received.count)
        if !received.isEmpty { sink.send(received.span) }
    }

    func releaseSource() {
        holdsSource = false
        if state == .waitsForSource { state = .hasMore }
    }

    var isEmptied: Bool { sink.isEmptied }

    /// Called when the source is ready. The source is read until its end is seen, regardless of `isEnding`.
    func sourceReady(isEnding: Bool, through buffer: UnsafeMutableRawBufferPointer) {
        if state == .waitsForSource { move(through: buffer) }
    }

    func sinkReady(through buffer: UnsafeMutableRawBufferPointer) {
        if state == .waitsForSink { move(through: buffer) }
    }

    func resume(with octets: [UInt8], isEnding: Bool) {
        count += UInt64(octets.count)
        if !octets.isEmpty { sink.send(octets.span) }
        state = .hasMore
    }

    func move(through buffer: UnsafeMutableRawBufferPointer) {
        if state == .ended { return }
        state = .hasMore
        var left = Self.movesPerTurn
        while state == .hasMore, left > 0 {
            left -= 1
            step(through: buffer)
        }
    }

    private func step(through buffer: UnsafeMutableRawBufferPointer) {
        switch sink.flush() {
        case .failed: return state = .failed
        case .blocked, .yielded: return state = .waitsForSink
        case .drained: break
        }
        if hasSourceEnded { return endSink() }
        if holdsSource { return state = .waitsForSource }
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

    private func endSink() {
        switch sink.endSending() {
        case .drained: state = .ended
        case .blocked, .yielded: state = .waitsForSink
        case .failed: state = .failed
        }
    }
}
