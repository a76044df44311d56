/// One direction of a tunnel: from a source to a sink, which is notified when the source has ended.
///
/// States and moves: `waitsForSource` ⇄ `waitsForSink`, both ⇄ `hasMore` (the turn ended before all bytes were moved), and from each to
/// `ended` or `failed`. Events are edge-triggered, so a direction waits only when there are certainly no more bytes.
protocol TunnelDirection: AnyObject {
    var state: TunnelDirectionState { get }
    /// The number of bytes received from the source so far.
    var count: UInt64 { get }
    /// Whether the sink has received all bytes so far.
    var isEmptied: Bool { get }
    /// - Parameter isEnding: whether the source sends no more than the kernel already holds.
    func sourceReady(isEnding: Bool, through buffer: UnsafeMutableRawBufferPointer)
    /// Reads the source from now on, if the direction was created with `holdsSource`.
    func releaseSource()
    func sinkReady(through buffer: UnsafeMutableRawBufferPointer)
    /// Moves bytes until one side would block, the source has ended and everything is written, or the turn ends.
    func move(through buffer: UnsafeMutableRawBufferPointer)
    /// Sends `octets` next: bytes of the source that were already read. Called before the direction has moved any bytes.
    func resume(with octets: [UInt8], isEnding: Bool)
}

enum TunnelDirectionState { case waitsForSource, waitsForSink, hasMore, ended, failed }
