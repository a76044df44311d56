import HTTPMessage
import SecretScanning
import ServerTrust

/// What was recorded, to be compared with what comes now: asked as it is replayed, so that canonicalisers, Vary, secrets and sequences count alike.
/// Confined to its thread.
package final class RecordedAnswers {
    private let layers: [SnapshotLayer]
    private var cursors = SequenceCursors()
    /// Without the project's key a secret is as good as another.
    private let ignoresSecrets: Bool

    /// - Parameters:
    ///   - paths: finished snapshots, the first asked first.
    ///   - key: the project's.
    package init(_ paths: [String], key: ProjectKey?, asOf: AsOf = .newest) throws(SnapshotError) {
        var layers: [SnapshotLayer] = []
        for (number, path) in paths.enumerated() {
            layers.append(try SnapshotLayer(Snapshot(path: path), number: number, key: key, asOf: asOf, end: .last))
        }
        self.layers = layers
        ignoresSecrets = key == nil
    }

    /// By what the first of them tells requests apart.
    package var terms: MatchTerms { layers.first?.snapshot.manifest.terms ?? MatchTerms() }

    /// What was recorded for a request, and where.
    struct Answer {
        let found: FoundRecording
        fileprivate let layer: SnapshotLayer

        /// Of several answers to one request: what any of them is says nothing without the others.
        var isOfSequence: Bool { found.sequenceLength > 1 }
    }

    /// - Returns: `nil` where nothing was recorded for it.
    func answer(to request: RequestToMatch) throws(SnapshotError) -> Answer? {
        for layer in layers {
            if case .found(let found) = try layer.find(request, &cursors) { return Answer(found: found, layer: layer) }
        }
        return nil
    }

    /// In what a new answer differs.
    /// - Parameter body: its content, without secrets; `nil` where it is too long to be held.
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

    /// Fields that say something of content in which placeholders stand.
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
