import EventLoop
import ResponseStore
import Snapshots

/// A recorded body that is delivered piece by piece.
struct RecordedBodyPlace {
    let layers: RecordingLayers
    let layer: Int
    /// `nil` where nothing had come when it broke off.
    let body: RecordedBody?

    func read(at offset: UInt64, reply: Reply<BodyReadResult>) {
        guard let body else { return reply.send(.failed) }
        layers.read(body, ofLayer: layer, at: offset, reply: reply)
    }
}
