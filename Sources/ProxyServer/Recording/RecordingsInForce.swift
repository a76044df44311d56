/// What requests under one version of the settings have to do with recordings: from what they are answered, and what they become part of.
///
/// A request keeps those with which it has begun: a switch of the mode in its midst neither takes its answer away nor leaves it
/// unrecorded. Whoever finishes the file waits for as long as there is one of these.
final class RecordingsInForce: Sendable {
    /// `nil` where nothing is replayed.
    let layers: RecordingLayers?
    /// `nil` where nothing is recorded.
    let file: RecordingFile?

    /// - Returns: `nil` where these settings neither replay nor record.
    init?(_ settings: ServerSettings) {
        if settings.layers == nil, settings.recording == nil { return nil }
        layers = settings.layers
        file = settings.recording
        file?.beginUse()
    }

    deinit { file?.endUse() }
}
