/// One direction of a tunnel: from one side to the other, which is told when the source has ended.
///
/// States and moves: `waitsForSource` ⇄ `waitsForSink`, both ⇄ `hasMore` (its turn was over before its bytes), and from each to
/// `ended` or `failed`. Events are edge-triggered, so a wait begins only where there is certainly nothing more.
protocol TunnelDirection: AnyObject {
    var state: TunnelDirectionState { get }
    /// Bytes of the source.
    var count: UInt64 { get }
    /// The sink has got everything that was there for it.
    var isEmptied: Bool { get }
    /// - Parameter isEnding: the source is known to send no more than what the kernel holds of it.
    func sourceReady(isEnding: Bool, through buffer: UnsafeMutableRawBufferPointer)
    func sinkReady(through buffer: UnsafeMutableRawBufferPointer)
    /// Moves bytes until one side would block, the source has ended and everything has been written, or the turn is over.
    func move(through buffer: UnsafeMutableRawBufferPointer)
    /// Has `octets` go out next, of what the source sent and somebody else has read. Nothing has moved before.
    func resume(with octets: [UInt8], isEnding: Bool)
}

enum TunnelDirectionState { case waitsForSource, waitsForSink, hasMore, ended, failed }
