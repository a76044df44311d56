import HTTPMessage
import SecretScanning
import ServerTrust

/// A recording that a request nearly matched.
package struct NearMiss: Sendable {
    package let place: Int
    package let method: [UInt8]
    package let uri: [UInt8]
    package let generation: UInt32
    package let differences: [RequestDifference]
    /// The canonicaliser that makes the request equal to the recording. `nil` if there is none, or if the only one changes the path and
    /// would also make recordings equal to each other.
    package let canonicaliser: Canonicaliser?
    /// The number of different recordings that this canonicaliser makes, or would make, equal to each other.
    package let equalled: Int
}

/// Finds the recordings that are most similar to a request for which replay has no recording. Confined to its snapshot's thread.
package final class NearMissSearch {
    /// How many near misses are reported.
    package static let count = 5
    /// How many of the most similar targets are compared in detail.
    static let candidateCount = 24
    /// The number of recordings for which Larder checks whether a canonicaliser makes them equal.
    static let comparisonLimit = 4096
    /// The maximum length of a recorded body that is compared in detail, in bytes.
    static let bodyLimit = 1 << 20

    private let snapshot: Snapshot
    private let matcher: RequestMatcher
    private let key: ProjectKey?
    private let targets: TargetTable

    /// - Parameter key: the project key, if replay uses one.
    package init(_ snapshot: Snapshot, key: ProjectKey?) throws(SnapshotError) {
        self.snapshot = snapshot
        self.key = key
        matcher = try RequestMatcher(snapshot.manifest.terms)
        targets = try TargetTable(snapshot)
    }

    /// The most similar recordings; the recordings with the fewest differences come first.
    package func nearest(to request: RequestToMatch) throws(SnapshotError) -> [NearMiss] {
        let offered = CanonicalRequest(request, matcher)
        var found: [NearMiss] = []
        for place in targets.nearest(to: request.method, request.uri, count: Self.candidateCount) {
            let recording = try snapshot.recording(at: place)
            let recorded = try self.request(of: recording)
            let canonical = CanonicalRequest(recorded, matcher)
            let names = recording.response.map { canonical.nominatedNames(by: $0.fields) } ?? []
            var comparison = RequestComparison(recorded: canonical, offered: offered, nominated: names)
            if comparison.differences.isEmpty, let secrets = offered.secretsDigest(under: key),
                secrets != recording.identity.secrets
            {
                comparison.note(RequestDifference(.secret, recorded: nil, offered: nil))
            }
            found.append(
                NearMiss(
                    place: place, method: recording.request.method, uri: recording.request.uri, generation: recording.generation,
                    differences: comparison.differences, canonicaliser: nil, equalled: 0))
        }
        // `sorted` is not guaranteed to be stable. Recordings with equally many differences stay in the order of their targets'
        // distances.
        let ranked = found.enumerated().sorted { left, right in
            left.element.weight == right.element.weight
                ? left.offset < right.offset : left.element.weight < right.element.weight
        }
        var nearest: [NearMiss] = []
        for (_, miss) in ranked.prefix(Self.count) { nearest.append(try proposing(miss, to: request)) }
        return nearest
    }

    private func proposing(_ miss: NearMiss, to request: RequestToMatch) throws(SnapshotError) -> NearMiss {
        let recording = try snapshot.recording(at: miss.place)
        let proposal = CanonicaliserProposal(for: miss.differences, recorded: miss.uri, offered: request.uri)
        guard let canonicaliser = proposal.canonicaliser else { return miss }
        // A canonicaliser is proposed only if it makes the request equal to the recorded one.
        var terms = matcher.terms
        terms.canonicalisers.append(canonicaliser)
        guard let proposed = try? RequestMatcher(terms) else { return miss }
        let old = CanonicalRequest(try self.request(of: recording), proposed)
        let new = CanonicalRequest(request, proposed)
        let fields = recording.response?.fields
        guard old.key(nominatedBy: fields) == new.key(nominatedBy: fields) else { return miss }
        let equalled = try recordingsMadeEqual(by: canonicaliser, under: proposed)
        return NearMiss(
            place: miss.place, method: miss.method, uri: miss.uri, generation: miss.generation, differences: miss.differences,
            canonicaliser: proposal.changesPath && equalled > 0 ? nil : canonicaliser, equalled: equalled)
    }

    /// The number of recordings that are different now, but would be equal with the proposed canonicaliser.
    private func recordingsMadeEqual(
        by canonicaliser: Canonicaliser, under proposed: RequestMatcher
    ) throws(SnapshotError) -> Int {
        let rule = try CanonicalRule(canonicaliser)
        var keys: [SHA256Digest: Set<SHA256Digest>] = [:]
        for place in targets.places(where: rule.concerns).prefix(Self.comparisonLimit) {
            let recording = try snapshot.recording(at: place)
            let canonical = CanonicalRequest(try request(of: recording), proposed)
            keys[canonical.key(nominatedBy: recording.response?.fields), default: []].insert(recording.identity.key)
        }
        return keys.values.reduce(0) { $0 + ($1.count > 1 ? $1.count : 0) }
    }

    private func request(of recording: Recording) throws(SnapshotError) -> RequestToMatch {
        try snapshot.request(of: recording, bodyLimit: Self.bodyLimit)
    }
}

extension NearMiss {
    /// The distance between a request and a recording. A different method or origin adds more to the distance than a different field.
    fileprivate var weight: Int {
        differences.reduce(0) { weight, difference in
            switch difference.place {
            case .origin: weight + 64
            case .path: weight + 16
            case .method: weight + 8
            case .body: weight + 4
            default: weight + 1
            }
        }
    }
}

extension Snapshot {
    /// The request of a recording, in the form in which match rules read it.
    /// - Parameter bodyLimit: a longer body is represented by its digest, to which match rules are not applied.
    package func request(
        of recording: Recording, bodyLimit: Int = SnapshotLimits.requestBodyLength
    ) throws(SnapshotError) -> RequestToMatch {
        var body = RequestToMatch.Body.none
        if let recorded = recording.request.body {
            body =
                recorded.isKept && recorded.length <= UInt64(bodyLimit)
                ? .octets(try octets(of: recorded)) : .digest(recorded.digest, length: recorded.length)
        }
        return RequestToMatch(
            method: recording.request.method, uri: recording.request.uri, fields: recording.request.fields, body: body)
    }
}
