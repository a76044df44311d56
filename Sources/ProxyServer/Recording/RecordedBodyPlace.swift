import EventLoop
import ResponseStore
import Snapshots

/// A recorded body that is delivered piece by piece.
struct RecordedBodyPlace {
    let layers: RecordingLayers
    let layer: Int
    let body: RecordedBody

    func read(at offset: UInt64, reply: Reply<BodyReadResult>) { layers.read(body, ofLayer: layer, at: offset, reply: reply) }
}
