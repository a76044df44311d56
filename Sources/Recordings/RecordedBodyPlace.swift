import EventLoop
import ResponseStore
import Snapshots

/// A recorded body that is delivered piece by piece.
package struct RecordedBodyPlace {
    package let layers: ReplaySources
    package let layer: Int
    /// `nil` where nothing had come when it broke off.
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
