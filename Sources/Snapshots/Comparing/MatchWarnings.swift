import HTTPMessage
import ServerTrust

/// Different requests that are equal only because of match rules, and whose responses have different bodies. Replay may deliver the
/// response of one of these requests to another.
package struct MatchWarning: Equatable, Sendable {
    /// The method of the requests, and the URIs of two of them.
    package let method: String
    package let uris: [String]
    /// The number of different requests.
    package let requests: Int

    package var text: String {
        "under the match rules, \(requests) requests are equal, but their responses have different bodies: \(method) \(uris.joined(separator: " and "))"
    }
}

extension Snapshot {
    /// Finds requests that are equal only because of match rules, and whose responses have different bodies.
    /// - Parameter limit: the search stops after this many warnings.
    package func matchWarnings(limit: Int = 10) throws(SnapshotError) -> [MatchWarning] {
        guard !manifest.terms.canonicalisers.isEmpty else { return [] }
        var plain = manifest.terms
        plain.canonicalisers = []
        let matcher = try RequestMatcher(plain)
        var groups: [Group: [Answer]] = [:]
        for place in 0..<count {
            let recording = try recording(at: place)
            let key = Group(key: recording.identity.key, generation: recording.generation)
            let request = CanonicalRequest(try request(of: recording), matcher).primary
            let answer = Answer(place: place, request: request, body: recording.response?.body?.digest)
            // Each request is added once: several responses to the same request are a sequence, and need no warning.
            if !groups[key, default: []].contains(where: { $0.request == request }) { groups[key, default: []].append(answer) }
        }
        var warnings: [MatchWarning] = []
        for answers in groups.values.sorted(by: { $0[0].place < $1[0].place }) where warnings.count < limit {
            guard let other = answers.first(where: { $0.body != answers[0].body }) else { continue }
            let recordings = [try recording(at: answers[0].place), try recording(at: other.place)]
            var uris: [String] = []
            for recording in recordings {
                let uri = String(decoding: recording.request.uri, as: UTF8.self)
                if !uris.contains(uri) { uris.append(uri) }
            }
            warnings.append(
                MatchWarning(
                    method: String(decoding: recordings[0].request.method, as: UTF8.self), uris: uris, requests: answers.count))
        }
        return warnings
    }

    private struct Group: Hashable {
        let key: SHA256Digest
        let generation: UInt32
    }

    private struct Answer {
        let place: Int
        let request: PrimaryKey
        let body: SHA256Digest?
    }
}
