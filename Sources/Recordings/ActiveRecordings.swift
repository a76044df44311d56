/// What requests under one version of the settings have to do with recordings: from what they are answered, and what they become part of.
///
/// A request keeps those with which it has begun: a switch of the mode in its midst neither takes its answer away nor leaves it
/// unrecorded. Whoever finishes the file waits for as long as there is one of these.
package final class ActiveRecordings: Sendable {
    /// `nil` where nothing is replayed.
    package let layers: ReplaySources?
    /// `nil` where nothing is recorded.
    package let file: RecordingFile?

    /// - Returns: `nil` where nothing is replayed and nothing is recorded.
    package init?(layers: ReplaySources?, file: RecordingFile?) {
        if layers == nil, file == nil { return nil }
        self.layers = layers
        self.file = file
        file?.beginUse()
    }

    deinit { file?.endUse() }
}
