/// The streams that this side has reset a short time ago. The peer may still send frames on them, because it has not received the reset (RFC
/// 9113 §5.1). On other closed streams, the peer itself has ended or reset the stream, and may send only WINDOW_UPDATE, RST_STREAM and
/// PRIORITY.
struct ClosedStreams {
    enum Closing {
        /// This side has reset the stream, or may have.
        case bySelf
        /// The peer itself has ended or reset the stream.
        case byPeer
    }

    /// The last streams that were reset, in the order of the resets.
    private var recent: [HTTP2StreamID] = []
    private var next = 0
    /// The highest stream that is no longer in `recent`. A stream up to this one may have been reset by this side.
    private var forgotten: HTTP2StreamID = 0

    /// The number of remembered streams.
    static let limit = 128

    mutating func noteReset(_ stream: HTTP2StreamID) {
        if recent.count < Self.limit { return recent.append(stream) }
        forgotten = max(forgotten, recent[next])
        recent[next] = stream
        next = (next + 1) % Self.limit
    }

    /// Whether this side may have reset the stream.
    func mayBeReset(_ stream: HTTP2StreamID) -> Bool { stream <= forgotten || recent.contains(stream) }

    /// Releases the storage of a connection without streams.
    mutating func trim() {
        guard let last = recent.max() else { return }
        forgotten = max(forgotten, last)
        recent = []
        next = 0
    }
}
