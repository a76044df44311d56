/// The frames of a peer, found in its bytes.
package struct FrameReader {
    /// All frames that were taken.
    package private(set) var frames: [Frame] = []
    package private(set) var hasEnded = false
    private var bytes: [UInt8] = []
    /// Bytes before the first frame that are not read yet.
    private var prefaceCount: Int

    /// - Parameter isServer: whether the peer is a client, whose preface precedes its frames.
    package init(isServer: Bool) { prefaceCount = isServer ? Frame.preface.count : 0 }

    /// - Parameter more: the next bytes; `nil` at the end of the connection.
    package mutating func append(_ more: [UInt8]?) {
        guard let more else {
            hasEnded = true
            return
        }
        bytes += more
        let skipped = min(prefaceCount, bytes.count)
        prefaceCount -= skipped
        bytes.removeFirst(skipped)
    }

    /// Takes frames up to one that fits; `nil` if it has not arrived.
    package mutating func take(until fits: (Frame) -> Bool) -> Frame? {
        while let frame = Frame.takeFirst(of: &bytes) {
            frames.append(frame)
            if fits(frame) { return frame }
        }
        return nil
    }
}
