/// The recordings that requests under one version of the settings use: the sources that answer them, and the file that records them.
///
/// A request keeps those with which it began: if the mode changes meanwhile, it is still answered and recorded. The file is
/// finished only when no request uses it.
package final class ActiveRecordings: Sendable {
    /// `nil` if nothing is replayed.
    package let layers: ReplaySources?
    /// `nil` if nothing is recorded.
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
