/// The recordings that requests under one version of the settings use: the sources that answer them, and the file that records them.
///
/// A request keeps the recordings with which it began: if the mode changes meanwhile, the request is still answered and recorded. The file
/// is finished only when no request uses it.
package final class ActiveRecordings: Sendable {
    /// The sources of replay; `nil` if nothing is replayed.
    package let layers: ReplaySources?
    /// The file that exchanges are recorded into; `nil` if nothing is recorded.
    package let file: RecordingFile?

    /// - Returns: `nil` if nothing is replayed and nothing is recorded.
    package init?(layers: ReplaySources?, file: RecordingFile?) {
        if layers == nil, file == nil { return nil }
        self.layers = layers
        self.file = file
        file?.beginUse()
    }

    deinit { file?.endUse() }
}
