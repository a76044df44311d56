import EventLoop
import ResponseStore
import Snapshots

/// The location of a recorded body that is delivered piece by piece.
package struct RecordedBodyPlace {
    package let layers: ReplaySources
    package let layer: Int
    /// The body; `nil` if the recorded response failed before any content.
    package let body: RecordedBody?

    package init(layers: ReplaySources, layer: Int, body: RecordedBody?) {
        self.layers = layers
        self.layer = layer
        self.body = body
    }

    package func read(at offset: UInt64, reply: Reply<BodyReadResult>) {
        guard let body else { return reply.send(.failed) }
        layers.read(body, ofLayer: layer, at: offset, reply: reply)
    }
}
