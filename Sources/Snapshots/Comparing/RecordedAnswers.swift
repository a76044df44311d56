import HTTPMessage
import SecretScanning
import ServerTrust

/// Recordings against which new responses are compared. The recordings are looked up as in replay, so canonicalisers, Vary, secrets and
/// sequences have the same effect here. Confined to one thread.
package final class RecordedAnswers {
    private let layers: [SnapshotLayer]
    private var cursors = SequenceCursors()
    /// Whether any secret equals any other secret, because secrets cannot be compared without the project key.
    private let ignoresSecrets: Bool

    /// - Parameters:
    ///   - paths: finished snapshots, in order of precedence.
    ///   - key: the project key.
    package init(_ paths: [String], key: ProjectKey?, asOf: AsOf = .newest) throws(SnapshotError) {
        var layers: [SnapshotLayer] = []
        for (number, path) in paths.enumerated() {
            layers.append(try SnapshotLayer(Snapshot(path: path), number: number, key: key, asOf: asOf, end: .last))
        }
        self.layers = layers
        ignoresSecrets = key == nil
    }

    /// The match terms of the first snapshot.
    package var terms: MatchTerms { layers.first?.snapshot.manifest.terms ?? MatchTerms() }

    /// The recording that matches a request, and the snapshot that has it.
    struct Answer {
        let found: FoundRecording
        fileprivate let layer: SnapshotLayer

        /// Whether the request has several recorded responses. A comparison with one of them cannot show that nothing changed.
        var isOfSequence: Bool { found.sequenceLength > 1 }
    }

    /// - Returns: `nil` if no snapshot has a recording for the request.
    func answer(to request: RequestToMatch) throws(SnapshotError) -> Answer? {
        for layer in layers {
            if case .found(let found) = try layer.find(request, &cursors) { return Answer(found: found, layer: layer) }
        }
        return nil
    }

    /// Compares a new response with a recorded one.
    /// - Parameter body: the new response's content with its secrets replaced; `nil` if the content was too long to be held.
    func difference(of new: Recording, body: [UInt8]?, from old: Answer) throws(SnapshotError) -> AnswerDifference {
        let recorded = old.found.recording
        var difference = AnswerDifference(from: recorded, to: new)
        guard ignoresSecrets, recorded.isRedacted || new.isRedacted, !difference.aspects.isEmpty else { return difference }
        difference.fieldNames.removeAll { Self.namesOfContent.contains($0) || Self.isSame($0, recorded, new) }
        if difference.fieldNames.isEmpty { difference.aspects.remove(.fields) }
        if difference.aspects.contains(.body), let body, let formerly = recorded.response?.body,
            formerly.length <= UInt64(SnapshotLimits.requestBodyLength),
            Self.marked(try old.layer.snapshot.octets(of: formerly), recorded.response)
                == Self.marked(body, new.response)
        {
            difference.aspects.remove(.body)
        }
        return difference
    }

    /// Fields that describe the content. Their values change if the content contains placeholders.
    private static let namesOfContent: Set<String> = [
        "content-length", "etag", "content-digest", "repr-digest", "digest", "content-md5",
    ]

    private static func isSame(_ name: String, _ old: Recording, _ new: Recording) -> Bool {
        AnswerDifference.parts(old, new).allSatisfy { before, after in
            let values = [before, after].map { $0.value(ofAllLinesNamed: Array(name.utf8)).map { marked($0) } }
            return values[0] == values[1]
        }
    }

    private static func marked(_ text: [UInt8], _ response: RecordedResponse? = nil) -> [UInt8] {
        let kind = response.map { MediaKind(of: $0.fields) } ?? .other
        return text.replacing(SecretFinder.undeclared.secrets(inBody: text, kind)) { _, _ in SecretMark.canonical }
    }
}
