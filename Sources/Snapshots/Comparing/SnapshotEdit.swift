import HTTPMessage
import HTTPSerialization
import SecretScanning
import ServerTrust

extension SnapshotMaintenance {
    /// The result of applying match rules to a snapshot.
    package struct Rematched: Equatable, Sendable {
        package var recordings = 0
        /// The number of recordings whose identity changed, so that replay delivers them for different requests than before.
        package var changed = 0
        /// The number of recordings in which further secrets were replaced by placeholders.
        package var redacted = 0
    }

    /// Applies match rules to an existing snapshot and computes the keys of its recordings again. Values that the rules declare as
    /// secrets are replaced by placeholders; nothing else changes.
    /// - Parameters:
    ///   - key: the project key; needed if the rules declare secrets that the snapshot stores in clear text.
    ///   - target: the path of the new file; it may be the path of the source.
    /// - Throws: `holdsSecrets` if there are secrets to replace and no key.
    package static func rematch(
        _ source: Snapshot, by terms: MatchTerms, to target: String, key: ProjectKey?, signing signature: SigningKey? = nil
    ) throws(SnapshotError) -> Rematched {
        var manifest = source.manifest
        manifest.terms = terms
        var result = Rematched()
        _ = try make(target, manifest, signing: signature) { (writer) throws(SnapshotError) in
            let recorder = try SnapshotRecorder(writer, key: key ?? .make())
            let copy = try SnapshotCopy(from: source, to: writer)
            func redacted(_ recording: Recording) throws(SnapshotError) -> Recording {
                guard let redacted = try recorder.redacted(recording) else { return recording }
                guard key != nil else {
                    throw .holdsSecrets(
                        "\(SnapshotRecorder.shown(recording.request.uri)); give --key, so that Larder replaces the secrets")
                }
                result.redacted += 1
                return redacted
            }
            result.recordings = try copy.run(
                inOrderOfTime: true, changing: redacted,
                noting: { old, new in if old.identity != new.identity { result.changed += 1 } })
            try recorder.redactEarlier(inAllGenerations: true)
        }
        return result
    }

    /// The result of replacing bodies.
    package struct Edited: Equatable, Sendable {
        /// The number of bodies that were replaced.
        package var bodies = 0
        package var recordings = 0
    }

    /// Replaces bodies in every request and response that has them. Computes lengths, digests and entity tags again. Content-Encoding
    /// does not change, so a new body must have the content coding of the old body.
    /// - Parameters:
    ///   - bodies: the new bodies, by the digests of the old ones.
    ///   - isHarmless: whether suspected secrets in the new bodies are accepted.
    /// - Throws: `noBody` for a digest that no recording has; `malformed` for a new body that does not have this content coding;
    ///   `holdsSecrets` for a
    ///   new body with suspected secrets.
    package static func edit(
        _ source: Snapshot, _ bodies: [SHA256Digest: [UInt8]], isHarmless: Bool = false, signing signature: SigningKey? = nil
    ) throws(SnapshotError) -> Edited {
        let finder = try onSecretScanning { () throws(SecretScanningError) in try SecretFinder(source.manifest.terms.secrets) }
        var found: Set<SHA256Digest> = []
        var result = Edited()
        _ = try make(source.path, source.manifest, signing: signature) { (writer) throws(SnapshotError) in
            let copy = try SnapshotCopy(from: source, to: writer)
            func change(_ recording: Recording) throws(SnapshotError) -> Recording {
                var changed = recording
                var isChanged = false
                func edited(_ body: RecordedBody?, _ fields: inout Fields, _ trailers: inout Fields) throws(SnapshotError)
                    -> RecordedBody?
                {
                    guard let body, let octets = bodies[body.digest] else { return body }
                    found.insert(body.digest)
                    guard let text = DecodedBody.decoded(octets, describedBy: fields, lengthLimit: SnapshotLimits.bodyLength)
                    else {
                        throw .malformed(
                            "the new body of \(SnapshotRecorder.shown(recording.request.uri)) is not encoded as its Content-Encoding field says"
                        )
                    }
                    let search = finder.search(inBody: text, MediaKind(of: fields))
                    if !isHarmless, !search.isWhole || search.secrets.contains(where: { !$0.isPlaceholder }) {
                        throw .holdsSecrets("the new body of \(SnapshotRecorder.shown(recording.request.uri))")
                    }
                    isChanged = true
                    Redactor.describe(octets, in: &fields, keepingCoding: true)
                    Redactor.describe(octets, in: &trailers, keepingCoding: true)
                    return try writer.body(octets)
                }
                // The trailers of requests are not recorded.
                var none = Fields()
                changed.request.body = try edited(recording.request.body, &changed.request.fields, &none)
                if var response = recording.response {
                    response.body = try edited(recording.response?.body, &response.fields, &response.trailers)
                    changed.response = response
                }
                if isChanged { result.recordings += 1 }
                return changed
            }
            _ = try copy.run(changing: change)
            for digest in bodies.keys where !found.contains(digest) {
                throw .noBody(Hexadecimal.encode(digest.octets))
            }
        }
        result.bodies = found.count
        return result
    }
}
